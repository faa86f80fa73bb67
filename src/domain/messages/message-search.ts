import { type Fault, fault } from '../../errors.ts'
import { DAY_MS } from '../durations.ts'
import { CLOCK_SKEW_MS } from '../instants.ts'
import {
  type FilterRules,
  MESSAGE_FILTERS,
  type MessageFilters,
  matching,
  parseWindowed,
} from '../list-filters.ts'

/** What an operator looks for, over all plans; canonical: null is not filtered. */
export interface SearchFilters extends MessageFilters {
  readonly errorCode: string | null
  /** As the carrier writes it, in whatever form. */
  readonly carrierMessageId: string | null
}

export const SEARCH_FILTERS: FilterRules<SearchFilters> = {
  ...MESSAGE_FILTERS,
  errorCode: matching(/^[0-9]{3}$/, 'must be 3 digits'),
  carrierMessageId: matching(/^[\x21-\x7e]{1,64}$/, 'must be 1 to 64 ASCII characters without spaces'),
}

/**
 * The filters of a request whose fields are known to be texts. Faults are added to the list. Without a plan, the window
 * is the last 24 hours, or the 24 hours next to the end that is given. A carrier's id is searched for without a window.
 */
export function parseSearch(
  texts: Partial<Readonly<Record<keyof SearchFilters, string>>>,
  { ofPlan, nowMs }: { ofPlan: boolean; nowMs: number },
  faults: Fault[],
): SearchFilters {
  const filters = parseWindowed(SEARCH_FILTERS, texts, faults)
  const { fromDate, toDate, carrierMessageId } = filters
  if (ofPlan || carrierMessageId !== null) return filters
  const end = toDate ?? (fromDate === null ? nowMs + CLOCK_SKEW_MS : fromDate + DAY_MS)
  const start = fromDate ?? (toDate ?? nowMs) - DAY_MS
  if (fromDate !== null && toDate !== null && end - start > DAY_MS)
    faults.push(
      fault('toDate', 'INVALID_RANGE', 'must be at most 24 hours after fromDate without servicePlanId'),
    )
  return { ...filters, fromDate: start, toDate: end }
}

/** Length of the first part of a window that is searched. The search starts with the newest. */
export const FIRST_PART_MS = 60_000
/** A part that takes longer is followed by a shorter one, and one that takes much less by a longer one. */
const GOAL_MS = 200

/** How much of a window to search next, after a part that took `tookMs`. */
export function nextPartMs(partMs: number, tookMs: number): number {
  if (tookMs > 4 * GOAL_MS) return Math.max(partMs / 4, 1_000)
  if (tookMs > GOAL_MS) return partMs
  return partMs * (tookMs > GOAL_MS / 4 ? 2 : 8)
}

import { canonicalId, ID_RULES, type IdRule } from './carrier-message-ids.ts'
import { type Fault, fault } from './faults.ts'
import { type FilterRules, parseFilters } from './list-queries.ts'
import { MESSAGE_FILTERS, type MessageFilters } from './message-filters.ts'

/** What an operator looks for, over all plans; canonical: null is not filtered. */
export interface SearchFilters extends MessageFilters {
  readonly errorCode: string | null
  /** As the carrier writes it, in whatever form. */
  readonly carrierMessageId: string | null
}

const SEARCH_FILTERS: FilterRules<SearchFilters> = {
  ...MESSAGE_FILTERS,
  errorCode: { parse: (text) => (/^[0-9]{3}$/.test(text) ? text : null), rule: 'must be 3 digits' },
  carrierMessageId: {
    parse: (text) => (/^[\x21-\x7e]{1,64}$/.test(text) ? text : null),
    rule: 'must be 1 to 64 ASCII characters without spaces',
  },
}

const DAY_MS = 24 * 3_600_000
/** How far the clock of another node may be ahead. */
const CLOCK_SKEW_MS = 60_000

/**
 * The filters of a request whose fields are known to be texts. Faults are added to the list. Without a plan, the window
 * is the last 24 hours, or the 24 hours next to the end that is given. A carrier's id is searched for without a window.
 */
export function parseSearch(
  texts: Partial<Readonly<Record<keyof SearchFilters, string>>>,
  { ofPlan, nowMs }: { ofPlan: boolean; nowMs: number },
  faults: Fault[],
): SearchFilters {
  const filters = parseFilters(SEARCH_FILTERS, texts, faults)
  const { fromDate, toDate, carrierMessageId } = filters
  if (fromDate !== null && toDate !== null && fromDate > toDate)
    faults.push(fault('fromDate', 'INVALID_RANGE', 'must not be after toDate'))
  if (ofPlan || carrierMessageId !== null) return filters
  const end = toDate ?? (fromDate === null ? nowMs + CLOCK_SKEW_MS : fromDate + DAY_MS)
  const start = fromDate ?? (toDate ?? nowMs) - DAY_MS
  if (fromDate !== null && toDate !== null && end - start > DAY_MS)
    faults.push(
      fault('toDate', 'INVALID_RANGE', 'must be at most 24 hours after fromDate without servicePlanId'),
    )
  return { ...filters, fromDate: start, toDate: end }
}

/** The forms in which an id may be stored, whatever the carrier's rule is or was, and wherever the id was read. */
export function storedForms(carrierMessageId: string): string[] {
  const sources = ['submit', 'receipt'] as const
  const forms = ID_RULES.flatMap((rule: IdRule) =>
    sources.map((source) => canonicalId(carrierMessageId, rule, source)),
  )
  return [...new Set(forms)]
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

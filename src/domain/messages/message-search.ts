import { type Fault, fault } from '../../errors.ts'
import { highestIdAt, lowestIdAt } from '../identifiers.ts'
import { CLOCK_SKEW_MS, DAY_MS } from '../instants.ts'
import type { MessageInProgress } from '../journal/messages-in-progress.ts'
import {
  type FilterRules,
  MESSAGE_FILTERS,
  type MessageFilters,
  matching,
  type Page,
  parseWindowed,
} from '../lists.ts'

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

// Which messages in progress a list shows: chosen and ordered like the records that the statements of
// store/message-list.ts and store/message-search.ts find.

/** What a list asks for; null is not filtered. */
export interface WantedMessages {
  readonly planId: number | null
  readonly filters: Omit<SearchFilters, 'fromDate' | 'toDate' | 'carrierMessageId'>
  /** The message's carrier; with `carrierMessageIds`, the carrier of the segment that has one of them. */
  readonly carrierId: number | null
  /** A segment was accepted under one of these. */
  readonly carrierMessageIds: readonly string[] | null
  /** Inclusive. */
  readonly lowest: string | null
  /** Inclusive. */
  readonly highest: string | null
  /** Exclusive: the list goes on behind this one. */
  readonly below: string | null
}

export function wantedOfPage({ planId, filters, after }: Page<MessageFilters, string>): WantedMessages {
  const { fromDate, toDate, ...rest } = filters
  return {
    planId,
    filters: { ...rest, errorCode: null },
    carrierId: null,
    carrierMessageIds: null,
    lowest: fromDate === null ? null : lowestIdAt(fromDate),
    highest: toDate === null ? null : highestIdAt(toDate),
    below: after,
  }
}

/** The filters for a message that was found by its record, without those about carriers: the record knows more of these. */
export function wantedOfRecord(wanted: WantedMessages): WantedMessages {
  return wanted.carrierMessageIds === null ? wanted : { ...wanted, carrierId: null, carrierMessageIds: null }
}

type Filters = WantedMessages['filters']

/** What a message has where a filter wants a value. A filter that is missing here does not compile. */
const VALUE_OF: Readonly<Record<keyof Filters, (message: MessageInProgress) => string | null>> = {
  status: ({ state }) => state.status,
  to: ({ accepted }) => accepted.recipient,
  from: ({ accepted }) => accepted.sender,
  country: ({ accepted }) => accepted.country,
  mccmnc: ({ state }) => state.mccmnc,
  errorCode: ({ state }) => state.errorCode,
}
const FILTERS = Object.keys(VALUE_OF) as (keyof Filters)[]

/** The cheapest check comes first: most messages in progress are of other plans. */
export function isWanted(wanted: WantedMessages, message: MessageInProgress): boolean {
  const { planId, lowest, highest, below, filters } = wanted
  const { msgId, accepted } = message
  return (
    (planId === null || accepted.planId === planId) &&
    (below === null || msgId < below) &&
    (lowest === null || msgId >= lowest) &&
    (highest === null || msgId <= highest) &&
    FILTERS.every((name) => filters[name] === null || VALUE_OF[name](message) === filters[name]) &&
    isOfCarrier(wanted, message)
  )
}

function isOfCarrier(
  { carrierId, carrierMessageIds }: WantedMessages,
  { state, submissions }: MessageInProgress,
): boolean {
  if (carrierMessageIds === null) return carrierId === null || state.carrierId === carrierId
  return submissions.some(
    (segment) =>
      carrierMessageIds.includes(segment.carrierMessageId) &&
      (carrierId === null || segment.carrierId === carrierId),
  )
}

/**
 * The newest `limit` wanted messages, newest first. The messages come in any order, but mostly oldest first, so that each
 * is put at the end.
 */
export function newestWanted(
  sources: readonly Iterable<MessageInProgress>[],
  wanted: WantedMessages,
  limit: number,
): MessageInProgress[] {
  const oldestFirst: MessageInProgress[] = []
  let within = wanted
  for (const source of sources) {
    for (const message of source) {
      if (!isWanted(within, message)) continue
      insert(oldestFirst, message)
      if (oldestFirst.length < 2 * limit) continue
      oldestFirst.splice(0, limit)
      within = { ...wanted, lowest: oldestFirst[0]!.msgId }
    }
  }
  return oldestFirst.reverse().slice(0, limit)
}

function insert(oldestFirst: MessageInProgress[], message: MessageInProgress): void {
  let place = oldestFirst.length
  while (place > 0 && oldestFirst[place - 1]!.msgId > message.msgId) place -= 1
  if (place === oldestFirst.length) oldestFirst.push(message)
  else oldestFirst.splice(place, 0, message)
}

/** Merges two lists, each newest first. A message in both is taken from the first list. */
export function mergeNewest<Row extends { readonly msgId: string }>(
  first: readonly Row[],
  second: readonly Row[],
  limit: number,
): Row[] {
  const ids = new Set(first.map(({ msgId }) => msgId))
  return [...first, ...second.filter(({ msgId }) => !ids.has(msgId))].sort(byNewest).slice(0, limit)
}

function byNewest(one: { readonly msgId: string }, other: { readonly msgId: string }): number {
  return one.msgId < other.msgId ? 1 : one.msgId > other.msgId ? -1 : 0
}

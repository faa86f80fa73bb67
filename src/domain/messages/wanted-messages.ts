import type { Page } from '../cursors.ts'
import { highestIdAt, lowestIdAt } from '../identifiers.ts'
import type { MessageInProgress } from '../journal/messages-in-progress.ts'
import type { MessageFilters } from '../list-filters.ts'
import type { SearchFilters } from './message-search.ts'

/**
 * Which messages in progress a list shows: chosen and ordered like the records that the statements of
 * store/message-list.ts and store/message-search.ts find.
 */

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

import { everyForm } from '../domain/carriers/message-ids.ts'
import { createdAtMs, highestIdAt, lowestIdAt } from '../domain/identifiers.ts'
import {
  FIRST_PART_MS,
  nextPartMs,
  type SearchFilters,
  type WantedMessages,
} from '../domain/messages/message-search.ts'
import type { Queryable } from '../store/database.ts'
import * as store from '../store/message-search.ts'
import type { InLane } from '../store/messages.ts'

export interface MessageSearch {
  /** Null: all plans. */
  readonly planId: number | null
  readonly carrierId: number | null
  readonly filters: SearchFilters
  /** Only messages with lower ids. */
  readonly after: string | null
  readonly limit: number
}

/** After this time a search answers with what it has and where to continue, because somebody waits at the console. */
const MAX_SEARCH_MS = 700
const FIRST_ID = lowestIdAt(0)

/**
 * At most `limit` messages, newest first. A search for rare messages among very many stops after 0.7 s. It then returns fewer,
 * or none, and `searchedTo` is where to continue. Null: everything was searched, or `limit` was reached.
 */
export async function searchMessages(
  db: Queryable,
  { filters, after, limit, ...whose }: MessageSearch,
  clock: () => number,
): Promise<{ rows: (store.FoundMessage & InLane)[]; searchedTo: string | null }> {
  const { fromDate, toDate, carrierMessageId, ...rest } = filters
  const floor = fromDate === null ? FIRST_ID : lowestIdAt(fromDate)
  const end = lowestIdAt(toDate === null ? Number.MAX_SAFE_INTEGER : toDate + 1)
  const top = after !== null && after < end ? after : end
  const search = { ...whose, filters: rest, limit }
  if (carrierMessageId !== null) {
    const forms = everyForm(carrierMessageId)
    const rows = await store.searchSubmitted(db, forms, { ...search, lowest: floor, below: top })
    return { rows, searchedTo: null }
  }
  const rows: (store.FoundMessage & InLane)[] = []
  const startedAtMs = clock()
  // An index keeps the recipient's messages together.
  let partMs = rest.to === null ? FIRST_PART_MS : Number.POSITIVE_INFINITY
  for (let below = top; ; ) {
    const beganAtMs = clock()
    const newestMs = Math.min(createdAtMs(below), Date.now() + FIRST_PART_MS)
    const start = lowestIdAt(newestMs - partMs)
    const lowest = start < floor ? floor : start
    rows.push(...(await store.searchMessages(db, { ...search, limit: limit - rows.length, lowest, below })))
    if (rows.length >= limit || lowest <= floor) return { rows, searchedTo: null }
    if (clock() - startedAtMs >= MAX_SEARCH_MS) return { rows, searchedTo: lowest }
    partMs = nextPartMs(partMs, clock() - beganAtMs)
    below = lowest
  }
}

/** The same search, for messages in progress. */
export function wantedOfSearch({ planId, carrierId, filters, after }: MessageSearch): WantedMessages {
  const { fromDate, toDate, carrierMessageId, ...rest } = filters
  return {
    planId,
    carrierId,
    filters: rest,
    carrierMessageIds: carrierMessageId === null ? null : everyForm(carrierMessageId),
    lowest: fromDate === null ? null : lowestIdAt(fromDate),
    highest: toDate === null ? null : highestIdAt(toDate),
    below: after,
  }
}

import type { EventKey } from '../domain/identifiers.ts'
import { highestIdAt, lowestIdAt } from '../domain/identifiers.ts'
import type { EventFilters } from '../domain/lists.ts'
import { conflict, invalidField, notFound } from '../errors.ts'
import type { Queryable } from '../store/database.ts'
import {
  redeliverFailed,
  redeliverKept,
  redeliverOne,
  type Stretch,
  type StretchQueued,
} from '../store/redeliveries.ts'

/** Events looked at by one statement. */
const BATCH = 1_000
/** The most that one call does, in some 2 s. */
const MAX_REDELIVERED = 20_000
const MAX_LOOKED_AT = 500_000

/**
 * Makes one event of a plan due now, whether it was delivered, has failed or waits. It keeps its id and its count of
 * attempts, and its schedule starts over. An event in flight is left as it is.
 */
export async function redeliverEvent(db: Queryable, planId: number, key: EventKey): Promise<void> {
  const outcome = await redeliverOne(db, planId, key)
  if (outcome === null) throw notFound('event')
  if (outcome === 'unreachable') throw conflict('there is no URL that the event could be delivered to')
  if (outcome === 'exhausted') throw conflict('the event was tried too often to be delivered again')
}

/**
 * Selects events of a plan: all with this state that match the filters which are not null. The dates refer to createdAt of
 * their messages.
 */
export interface RedeliveryQuery extends Omit<EventFilters, 'state'> {
  readonly planId: number
  readonly state: 'failed' | 'kept'
  /** Where the previous call ended. */
  readonly after: EventKey | null
  /** Counts the events that would be redelivered, and changes nothing. */
  readonly dryRun: boolean
}

/** One batch of a redelivery: a statement. */
type Redelivery = (db: Queryable) => Promise<StretchQueued>

/**
 * Has many failed or kept events of a plan delivered, each batch in a transaction. Those without a URL are left as they are.
 * `nextAfter`: there may be more after this one, so call again. `limits` bound what one call does.
 */
export async function redeliverEvents(
  inTransaction: (redelivery: Redelivery) => Promise<StretchQueued>,
  query: RedeliveryQuery,
  limits: { redelivered: number; lookedAt: number } = {
    redelivered: MAX_REDELIVERED,
    lookedAt: MAX_LOOKED_AT,
  },
): Promise<{ redelivered: number; nextAfter: EventKey | null }> {
  const { state, destination } = query
  if (state === 'kept' && destination !== null) {
    throw invalidField('destination', 'EXCLUSIVE', 'must be omitted: kept events have no destination')
  }
  const batch = Math.min(BATCH, limits.redelivered)
  let stretch: Stretch | null = stretchOf(query, batch)
  let redelivered = 0
  let lookedAt = 0
  // Goes on only if another whole batch fits the limits.
  while (stretch !== null && redelivered + batch <= limits.redelivered && lookedAt < limits.lookedAt) {
    const { queued, last } = await inTransaction(redeliveryOf(query, stretch))
    redelivered += queued
    lookedAt += stretch.limit
    stretch = last === null ? null : { ...stretch, after: last, ahead: redelivered }
  }
  return { redelivered, nextAfter: stretch?.after ?? null }
}

function redeliveryOf({ state, destination }: RedeliveryQuery, stretch: Stretch): Redelivery {
  return (db) =>
    state === 'kept' ? redeliverKept(db, stretch) : redeliverFailed(db, { ...stretch, destination })
}

/** Ids begin with the time, so a range of dates is a range of ids. */
function stretchOf(query: RedeliveryQuery, limit: number): Stretch {
  const { planId, msgId, fromDate, toDate, after, dryRun } = query
  const first = msgId ?? lowestIdAt(fromDate ?? 0)
  const upTo = msgId ?? highestIdAt(toDate ?? Number.MAX_SAFE_INTEGER)
  const from = after === null || after.msgId < first ? { msgId: first, sequence: -1 } : after
  return { planId, after: from, upTo, limit, ahead: 0, dryRun }
}

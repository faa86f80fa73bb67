import { DESTINATION_RULE } from '../domain/list-filters.ts'
import { SCHEDULE_MS } from '../domain/webhook-schedule.ts'
import { isDestination } from '../domain/webhook-targets.ts'
import type { Queryable } from '../store/database.ts'
import * as store from '../store/webhook-destinations.ts'
import { conflict, invalidField, PLAN_GONE, sayConflicts } from './administration.ts'

/** Who pauses and resumes. A customer cannot resume what the operator has paused. */
type Pauser = 'customer' | 'operator'

/**
 * Stops a plan's deliveries to a destination (`https://host[:port]`) on every node within seconds. Its events wait until it
 * is resumed. Deliveries in flight are finished.
 */
export async function pauseDestination(
  db: Queryable,
  planId: number,
  destination: string,
  by: Pauser,
): Promise<store.DestinationRecord> {
  refuseOther(destination)
  const paused = await sayConflicts({ inUse: PLAN_GONE }, () =>
    store.pauseDestination(db, { planId, destination }, by),
  )
  if (!paused) throw conflict('the service plan has too many paused destinations')
  return store.findDestination(db, planId, destination)
}

/** Ends a pause, or retries a destination whose breaker is open: events parked for it are delivered. */
export async function resumeDestination(
  db: Queryable,
  planId: number,
  destination: string,
  by: Pauser,
): Promise<store.DestinationRecord> {
  refuseOther(destination)
  if (!(await store.resumeDestination(db, { planId, destination }, by))) {
    throw conflict('the operator has paused the destination')
  }
  return store.findDestination(db, planId, destination)
}

/** Events made due at once. The rest are delivered when they are due. */
const PARK_BATCH = 1_000
const MAX_PARK_BATCHES = 20

/**
 * Makes events that wait for a retry due at once, after their destination was resumed, even if it was in no trouble. Each batch
 * is a transaction of its own, which `inTransaction` begins, so none holds many rows for long.
 */
export async function retryWaiting(
  inTransaction: (work: (db: Queryable) => Promise<number>) => Promise<number>,
  planId: number,
  destination: string,
): Promise<void> {
  const endpoint = { planId, destination, scheduleMs: SCHEDULE_MS, limit: PARK_BATCH }
  for (let batch = 0; batch < MAX_PARK_BATCHES; batch += 1)
    if ((await inTransaction((db) => store.parkWaiting(db, endpoint))) < PARK_BATCH) break
}

function refuseOther(destination: string): void {
  if (!isDestination(destination)) throw invalidField('destination', 'INVALID_FORMAT', DESTINATION_RULE)
}

import { DESTINATION_MEANING } from '../../domain/lists.ts'
import { SCHEDULE_MS } from '../../domain/webhooks/retries.ts'
import { isDestination } from '../../domain/webhooks/targets.ts'
import { conflict, invalidField } from '../../errors.ts'
import type { Queryable } from '../../store/database.ts'
import * as store from '../../store/webhook-destinations.ts'
import { PLAN_GONE, sayConflicts } from './configuration-rows.ts'

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

/** With MAX_RETRIED_BATCHES, the events that are retried at once. The rest are delivered when they are due. */
const RETRIED_BATCH = 1_000
const MAX_RETRIED_BATCHES = 20

/**
 * Retries events that wait for their next attempt, after their destination was resumed, even if it was in no trouble. They
 * are parked, because nodes fetch at once what is parked at a destination that recovers. Where a plan had no room for
 * another destination in trouble, its events keep their own schedules. Each batch is a call of `runBatch`, so none holds
 * many rows for long.
 */
export async function retryWaiting(
  runBatch: (batch: (db: Queryable) => Promise<number>) => Promise<number>,
  planId: number,
  destination: string,
): Promise<void> {
  const endpoint = { planId, destination, scheduleMs: SCHEDULE_MS, limit: RETRIED_BATCH }
  for (let batch = 0; batch < MAX_RETRIED_BATCHES; batch += 1)
    if ((await runBatch((db) => store.parkDeliveriesAt(db, endpoint))) < RETRIED_BATCH) break
}

function refuseOther(destination: string): void {
  if (!isDestination(destination)) throw invalidField('destination', 'INVALID_FORMAT', DESTINATION_MEANING)
}

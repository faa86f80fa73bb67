import { DESTINATION_RULE } from '../domain/event-filters.ts'
import { isDestination } from '../domain/webhook-targets.ts'
import type { Queryable } from '../store/database.ts'
import { type DestinationRecord, findDestination } from '../store/destination-list.ts'
import * as store from '../store/webhook-destinations.ts'
import { refuseConflict, refuseField, sayConflicts } from './refuse-administration.ts'

/** Who pauses and resumes: what the operator has paused, no customer resumes. */
type Pauser = 'customer' | 'operator'

/**
 * Stops deliveries of a plan to a destination (`https://host[:port]`), on every node within some seconds: its events wait,
 * without end, until it is resumed. What is under way is ended.
 */
export async function pauseDestination(
  db: Queryable,
  planId: number,
  destination: string,
  by: Pauser,
): Promise<DestinationRecord> {
  refuseOther(destination)
  const paused = await sayConflicts({ inUse: 'the service plan was removed meanwhile' }, () =>
    store.pauseDestination(db, { planId, destination }, by),
  )
  if (!paused) throw refuseConflict('the service plan has too many paused destinations')
  return findDestination(db, planId, destination)
}

/** Ends a pause, or has a destination tried again whose breaker is open: what waited for it is delivered. */
export async function resumeDestination(
  db: Queryable,
  planId: number,
  destination: string,
  by: Pauser,
): Promise<DestinationRecord> {
  refuseOther(destination)
  if (!(await store.resumeDestination(db, { planId, destination }, by))) {
    throw refuseConflict('the operator has paused the destination')
  }
  return findDestination(db, planId, destination)
}

function refuseOther(destination: string): void {
  if (!isDestination(destination)) throw refuseField('destination', 'INVALID_FORMAT', DESTINATION_RULE)
}

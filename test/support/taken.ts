/** What a node takes to submit it, without the service. */
import { dispatchOf, loadedMessage } from '../../src/domain/journal/messages-in-progress.ts'
import { type Database, type Queryable, withTransaction } from '../../src/store/database.ts'
import { lockDueDispatches, type TakeRequest, takeDispatches } from '../../src/store/dispatches.ts'
import { NODE } from './stored-messages.ts'

export const EVERY_BUCKET = Array.from({ length: 256 }, (_, bucket) => bucket)

/** Room for 1,000 of each plan, over any route. */
export function requestFor(...plans: readonly number[]): TakeRequest {
  return {
    buckets: EVERY_BUCKET,
    plans: new Map(plans.map((plan) => [plan, { room: 1_000, routes: {} }])),
    closedRoutes: [],
    carriers: [],
    limit: 100,
    expired: false,
    overdueMs: 2_000,
  }
}

/** What is due, and not in memory, in this lane. */
export async function takeDue(
  db: Database,
  tx: Queryable,
  lane: number,
  request: TakeRequest,
  isHere: (msgId: string) => boolean = () => false,
) {
  const due = await lockDueDispatches(tx, request)
  return takeDispatches(
    db,
    tx,
    lane,
    due.filter(({ msgId }) => !isHere(msgId)),
  )
}

/** What this lane takes, as the submitter has it. */
export async function take(db: Database, request: TakeRequest, lane = NODE) {
  const loaded = await withTransaction(db, (tx) => takeDue(db, tx, lane, request))
  return loaded.map((one) => dispatchOf(loadedMessage(one.msgId, one))!)
}

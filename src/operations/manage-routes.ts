import type { QualityFloor } from '../domain/configuration.ts'
import { repeatedValue } from '../domain/settings.ts'
import { type Database, type Queryable, withTransaction } from '../store/database.ts'
import * as store from '../store/routes.ts'
import { refuseField, refuseMissing, sayConflicts } from './refuse-administration.ts'

const GONE = 'a carrier was removed meanwhile'

interface RouteInput {
  readonly name: string
  readonly carriers: readonly store.RouteCarrierRecord[]
  readonly qualityFloor: QualityFloor | null
}

/** Creates a route over carriers known by name. */
export async function createRoute(db: Database, input: RouteInput): Promise<store.RouteRecord> {
  checkCarriers(input.carriers)
  return sayConflicts({ taken: `route ${input.name} exists already`, inUse: GONE }, () =>
    withTransaction(db, async (transaction) => {
      const routeId = await store.insertRoute(transaction, input)
      await putCarriers(transaction, routeId, input.carriers)
      return (await store.findRoute(transaction, String(routeId)))!
    }),
  )
}

/** By name or number. `carriers`, when given, takes the place of all there are. */
export async function changeRoute(
  db: Database,
  nameOrId: string,
  change: Partial<RouteInput>,
): Promise<store.RouteRecord> {
  if (change.carriers !== undefined) checkCarriers(change.carriers)
  return sayConflicts({ taken: `route ${change.name} exists already`, inUse: GONE }, () =>
    withTransaction(db, async (transaction) => {
      const route = await store.findRoute(transaction, nameOrId, 'for update of r')
      if (route === undefined) throw refuseMissing('route')
      await store.updateRoute(transaction, route.routeId, { ...route, ...change })
      if (change.carriers !== undefined) await putCarriers(transaction, route.routeId, change.carriers)
      return (await store.findRoute(transaction, String(route.routeId)))!
    }),
  )
}

/** Removes a route that no plan and no rule uses. */
export async function removeRoute(db: Queryable, nameOrId: string): Promise<void> {
  const removed = await sayConflicts(
    { inUse: 'the route is still used by a service plan or a routing rule' },
    () => store.deleteRoute(db, nameOrId),
  )
  if (!removed) throw refuseMissing('route')
}

function checkCarriers(carriers: readonly store.RouteCarrierRecord[]): void {
  const repeated = repeatedValue(carriers.map((entry) => entry.carrier))
  if (repeated === null) return
  throw refuseField('carriers', 'REPEATED', `must name each carrier once: ${repeated} is there twice`)
}

async function putCarriers(
  transaction: Queryable,
  routeId: number,
  carriers: readonly store.RouteCarrierRecord[],
): Promise<void> {
  const missing = await store.replaceRouteCarriers(transaction, routeId, carriers)
  if (missing.length === 0) return
  throw refuseField('carriers', 'NOT_FOUND', `must be existing carriers: ${missing.join(', ')} not found`)
}

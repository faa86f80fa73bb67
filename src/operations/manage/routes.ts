import { type QualityFloor, repeatedValue } from '../../domain/configuration/configuration.ts'
import { isSandbox, SANDBOX } from '../../domain/sandbox.ts'
import { conflict, type Fault, fault, invalidField, refuseAny } from '../../errors.ts'
import type { Transaction } from '../../store/database.ts'
import {
  type RouteCarrierRecord,
  type RouteRecord,
  replaceRouteCarriers,
  routes,
} from '../../store/routes.ts'
import { changeRow, lockedRow, refuseReservedName, sayConflicts } from './configuration-rows.ts'

const GONE = 'a carrier was removed meanwhile'

interface RouteInput {
  readonly name: string
  readonly carriers: readonly RouteCarrierRecord[]
  readonly qualityFloor: QualityFloor | null
}

/** Creates a route over carriers known by name. */
export async function createRoute(transaction: Transaction, input: RouteInput): Promise<RouteRecord> {
  refuseReservedName(input)
  refuseAny(routeCarrierFaults(input.carriers))
  const words = { taken: `route ${input.name} exists already`, inUse: GONE }
  return sayConflicts(words, async () => {
    const { routeId } = await routes.insert(transaction, input)
    await putCarriers(transaction, routeId, input.carriers)
    return lockedRow(transaction, routes, String(routeId))
  })
}

/** By name or number. `carriers`, if given, replaces all of the route's carriers. */
export async function updateRoute(
  transaction: Transaction,
  nameOrId: string,
  change: Partial<RouteInput>,
): Promise<RouteRecord> {
  refuseReservedName(change)
  if (change.carriers !== undefined) refuseAny(routeCarrierFaults(change.carriers))
  const words = { taken: `route ${change.name} exists already`, inUse: GONE }
  return sayConflicts(words, async () => {
    const route = await lockedRow(transaction, routes, nameOrId)
    if (isSandbox(route)) throw conflict(`the route ${SANDBOX} cannot be changed`)
    const { routeId } = route
    if (change.carriers !== undefined) await putCarriers(transaction, routeId, change.carriers)
    return changeRow(transaction, routes, String(routeId), change)
  })
}

/** What is wrong with the carriers of a route, except that they do not exist. */
export function routeCarrierFaults(carriers: readonly { readonly carrier: string }[]): Fault[] {
  const names = carriers.map((entry) => entry.carrier)
  if (names.includes(SANDBOX))
    return [fault('carriers', 'NOT_ALLOWED', `must not have ${SANDBOX}, which is for sandbox plans`)]
  const repeated = repeatedValue(names)
  if (repeated === null) return []
  return [fault('carriers', 'REPEATED', `must name each carrier once: ${repeated} is repeated`)]
}

async function putCarriers(
  transaction: Transaction,
  routeId: number,
  carriers: readonly RouteCarrierRecord[],
): Promise<void> {
  const missing = await replaceRouteCarriers(transaction, [{ routeId, carriers }])
  if (missing.length === 0) return
  throw invalidField('carriers', 'NOT_FOUND', `must be existing carriers: ${missing.join(', ')} not found`)
}

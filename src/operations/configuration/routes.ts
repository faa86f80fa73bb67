import { type QualityFloor, repeatedValue } from '../../domain/configuration/configuration.ts'
import type { Settings } from '../../domain/configuration/configuration-changes.ts'
import { isSandbox, SANDBOX } from '../../domain/sandbox.ts'
import { conflict, type Fault, fault } from '../../errors.ts'
import {
  type RouteCarrierRecord,
  type RouteRecord,
  replaceRouteCarriers,
  routes,
} from '../../store/routes.ts'
import { TableKind } from './kind.ts'

/** A carrier of a route as an operator gives it. */
interface RouteCarrierSetting {
  readonly carrier: string
  readonly priority?: number
  readonly weight?: number
}

/** A quality floor as an operator gives it. */
type QualityFloorSetting = Pick<QualityFloor, 'minDelivered'> & Partial<QualityFloor>

interface RouteSettings {
  readonly carriers?: readonly RouteCarrierSetting[]
  readonly qualityFloor?: QualityFloorSetting | null
}

export const ROUTES = new TableKind<RouteRecord>({
  name: 'routes',
  table: routes,
  nameField: 'name',
  hasSandbox: true,
  required: ['carriers'],
  names: { carriers: ({ settings }) => carriersOf(settings).map(({ carrier }) => carrier) },
  databaseKey: ({ routeId }) => routeId,
  settingsOf: ({ carriers, qualityFloor }) => ({ carriers: inOrder(carriers), qualityFloor }),
  judge(given, { scene, path, faults }) {
    const { carriers, qualityFloor } = given as RouteSettings
    const own = carriersOf(given)
    faults.push(...carrierFaults(own))
    for (const [index, { carrier }] of own.entries())
      scene.refer('carriers', `${path}.carriers.${index}.carrier`, carrier)
    return {
      ...given,
      carriers: carriers && inOrder(own.map(completeRouteCarrier)),
      qualityFloor: qualityFloor && completeFloor(qualityFloor),
    }
  },
  async writeOthers(scene, objects) {
    const rerouted = objects.filter(({ settings }) => settings.carriers !== undefined)
    const entries = rerouted.map(({ identity, settings }) => ({
      routeId: scene.keys.routes.get(identity)!,
      carriers: settings.carriers as RouteCarrierRecord[],
    }))
    const missing = await replaceRouteCarriers(scene.db, entries)
    if (missing.length > 0) throw conflict(`removed or renamed in the meantime: ${missing.join(', ')}`)
  },
  refuseChange(route) {
    if (isSandbox(route)) throw conflict(`the route ${SANDBOX} cannot be changed`)
  },
})

function carriersOf({ carriers = [] }: Settings) {
  return carriers as readonly RouteCarrierSetting[]
}

function carrierFaults(carriers: readonly RouteCarrierSetting[]): Fault[] {
  const repeated = repeatedValue(carriers.map(({ carrier }) => carrier))
  if (repeated === null) return []
  return [fault('carriers', 'REPEATED', `must name each carrier once: ${repeated} is repeated`)]
}

/** By priority and name, so that another order in a file is no difference. */
function inOrder(entries: readonly RouteCarrierRecord[]): RouteCarrierRecord[] {
  return entries.toSorted(
    (a, b) => a.priority - b.priority || (a.carrier < b.carrier ? -1 : a.carrier > b.carrier ? 1 : 0),
  )
}

function completeRouteCarrier(entry: RouteCarrierSetting) {
  return { priority: 0, weight: 1, ...entry }
}

/** Over an hour, one bad minute does not condemn a carrier. A pause of half an hour gives it time to recover. */
function completeFloor(given: QualityFloorSetting): QualityFloor {
  return { windowMinutes: 60, minMessages: 100, pauseMinutes: 30, ...given }
}

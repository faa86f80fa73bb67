import type { QualityFloor } from '../../domain/configuration/configuration.ts'
import type {
  PresentObject,
  Settings,
  Update,
  WantedObject,
} from '../../domain/configuration/configuration-changes.ts'
import {
  completeFloor,
  completeRouteCarrier,
  outcomesByHexStatus,
  type QualityFloorSetting,
  type RouteCarrierSetting,
} from '../../domain/configuration/settings.ts'
import { isSandbox, SANDBOX } from '../../domain/sandbox.ts'
import { carrierSecretContext, openSecret, orUnreadable } from '../../domain/secrets.ts'
import type { Fault } from '../../errors.ts'
import { mapInSlices } from '../../slices.ts'
import {
  type CarrierSettings,
  carriers,
  findCarrierPasswords,
  type NewCarrier,
  reserveCarrierIds,
} from '../../store/carriers.ts'
import { type RouteCarrierRecord, replaceRouteCarriers, routes } from '../../store/routes.ts'
import { sealCarrierPassword, storableCarrier } from '../manage/carriers.ts'
import { reservedName } from '../manage/configuration-rows.ts'
import { routeCarrierFaults } from '../manage/routes.ts'
import { deleteFrom, type Kind, type Scene, updateIn } from './scene.ts'

/** Carriers and routes of a configuration file. */

type CarrierEntry = Partial<Omit<CarrierSettings, 'name'>> & { readonly password?: string }

export const CARRIERS: Kind = {
  name: 'carriers',
  noun: carriers.noun,
  secrets: ['password'],
  required: ['host', 'systemId', 'password'],
  async read(scene) {
    const rows = await carriers.all(scene.db)
    const passwords = await findCarrierPasswords(scene.db)
    scene.keys.carriers = new Map(rows.map(({ name, carrierId }) => [name, carrierId]))
    const own = rows.filter((row) => !isSandbox(row))
    return mapInSlices(
      own,
      ({ carrierId, name, learnedIdRule, leases, createdAt, submitOutcomes, ...row }) => {
        const open = () => openSecret(scene.secretKey, passwords.get(name)!, carrierSecretContext(carrierId))
        const settings = {
          ...row,
          submitOutcomes: outcomesByHexStatus(submitOutcomes),
          password: orUnreadable(open),
        }
        return { identity: name, name, key: name, settings }
      },
    )
  },
  want({ name, path, value }, scene) {
    if (isReserved(scene, name, path)) return [null]
    const given = value as CarrierEntry
    const faults: Fault[] = []
    const { submitOutcomes, ...settings } = storableCarrier(given, faults)
    scene.addFaults(path, faults)
    const outcomes = submitOutcomes && { submitOutcomes: outcomesByHexStatus(submitOutcomes) }
    return [{ identity: name, name, path, settings: { ...settings, ...outcomes } }]
  },
  async create(scene, objects) {
    const ids = await reserveCarrierIds(scene.db, objects.length)
    const rows = objects.map(({ identity: name, settings }, index) => {
      const carrierId = ids[index]!
      scene.keys.carriers.set(name, carrierId)
      return { ...carrierColumns(scene, name, settings), name, carrierId } as NewCarrier & {
        carrierId: number
        password: string
      }
    })
    await carriers.insertAll(scene.db, rows)
  },
  update: updateIn(carriers, (scene, changed, name) => ({
    ...carrierColumns(scene, name, changed),
    // Setting a rule, even `auto`, discards what was learned.
    ...(changed.idRule !== undefined && { learnedIdRule: null }),
  })),
  delete: deleteFrom(carriers),
}

/** The name of the carrier and the route of sandbox plans. */
function isReserved(scene: Scene, name: string, path: string): boolean {
  if (name !== SANDBOX) return false
  scene.faults.push(reservedName(path))
  return true
}

function carrierColumns(scene: Scene, name: string, settings: Settings) {
  const { password, submitOutcomes, ...rest } = settings as CarrierEntry
  const carrierId = scene.keys.carriers.get(name)!
  return {
    ...rest,
    ...(submitOutcomes !== undefined && storableCarrier({ submitOutcomes }, [])),
    ...(password !== undefined && { password: sealCarrierPassword(scene.secretKey, password, carrierId) }),
  }
}

interface RouteEntry {
  readonly carriers?: readonly RouteCarrierSetting[]
  readonly qualityFloor?: QualityFloorSetting | null
}

export const ROUTES: Kind = {
  name: 'routes',
  noun: routes.noun,
  required: ['carriers'],
  names: { carriers: ({ settings }) => (settings as RouteEntry).carriers!.map(({ carrier }) => carrier) },
  async read(scene) {
    const rows = await routes.all(scene.db)
    scene.keys.routes = new Map(rows.map(({ name, routeId }) => [name, routeId]))
    const unreserved = rows.filter((row) => !isSandbox(row))
    return mapInSlices(unreserved, ({ name, carriers: own, qualityFloor }): PresentObject => {
      const settings = { carriers: inOrder(own), qualityFloor }
      return { identity: name, name, key: name, settings }
    })
  },
  want({ name, path, value }, scene) {
    if (isReserved(scene, name, path)) return [null]
    const { carriers: own, qualityFloor } = value as RouteEntry
    scene.addFaults(path, routeCarrierFaults(own ?? []))
    for (const [index, { carrier }] of (own ?? []).entries())
      scene.refer('carriers', `${path}.carriers.${index}.carrier`, carrier)
    const settings = {
      ...(own !== undefined && { carriers: inOrder(own.map(completeRouteCarrier)) }),
      ...(qualityFloor !== undefined && { qualityFloor: completeFloor(qualityFloor) }),
    }
    return [{ identity: name, name, path, settings }]
  },
  async create(scene, objects) {
    const rows = objects.map(({ identity: name, settings }) => ({ name, ...floorOf(settings) }))
    await routes.insertAll(scene.db, rows)
    for (const { name, routeId } of await routes.all(scene.db)) scene.keys.routes.set(name, routeId)
    await putCarriers(scene, objects)
  },
  async update(scene, updates: readonly Update[]) {
    await updateIn(routes, (_scene, changed) => floorOf(changed))(scene, updates)
    const rerouted = updates.filter(({ changed }) => changed.carriers !== undefined)
    await putCarriers(
      scene,
      rerouted.map(({ wanted }) => wanted),
    )
  },
  delete: deleteFrom(routes),
}

function floorOf({ qualityFloor }: Settings) {
  return qualityFloor === undefined ? {} : { qualityFloor: qualityFloor as QualityFloor | null }
}

/** By priority and name, so that another order in a file is no difference. */
function inOrder(entries: readonly RouteCarrierRecord[]): RouteCarrierRecord[] {
  return entries.toSorted(
    (a, b) => a.priority - b.priority || (a.carrier < b.carrier ? -1 : a.carrier > b.carrier ? 1 : 0),
  )
}

async function putCarriers(scene: Scene, objects: readonly WantedObject[]): Promise<void> {
  const entries = objects.map(({ identity, settings }) => ({
    routeId: scene.keys.routes.get(identity)!,
    carriers: settings.carriers as RouteCarrierRecord[],
  }))
  await replaceRouteCarriers(scene.db, entries)
}

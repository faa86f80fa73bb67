import type { RecipientMatch } from '../../domain/configuration/configuration.ts'
import {
  namesInFile,
  type PresentObject,
  type Settings,
} from '../../domain/configuration/configuration-changes.ts'
import type { SenderType } from '../../domain/messages/addresses.ts'
import { recipientMatchFaults } from '../../domain/routing/recipients.ts'
import type { Fault } from '../../errors.ts'
import { inSlices, mapInSlices } from '../../slices.ts'
import type { AnyTable } from '../../store/configuration-table.ts'
import type { Transaction } from '../../store/database.ts'
import { numberRanges } from '../../store/number-ranges.ts'
import { rates } from '../../store/rates.ts'
import { routingRules, senderRules } from '../../store/rules.ts'
import { MAX_NUMBER_RANGES } from '../manage/number-ranges.ts'
import { canonicalRate, MAX_RATES } from '../manage/rates.ts'
import { MAX_ROUTING_RULES, MAX_SENDER_RULES, routingRuleFaults } from '../manage/rules.ts'
import { deleteFrom, type Kind, type Scene, updateIn } from './scene.ts'

/**
 * Routing rules, sender rules, rates and number ranges of a configuration file. Except for ranges they have no names: what
 * they apply to identifies them, and the name that a file gives them is only for its readers.
 */

/** What a rule or a rate applies to; null or absent: everything. */
interface Limits {
  readonly plan?: string | null
  readonly from?: string | null
  readonly prefix?: string | null
  readonly country?: string | null
  readonly mccmnc?: string | null
}

const LIMITS = ['plan', 'from', 'prefix', 'country', 'mccmnc'] as const

function identityOf(limits: Limits): string {
  return JSON.stringify(LIMITS.map((limit) => limits[limit] ?? null))
}

/** `Alerts GB`, `any`. */
function nameOf(scene: Scene, { plan, ...limits }: Limits): string {
  const words = [
    plan == null ? null : scene.presentWith('plans', plan)!.name,
    ...LIMITS.slice(1).map((limit) => limits[limit as keyof typeof limits]),
  ]
  return words.filter((word) => word != null).join(' ') || 'any'
}

function matchOf({ prefix = null, country = null, mccmnc = null }: Limits): RecipientMatch {
  return { prefix, country, mccmnc }
}

/** The statements of a table that write many rows. Columns that it does not have are ignored. */
interface RowWriter {
  readonly noun: string
  insertAll(db: Transaction, rows: readonly object[]): Promise<void>
  updateAll(
    db: Transaction,
    changes: readonly { readonly key: string; readonly change: object }[],
  ): Promise<void>
  deleteAll(db: Transaction, keys: readonly string[]): Promise<void>
}

interface Description {
  readonly name: 'rules' | 'senderRules' | 'rates'
  readonly table: RowWriter & AnyTable
  readonly most: number
  readonly required: readonly string[]
  /** Every row: its number, what it applies to and its settings. */
  rows(scene: Scene): Promise<{ id: number; limits: Limits; settings: Settings }[]>
  /** The settings in the form in which they are compared. Adds what is wrong with them. */
  judge(limits: Limits, given: Settings, faults: Fault[]): Settings
  /** Adds a fault for each object that the settings name and that does not exist. */
  refer?(settings: Settings, scene: Scene, path: string): void
  /** Settings as columns. Default: they are the columns. */
  columns?(settings: Settings, scene: Scene): object
}

/** A kind whose objects are identified by what they apply to, which therefore cannot change. */
function limited(description: Description): Kind {
  const { name, table, most, required, rows, judge, refer, columns = (settings) => settings } = description
  return {
    name,
    noun: table.noun,
    isNumbered: true,
    required,
    names: { plans: ({ settings }) => [settings.plan], routes: ({ settings }) => [settings.route] },
    most,
    async read(scene) {
      const all = await rows(scene)
      const called = await mapInSlices(all, ({ id, limits }) => ({
        id: String(id),
        name: nameOf(scene, limits),
      }))
      const names = await inSlices(namesInFile(called))
      return mapInSlices(all.entries(), ([index, { id, limits, settings }]): PresentObject => {
        const key = String(id)
        return {
          identity: identityOf(limits),
          name: names[index]!,
          key,
          settings: { ...limits, ...settings },
        }
      })
    },
    want({ name: called, path, value }, scene) {
      const { plan: planName, from, prefix, country, mccmnc, ...given } = value as Limits & Settings
      const plan = scene.referToPlan(`${path}.plan`, planName)
      const limits = { ...plan, from: from ?? null, ...matchOf({ prefix, country, mccmnc } as Limits) }
      const faults: Fault[] = []
      const settings = judge(limits, given, faults)
      scene.addFaults(path, faults)
      refer?.(settings, scene, path)
      if (plan === null) return [null]
      const named = Object.entries(limits).filter(([, limit]) => limit !== null)
      return [
        {
          identity: identityOf(limits),
          name: called,
          path,
          settings: { ...Object.fromEntries(named), ...settings },
        },
      ]
    },
    async create(scene, objects) {
      const rows = objects.map(({ settings }) => ({
        ...columns(settings, scene),
        ...limitColumns(settings, scene),
      }))
      await table.insertAll(scene.db, rows)
    },
    update: updateIn(table, (scene, changed) => columns(changed, scene)),
    delete: deleteFrom(table),
  }
}

function limitColumns({ plan, from = null, ...limits }: Limits, scene: Scene): object {
  return { planId: plan == null ? null : scene.keys.plans.get(plan)!, from, ...matchOf(limits) }
}

export const RULES = limited({
  name: 'rules',
  table: routingRules,
  most: MAX_ROUTING_RULES,
  required: ['route'],
  async rows(scene) {
    const all = await routingRules.all(scene.db)
    return mapInSlices(all, ({ ruleId: id, servicePlanId: plan, from, prefix, country, mccmnc, route }) => {
      return { id, limits: { plan, from, prefix, country, mccmnc }, settings: { route } }
    })
  },
  judge({ plan = null, from = null, ...limits }, given, faults) {
    faults.push(...routingRuleFaults({ servicePlanId: plan, from, ...matchOf(limits) }))
    return given
  },
  refer({ route }, scene, path) {
    if (route !== undefined) scene.refer('routes', `${path}.route`, route as string)
  },
  columns: ({ route }, scene) => ({ routeId: scene.keys.routes.get(route as string) }),
})

export const SENDER_RULES = limited({
  name: 'senderRules',
  table: senderRules,
  most: MAX_SENDER_RULES,
  required: ['senderTypes'],
  async rows(scene) {
    const all = await senderRules.all(scene.db)
    return mapInSlices(all, ({ ruleId: id, servicePlanId: plan, country, senderTypes }) => {
      return { id, limits: { plan, country }, settings: { senderTypes: senderTypes as SenderType[] } }
    })
  },
  judge(limits, given, faults) {
    faults.push(...recipientMatchFaults(matchOf(limits)))
    return given
  },
})

export const RATES = limited({
  name: 'rates',
  table: rates,
  most: MAX_RATES,
  required: ['price', 'currency'],
  async rows(scene) {
    const all = await rates.all(scene.db)
    return mapInSlices(
      all,
      ({ rateId: id, servicePlanId: plan, prefix, country, mccmnc, price, ptf, currency }) => {
        return { id, limits: { plan, prefix, country, mccmnc }, settings: { price, ptf, currency } }
      },
    )
  },
  judge(limits, given, faults) {
    const { price, ptf } = given as { price?: string | number; ptf?: string | number }
    // The amounts that are not given are valid ones.
    const amounts = { price: price ?? '0', ptf: ptf ?? '0', currency: '' }
    const rate = canonicalRate({ servicePlanId: null, ...matchOf(limits), ...amounts }, '', faults)
    return {
      ...given,
      ...(price !== undefined && { price: rate.price }),
      ...(ptf !== undefined && { ptf: rate.ptf }),
    }
  },
})

export const RANGES: Kind = {
  name: 'ranges',
  noun: numberRanges.noun,
  required: ['mccmnc'],
  most: MAX_NUMBER_RANGES,
  async read(scene) {
    const rows = await numberRanges.all(scene.db)
    return mapInSlices(rows, ({ prefix, mccmnc }) => {
      return { identity: prefix, name: prefix, key: prefix, settings: { mccmnc } }
    })
  },
  want: ({ name, path, value }) => [{ identity: name, name, path, settings: value }],
  async create(scene, objects) {
    const rows = objects.map(({ identity: prefix, settings }) => ({
      prefix,
      mccmnc: settings.mccmnc as string,
    }))
    await numberRanges.insertAll(scene.db, rows)
  },
  update: updateIn(numberRanges, (_scene, changed) => changed),
  delete: deleteFrom(numberRanges),
}

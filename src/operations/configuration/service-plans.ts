import { mapOfInSteps } from '../../collections/steps.ts'
import type { OptOutSettings, PlanCaps, PumpingGuard } from '../../domain/configuration/configuration.ts'
import {
  namesInFile,
  type Settings,
  type WantedObject,
} from '../../domain/configuration/configuration-changes.ts'
import {
  completeRateLimit,
  languageIdentifiers,
  languageNames,
  type RateLimitSetting,
  rateLimitColumns,
  rateLimitField,
} from '../../domain/configuration/settings.ts'
import { completeCaps, completeGuard, limitFaults } from '../../domain/limits/plan-limits.ts'
import { completeOptOut, optOutFaults } from '../../domain/opt-outs.ts'
import { SANDBOX_RATE_LIMIT } from '../../domain/sandbox.ts'
import type { NationalLanguage } from '../../domain/text/gsm-national-tables.ts'
import { fault } from '../../errors.ts'
import { inSlices, mapInSlices } from '../../slices.ts'
import { inboundNumbers } from '../../store/inbound-numbers.ts'
import {
  allSenderSubscriptions,
  deleteSenderSubscriptions,
  putSenderSubscriptions,
} from '../../store/sender-subscriptions.ts'
import { deleteServicePlans, servicePlans } from '../../store/service-plans.ts'
import { keywordFaults } from '../manage/inbound-numbers.ts'
import { keyOfSandboxRoute } from '../manage/sandbox.ts'
import { isUsualStatus, senderFaults } from '../manage/senders.ts'
import type { GivenPlan } from '../manage/service-plans.ts'
import { definedOf, deleteFrom, type Kind, openUrl, type Scene, updateIn } from './scene.ts'

/** Service plans of a configuration file, with their senders and inbound numbers. */

interface PlanEntry extends Omit<GivenPlan, 'messagesPerSecond' | 'burst' | 'nationalLanguages'> {
  readonly servicePlanId?: string
  readonly account?: string
  readonly sandbox?: boolean
  readonly rateLimit?: RateLimitSetting | null
  readonly nationalLanguages?: readonly NationalLanguage[]
}

export const PLANS: Kind = {
  name: 'plans',
  noun: servicePlans.noun,
  urls: ['inboundUrl'],
  required: ['account'],
  names: { accounts: ({ settings }) => [settings.account], routes: ({ settings }) => [settings.route] },
  async read(scene) {
    const rows = await servicePlans.all(scene.db)
    scene.keys.plans = await inSlices(mapOfInSteps(rows, ({ servicePlanId, id }) => [servicePlanId, id]))
    const names = await inSlices(namesInFile(rows.map(({ servicePlanId: id, name }) => ({ id, name }))))
    return mapInSlices(
      rows.entries(),
      ([index, { servicePlanId, accountId, id, routeId, createdAt, ...row }]) => {
        const { messagesPerSecond, burst, route, inboundUrl, nationalLanguages, ...rest } = row
        const settings = {
          account: accountId,
          ...rest,
          ...(!row.sandbox && { route }),
          inboundUrl: openUrl(scene.secretKey, inboundUrl),
          rateLimit: rateLimitField({ messagesPerSecond, burst }),
          nationalLanguages: languageNames(nationalLanguages),
        }
        return { identity: servicePlanId, name: names[index]!, key: servicePlanId, settings }
      },
    )
  },
  want({ name: called, path, value }, scene) {
    const given = value as PlanEntry
    const { servicePlanId, account: accountName, route: routeName, ...rest } = given
    const name = given.name ?? called
    const identity = scene.identify('plans', path, name, servicePlanId)
    const account =
      accountName === undefined ? undefined : scene.refer('accounts', `${path}.account`, accountName)
    const route = routeName == null ? routeName : scene.refer('routes', `${path}.route`, routeName)
    scene.judgeUrl(path, 'inboundUrl', given.inboundUrl)
    const present = identity === null ? undefined : scene.presentWith('plans', identity)?.settings
    const optOut =
      given.optOut && completeOptOut(given.optOut, (present?.optOut ?? null) as OptOutSettings | null)
    if (optOut) scene.addFaults(path, optOutFaults(optOut))
    const caps = given.caps && completeCaps(given.caps)
    const pumpingGuard = given.pumpingGuard && completeGuard(given.pumpingGuard)
    scene.addFaults(path, limitFaults({ ...given, caps, pumpingGuard }))
    judgePlan(scene, path, { ...rest, ...(account && { account }), route: given.route ?? null }, present)
    if (identity === null || account === null) return [null]
    const settings = {
      ...rest,
      name,
      account,
      route,
      optOut,
      caps,
      pumpingGuard,
      rateLimit: limitOf(given, present),
    }
    return [{ identity, name: called, path, settings: definedOf(settings) }]
  },
  async create(scene, objects) {
    const hasSandbox = objects.some(({ settings }) => settings.sandbox === true)
    const sandboxRoute = hasSandbox ? await keyOfSandboxRoute(scene.db, scene.secretKey) : null
    const rows = objects.map(({ identity, settings }) => {
      const { name, account, sandbox } = settings as PlanEntry
      return {
        ...planColumns(scene, settings),
        name: name!,
        account: scene.keys.accounts.get(account!)!,
        routeId: sandbox ? sandboxRoute : routeIdOf(scene, settings),
        servicePlanId: identity,
      }
    })
    await servicePlans.insertAll(scene.db, rows)
  },
  async learnKeys(scene) {
    for (const { servicePlanId, id } of await servicePlans.all(scene.db))
      scene.keys.plans.set(servicePlanId, id)
  },
  update: updateIn(servicePlans, (scene, changed) => ({
    ...planColumns(scene, changed),
    ...(changed.route !== undefined && { routeId: routeIdOf(scene, changed) }),
  })),
  async delete(scene, objects) {
    const ids = objects.map(({ identity }) => scene.keys.plans.get(identity)!)
    await deleteServicePlans(scene.db, ids)
  },
}

/** Nobody pays for messages of a sandbox plan, so it always has a limit. */
function limitOf({ sandbox, rateLimit }: PlanEntry, present: PlanEntry | undefined) {
  const isSandbox = present === undefined ? sandbox === true : present.sandbox === true
  if (isSandbox && (rateLimit === null || (rateLimit === undefined && present === undefined)))
    return SANDBOX_RATE_LIMIT
  return rateLimit && completeRateLimit(rateLimit)
}

/** Settings of a plan that contradict each other, or what it is for good. */
function judgePlan(scene: Scene, path: string, given: PlanEntry, present: PlanEntry | undefined): void {
  const { sandbox = present?.sandbox ?? false, account, route } = given
  const refuse = (field: string, message: string) =>
    scene.faults.push(fault(`${path}.${field}`, 'NOT_ALLOWED', message))
  if (present !== undefined && sandbox !== present.sandbox)
    refuse('sandbox', `must be ${present.sandbox}: it cannot be changed`)
  if (present !== undefined && account !== undefined && account !== present.account)
    refuse('account', 'must be the account that it has: a service plan does not move')
  if (sandbox && route != null) refuse('route', 'must be absent: a sandbox plan has a route of its own')
}

function planColumns(scene: Scene, settings: Settings) {
  const { account, route, sandbox, rateLimit, inboundUrl, nationalLanguages, ...rest } = settings as Omit<
    PlanEntry,
    'optOut' | 'caps' | 'pumpingGuard'
  > & { optOut?: OptOutSettings | null; caps?: PlanCaps | null; pumpingGuard?: PumpingGuard | null }
  return {
    ...rest,
    ...rateLimitColumns(rateLimit),
    ...(inboundUrl !== undefined && { inboundUrl: scene.sealUrl(inboundUrl) }),
    ...(nationalLanguages !== undefined && { nationalLanguages: languageIdentifiers(nationalLanguages) }),
  }
}

function routeIdOf(scene: Scene, { route }: Settings): number | null {
  return route == null ? null : scene.keys.routes.get(route as string)!
}

type SenderEntry = Readonly<Record<string, { readonly status: string; readonly force?: boolean }>>

/** Keyed by plan, then by sender. */
export const SENDERS: Kind = {
  name: 'senders',
  noun: 'sender',
  required: [],
  names: { plans: ({ identity }) => [identity.split('/')[0]] },
  async read(scene) {
    const rows = await allSenderSubscriptions(scene.db)
    return mapInSlices(rows, ({ servicePlanId, sender, status }) => {
      const identity = `${servicePlanId}/${sender}`
      const name = `${scene.presentWith('plans', servicePlanId)!.name}/${sender}`
      return { identity, name, key: identity, settings: { status } }
    })
  },
  want({ name, path, value }, scene) {
    const plan = scene.refer('plans', path, name)
    return Object.entries(value as SenderEntry).map(([sender, given]) => {
      const own = `${path}.${sender}`
      // The name of the sender is the key, so its fault is one of the whole entry.
      for (const each of senderFaults(sender, given))
        scene.faults.push({ ...each, field: each.field === 'sender' ? own : `${own}.${each.field}` })
      if (plan === null) return null
      const { status } = given
      return { identity: `${plan}/${sender}`, name: `${name}/${sender}`, path: own, settings: { status } }
    })
  },
  create: (scene, objects) => putSenders(scene, objects),
  update: (scene, updates) =>
    putSenders(
      scene,
      updates.map(({ wanted }) => wanted),
    ),
  async delete(scene, objects) {
    await deleteSenderSubscriptions(
      scene.db,
      objects.map(({ identity }) => senderKey(scene, identity)),
    )
  },
}

/** A sender has no slash. */
function senderKey(scene: Scene, identity: string): { planId: number; sender: string } {
  const [plan, sender] = identity.split('/') as [string, string]
  return { planId: scene.keys.plans.get(plan)!, sender }
}

async function putSenders(scene: Scene, objects: readonly WantedObject[]): Promise<void> {
  const rows = objects.map(({ identity, settings }) => ({
    ...senderKey(scene, identity),
    status: settings.status as string,
  }))
  await putSenderSubscriptions(scene.db, rows)
}

/** A status that is not one of the usual ones needs `force` in a file too. */
export function senderInFile(status: unknown): Settings {
  return isUsualStatus(status as string) ? { status } : { status, force: true }
}

interface NumberEntry {
  readonly plan?: string
  readonly keywords?: readonly string[]
}

export const NUMBERS: Kind = {
  name: 'numbers',
  noun: inboundNumbers.noun,
  required: ['plan'],
  names: { plans: ({ settings }) => [settings.plan] },
  async read(scene) {
    const rows = await inboundNumbers.all(scene.db)
    return mapInSlices(rows, ({ number, servicePlanId: plan, keywords }) => {
      return { identity: number, name: number, key: number, settings: { plan, keywords } }
    })
  },
  want({ name, path, value }, scene) {
    const { plan: planName, keywords } = value as NumberEntry
    const plan = planName === undefined ? undefined : scene.refer('plans', `${path}.plan`, planName)
    scene.addFaults(path, keywordFaults(keywords ?? []))
    if (plan === null) return [null]
    return [{ identity: name, name, path, settings: definedOf({ plan, keywords }) }]
  },
  async create(scene, objects) {
    const rows = objects.map(({ identity: number, settings }) => {
      const { keywords } = settings as NumberEntry
      return { number, planId: planIdOf(scene, settings), ...(keywords && { keywords }) }
    })
    await inboundNumbers.insertAll(scene.db, rows)
  },
  update: updateIn(inboundNumbers, (scene, { plan, keywords }) => ({
    ...(plan !== undefined && { planId: planIdOf(scene, { plan }) }),
    ...(keywords !== undefined && { keywords }),
  })),
  delete: deleteFrom(inboundNumbers),
}

function planIdOf(scene: Scene, { plan }: Settings): number {
  return scene.keys.plans.get(plan as string)!
}

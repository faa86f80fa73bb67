import type { OptOutSettings } from '../../domain/configuration/configuration.ts'
import {
  completeCaps,
  completeGuard,
  limitFaults,
  type PlanCapsSetting,
  type PumpingGuardSetting,
} from '../../domain/limits/plan-limits.ts'
import {
  completeRateLimit,
  type RateLimitSetting,
  rateLimitColumns,
  rateLimitField,
} from '../../domain/limits/rate-limits.ts'
import { completeOptOut, optOutFaults } from '../../domain/opt-outs.ts'
import { SANDBOX, SANDBOX_RATE_LIMIT } from '../../domain/sandbox.ts'
import {
  languageIdentifiers,
  languageNames,
  type NationalLanguage,
} from '../../domain/text/gsm-national-tables.ts'
import { conflict, fault } from '../../errors.ts'
import type { Transaction } from '../../store/database.ts'
import {
  deleteServicePlans,
  type ServicePlanRecord,
  servicePlans,
  servicePlanUses,
} from '../../store/service-plans.ts'
import { lockedRow, sayConflicts } from '../manage/configuration-rows.ts'
import type { MessageReads } from '../read-messages.ts'
import { type Judging, TableKind } from './kind.ts'
import { keyOfSandboxRoute } from './sandbox.ts'

interface PlanSettings {
  readonly account?: string
  readonly sandbox?: boolean
  /** Null: the plan is incomplete and cannot send. A sandbox plan has the route of the sandbox, for good. */
  readonly route?: string | null
  readonly rateLimit?: RateLimitSetting | null
  readonly nationalLanguages?: readonly NationalLanguage[]
  /** Null: STOP, START and HELP are ordinary messages. */
  readonly optOut?: Partial<OptOutSettings> | null
  readonly caps?: PlanCapsSetting | null
  readonly pumpingGuard?: PumpingGuardSetting | null
  readonly allowedCountries?: readonly string[]
}

export const PLANS = new TableKind<ServicePlanRecord>({
  name: 'plans',
  table: servicePlans,
  idField: 'servicePlanId',
  urls: ['inboundUrl'],
  required: ['account'],
  references: { account: 'accounts', route: 'routes' },
  databaseKey: ({ id }) => id,
  settingsOf({ servicePlanId, accountId, id, routeId, createdAt, ...row }) {
    const { messagesPerSecond, burst, route, nationalLanguages, ...rest } = row
    return {
      account: accountId,
      ...rest,
      ...(!row.sandbox && { route }),
      rateLimit: rateLimitField({ messagesPerSecond, burst }),
      nationalLanguages: languageNames(nationalLanguages),
    }
  },
  judge(given, about) {
    const { faults, present } = about
    const { optOut: words, caps: most, pumpingGuard: guard } = given as PlanSettings
    const optOut = words && completeOptOut(words, (present?.optOut ?? null) as OptOutSettings | null)
    const caps = most && completeCaps(most)
    const pumpingGuard = guard && completeGuard(guard)
    if (optOut) faults.push(...optOutFaults(optOut))
    faults.push(...limitFaults({ ...(given as PlanSettings), caps, pumpingGuard }))
    judgeOwner(given, about)
    const { sandbox = present?.sandbox, route } = given
    const own = sandbox === true ? undefined : route
    return { ...given, route: own, optOut, caps, pumpingGuard, rateLimit: limitOf(given, present) }
  },
  columns(settings) {
    const { rateLimit, nationalLanguages } = settings as PlanSettings
    return {
      ...rateLimitColumns(rateLimit),
      ...(nationalLanguages !== undefined && { nationalLanguages: languageIdentifiers(nationalLanguages) }),
    }
  },
  newColumns: ({ settings }, { keys }) => settings.sandbox === true && { routeId: keys.routes.get(SANDBOX) },
  async prepare(scene, objects) {
    if (objects.some(({ settings }) => settings.sandbox === true))
      scene.keys.routes.set(SANDBOX, await keyOfSandboxRoute(scene.db, scene.secretKey))
  },
  async delete(scene, objects) {
    const ids = objects.map(({ identity }) => scene.keys.plans.get(identity)!)
    await deleteServicePlans(scene.db, ids)
  },
  refuseChange(plan, { route }) {
    if (plan.sandbox && route !== undefined) throw conflict('the route of a sandbox plan cannot be changed')
  },
})

/** Nobody pays for messages of a sandbox plan, so it always has a limit. */
function limitOf({ sandbox, rateLimit }: PlanSettings, present: PlanSettings | undefined) {
  const isSandbox = present === undefined ? sandbox === true : present.sandbox === true
  if (isSandbox && (rateLimit === null || (rateLimit === undefined && present === undefined)))
    return SANDBOX_RATE_LIMIT
  return rateLimit && completeRateLimit(rateLimit)
}

/** Settings of a plan that contradict each other, or what it is for good. */
function judgeOwner(given: PlanSettings, { present, isBroken, faults }: Judging): void {
  const { sandbox = present?.sandbox ?? false, account, route } = given
  const refuse = (field: string, message: string) => faults.push(fault(field, 'NOT_ALLOWED', message))
  if (present !== undefined && sandbox !== present.sandbox)
    refuse('sandbox', `must be ${present.sandbox}: it cannot be changed`)
  if (present !== undefined && !isBroken && account !== undefined && account !== present.account)
    refuse('account', 'must be the account that it has: a service plan does not move')
  if (sandbox && route != null) refuse('route', 'must be absent: a sandbox plan has a route of its own')
}

/** Removes a plan that nothing names: it has no senders, numbers, live tokens or messages. Others can be made inactive. */
export async function removeServicePlan(
  transaction: Transaction,
  servicePlanId: string,
  messages: Pick<MessageReads, 'plansInProgress'>,
): Promise<void> {
  const words = { inUse: 'the service plan still has senders or inbound numbers' }
  await sayConflicts(words, async () => {
    const plan = await lockedRow(transaction, servicePlans, servicePlanId)
    // Asked before the records are read, so that messages that move into them meanwhile are found there.
    const inProgress = await messages.plansInProgress([plan.id])
    const uses = (await servicePlanUses(transaction, [plan.id], inProgress)).get(plan.id)
    if (uses !== undefined) {
      throw conflict(`the service plan still has ${uses.join(' and ')}; make it inactive instead`)
    }
    await deleteServicePlans(transaction, [plan.id])
  })
}

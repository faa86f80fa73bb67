import { randomBytes } from 'node:crypto'
import type { OptOutSettings } from '../../domain/configuration/configuration.ts'
import { canonicalPublicId, publicId } from '../../domain/identifiers.ts'
import {
  completeCaps,
  completeGuard,
  limitFaults,
  type PlanCapsSetting,
  type PumpingGuardSetting,
} from '../../domain/limits/plan-limits.ts'
import { completeOptOut, optOutFaults } from '../../domain/opt-outs.ts'
import { SANDBOX_RATE_LIMIT } from '../../domain/sandbox.ts'
import type { SecretKeys } from '../../domain/secrets.ts'
import { conflict, invalidField, refuseAny } from '../../errors.ts'
import type { Transaction } from '../../store/database.ts'
import {
  deleteServicePlans,
  type NewServicePlan,
  type ServicePlanRecord,
  servicePlans,
  servicePlanUses,
} from '../../store/service-plans.ts'
import type { MessageReads } from '../read-messages.ts'
import {
  changeRow,
  keyOfAccount,
  keyOfAssignableRoute,
  lockedRow,
  sayConflicts,
} from './configuration-rows.ts'
import { keyOfSandboxRoute } from './sandbox.ts'

const GONE = 'the account or route was removed meanwhile'

/** Null: STOP, START and HELP are ordinary messages. */
type OptOutChange = Partial<OptOutSettings> | null

/** Settings as operators give them. Those that are not given keep their values, or have defaults. `route` by name. */
export interface GivenPlan extends Partial<Omit<NewServicePlan, 'optOut' | 'caps' | 'pumpingGuard'>> {
  readonly route?: string | null
  readonly optOut?: OptOutChange
  readonly caps?: PlanCapsSetting | null
  readonly pumpingGuard?: PumpingGuardSetting | null
}

/** `route` by name; null: the plan is incomplete and cannot send. A sandbox plan has the route of the sandbox, for good. */
export async function createServicePlan(
  transaction: Transaction,
  secretKey: SecretKeys,
  input: GivenPlan & { name: string; accountId: string; servicePlanId?: string; sandbox?: boolean },
): Promise<ServicePlanRecord> {
  const servicePlanId = canonicalPublicId(input.servicePlanId ?? publicId(randomBytes(12)))
  const optOut = optOutOf(input.optOut ?? null, null)
  const caps = completeCaps(input.caps ?? null)
  const pumpingGuard = completeGuard(input.pumpingGuard ?? null)
  refuseAny(limitFaults({ ...input, caps, pumpingGuard }))
  if (input.sandbox === true && input.route != null)
    throw invalidField('route', 'NOT_ALLOWED', 'must be absent: a sandbox plan has a route of its own')
  const words = { taken: `service plan ${servicePlanId} exists already`, inUse: GONE }
  return sayConflicts(words, async () => {
    const account = await keyOfAccount(transaction, input.accountId)
    const routeId =
      input.sandbox === true
        ? await keyOfSandboxRoute(transaction, secretKey)
        : await routeIdOf(transaction, input.route ?? null)
    const limit = input.sandbox === true ? sandboxLimit(input.messagesPerSecond ?? null) : {}
    return servicePlans.insert(transaction, {
      ...input,
      ...limit,
      optOut,
      caps,
      pumpingGuard,
      servicePlanId,
      account,
      routeId,
    })
  })
}

/** Settings that are not in `change` keep their values. A plan does not move to another account. */
export async function updateServicePlan(
  transaction: Transaction,
  servicePlanId: string,
  change: GivenPlan,
): Promise<ServicePlanRecord> {
  return sayConflicts({ inUse: GONE }, async () => {
    const plan = await lockedRow(transaction, servicePlans, servicePlanId)
    if (plan.sandbox && change.route !== undefined)
      throw conflict('the route of a sandbox plan cannot be changed')
    const routeId = change.route === undefined ? plan.routeId : await routeIdOf(transaction, change.route)
    const optOut = change.optOut === undefined ? plan.optOut : optOutOf(change.optOut, plan.optOut)
    const caps = change.caps === undefined ? plan.caps : completeCaps(change.caps)
    const pumpingGuard =
      change.pumpingGuard === undefined ? plan.pumpingGuard : completeGuard(change.pumpingGuard)
    refuseAny(limitFaults({ allowedCountries: change.allowedCountries, caps, pumpingGuard }))
    const limit = plan.sandbox ? sandboxLimit(change.messagesPerSecond) : {}
    const columns = { ...change, ...limit, optOut, caps, pumpingGuard, routeId }
    return changeRow(transaction, servicePlans, servicePlanId, columns)
  })
}

/** Nobody pays for messages of a sandbox plan, so it has a limit even if null is asked for. */
function sandboxLimit(messagesPerSecond: number | null | undefined) {
  return messagesPerSecond === null ? SANDBOX_RATE_LIMIT : {}
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

function optOutOf(change: OptOutChange, present: OptOutSettings | null): OptOutSettings | null {
  const settings = completeOptOut(change, present)
  if (settings !== null) refuseAny(optOutFaults(settings))
  return settings
}

async function routeIdOf(transaction: Transaction, name: string | null): Promise<number | null> {
  return name === null ? null : keyOfAssignableRoute(transaction, name)
}

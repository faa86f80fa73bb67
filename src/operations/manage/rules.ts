import type { RecipientMatch } from '../../domain/configuration/configuration.ts'
import { classifySender, type SenderType } from '../../domain/messages/addresses.ts'
import { recipientMatchFaults } from '../../domain/routing/recipients.ts'
import { type Fault, fault, refuseAny, WHOLE_REQUEST } from '../../errors.ts'
import type { Transaction } from '../../store/database.ts'
import {
  type RoutingRuleRecord,
  routingRules,
  type SenderRuleRecord,
  senderRules,
} from '../../store/rules.ts'
import {
  changeRow,
  keyOfAssignableRoute,
  keyOfPlanOrAll,
  lockedRow,
  PLAN_GONE,
  refuseMore,
  sayConflicts,
} from './configuration-rows.ts'

/** Every node keeps all of them in memory. */
export const MAX_ROUTING_RULES = 100_000

const GONE = 'the service plan or the route was removed meanwhile'

/** What a rule is limited to; null: no limit. */
interface RoutingRuleInput extends RecipientMatch {
  readonly servicePlanId: string | null
  readonly from: string | null
  readonly route: string
}

/** Creates a rule. No two rules may have the same limits. */
export async function createRoutingRule(
  transaction: Transaction,
  input: RoutingRuleInput,
): Promise<RoutingRuleRecord> {
  refuseAny(routingRuleFaults(input))
  const words = { taken: 'there is a rule with these limits already', inUse: GONE }
  return sayConflicts(words, async () => {
    const rule = await routingRules.insert(transaction, {
      ...input,
      planId: await keyOfPlanOrAll(transaction, input.servicePlanId),
      routeId: await keyOfAssignableRoute(transaction, input.route),
    })
    await refuseMore(transaction, routingRules, MAX_ROUTING_RULES)
    return rule
  })
}

/** A rule's limits identify it, so only its route can change. */
export async function updateRoutingRule(
  transaction: Transaction,
  ruleId: string,
  { route }: { route: string },
): Promise<RoutingRuleRecord> {
  return sayConflicts({ inUse: GONE }, async () => {
    await lockedRow(transaction, routingRules, ruleId)
    const routeId = await keyOfAssignableRoute(transaction, route)
    return changeRow(transaction, routingRules, ruleId, { routeId })
  })
}

/** Faults in the limits of a rule that their schemas cannot express. */
export function routingRuleFaults(input: Omit<RoutingRuleInput, 'route'>): Fault[] {
  const { servicePlanId, from, prefix, country, mccmnc } = input
  const faults = recipientMatchFaults(input)
  if (from !== null && classifySender(from) === null)
    faults.push(fault('from', 'INVALID_FORMAT', 'must be a sender: 3-8 digits, E.164, or 1-11 characters'))
  if ([servicePlanId, from, prefix, country, mccmnc].every((limit) => limit === null))
    faults.push(
      fault(WHOLE_REQUEST, 'REQUIRED', 'must have one of servicePlanId, from, prefix, country and mccmnc'),
    )
  return faults
}

/** A rule for each country, for some hundred plans. Every node keeps all in memory. */
export const MAX_SENDER_RULES = 50_000

/** Says which types of sender a plan (null: every plan without a rule of its own) may use towards a country. */
export async function createSenderRule(
  transaction: Transaction,
  input: { servicePlanId: string | null; country: string; senderTypes: readonly SenderType[] },
): Promise<SenderRuleRecord> {
  refuseAny(recipientMatchFaults({ prefix: null, mccmnc: null, country: input.country }))
  const words = { taken: 'a sender rule of this plan and country exists already', inUse: PLAN_GONE }
  return sayConflicts(words, async () => {
    const planId = await keyOfPlanOrAll(transaction, input.servicePlanId)
    const rule = await senderRules.insert(transaction, { ...input, planId })
    await refuseMore(transaction, senderRules, MAX_SENDER_RULES)
    return rule
  })
}

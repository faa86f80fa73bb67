import { classifySender } from '../../domain/messages/addresses.ts'
import { recipientMatchFaults } from '../../domain/routing/recipients.ts'
import { fault, WHOLE_REQUEST } from '../../errors.ts'
import {
  type RoutingRuleRecord,
  routingRules,
  type SenderRuleRecord,
  senderRules,
} from '../../store/rules.ts'
import { matchOf, ruleKind } from './rule-kind.ts'

/** Every node keeps all of them in memory. */
const MAX_ROUTING_RULES = 100_000

export const RULES = ruleKind<RoutingRuleRecord>({
  name: 'rules',
  table: routingRules,
  numberField: 'ruleId',
  most: MAX_ROUTING_RULES,
  required: ['route'],
  references: { route: 'routes' },
  settingsOf({ servicePlanId: plan, from, prefix, country, mccmnc, route }) {
    return { plan, from, prefix, country, mccmnc, route }
  },
  judge(given, { isBroken, faults }) {
    const { plan, from, prefix, country, mccmnc } = given
    faults.push(...recipientMatchFaults(matchOf(given)))
    if (from != null && classifySender(from) === null)
      faults.push(fault('from', 'INVALID_FORMAT', 'must be a sender: 3-8 digits, E.164, or 1-11 characters'))
    if (!isBroken && [plan, from, prefix, country, mccmnc].every((limit) => limit == null))
      faults.push(
        fault(WHOLE_REQUEST, 'REQUIRED', 'must have one of servicePlanId, from, prefix, country and mccmnc'),
      )
    return given
  },
})

/** A rule for each country, for some hundred plans. Every node keeps all in memory. */
export const MAX_SENDER_RULES = 50_000

/** Which types of sender a plan, or every plan without a rule of its own, may use towards a country. */
export const SENDER_RULES = ruleKind<SenderRuleRecord>({
  name: 'senderRules',
  table: senderRules,
  numberField: 'ruleId',
  most: MAX_SENDER_RULES,
  required: ['senderTypes'],
  settingsOf: ({ servicePlanId: plan, country, senderTypes }) => ({ plan, country, senderTypes }),
  judge(given, { faults }) {
    faults.push(...recipientMatchFaults(matchOf(given)))
    return given
  },
})

import type { TString } from 'typebox'
import { SENDER_TYPES } from '../../../domain/messages/addresses.ts'
import { RULES, SENDER_RULES } from '../../../operations/configuration/rules.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { Nullable, requestBody, titled } from '../../schemas/shapes.ts'
import {
  CountryCode,
  described,
  LinkName,
  Mccmnc,
  NullableText,
  NumberPrefix,
  octetString,
  PlanOrAll,
  pageQuery,
  RuleId,
  ServicePlanId,
  Timestamp,
} from './fields.ts'
import type { AdminDeps, AdminScope } from './operations.ts'
import { AT_ONCE, addConfigured } from './resource.ts'

/** As long as a sender may be. Whether it is a valid sender is judged when a rule is written. */
const Sender = octetString(16, 1)
const RouteName = described(LinkName, 'Name of the route')
export const RoutingRuleCreation = requestBody(
  'RoutingRuleCreation',
  {
    servicePlanId: Type.Optional(Nullable(PlanOrAll)),
    from: Type.Optional(Nullable(described(Sender, 'Sender of the messages; null: any'))),
    prefix: Type.Optional(Nullable(NumberPrefix)),
    country: Type.Optional(Nullable(CountryCode)),
    mccmnc: Type.Optional(Nullable(Mccmnc)),
    route: RouteName,
  },
  { servicePlanId: '65f0c0ffee65f0c0ffee65f0', country: 'GB', route: 'main' },
)
const RoutingRuleChange = requestBody('RoutingRuleChange', { route: RouteName }, { route: 'main' })
const RoutingRule = titled('RoutingRule', {
  ruleId: Type.Integer(),
  servicePlanId: NullableText,
  from: NullableText,
  prefix: NullableText,
  country: NullableText,
  mccmnc: NullableText,
  route: Type.String(),
  createdAt: Timestamp,
})

const RoutingRuleQuery = pageQuery(RuleId, {
  servicePlanId: Type.Optional(ServicePlanId),
  route: Type.Optional({ ...LinkName, examples: ['main'] } as TString),
})

export function registerRoutingRules(scope: AdminScope, deps: AdminDeps): void {
  addConfigured(scope, deps, {
    kind: RULES,
    path: '/routing-rules',
    texts: {
      create:
        "Overrides the plan's route for messages of a service plan, from a sender, or to a network, prefix or country. The most specific rule applies.",
      show: 'Returns what it applies to and its route.',
      change: 'What the rule applies to cannot be changed.',
      remove: `Messages take the next rule that applies, or the route of their plan. ${AT_ONCE}`,
    },
    key: 'ruleId',
    keyField: RuleId,
    item: RoutingRule,
    creation: RoutingRuleCreation,
    change: RoutingRuleChange,
    query: RoutingRuleQuery,
    present: (rule) => rule,
  })
}

const SenderTypes = Type.Array(Type.Enum([...SENDER_TYPES], { title: 'SenderType' }), {
  uniqueItems: true,
  description: 'Types of sender to allow; empty: allow no sender in this country',
})
export const SenderRuleCreation = requestBody(
  'SenderRuleCreation',
  { servicePlanId: Type.Optional(Nullable(PlanOrAll)), country: CountryCode, senderTypes: SenderTypes },
  { country: 'GB', senderTypes: ['alphanumeric', 'e164'] },
)
const SenderRuleChange = requestBody(
  'SenderRuleChange',
  { senderTypes: SenderTypes },
  { senderTypes: ['alphanumeric'] },
)
const SenderRuleQuery = pageQuery(RuleId, {
  servicePlanId: Type.Optional(ServicePlanId),
  country: Type.Optional(CountryCode),
})
const SenderRule = titled('SenderRule', {
  ruleId: Type.Integer(),
  servicePlanId: Nullable(Type.String({ description: 'null: every plan without a rule of its own' })),
  country: Type.String(),
  senderTypes: Type.Array(Type.String()),
  createdAt: Timestamp,
})

export function registerSenderRules(scope: AdminScope, deps: AdminDeps): void {
  addConfigured(scope, deps, {
    kind: SENDER_RULES,
    path: '/sender-rules',
    texts: {
      create: 'Sets which types of sender are allowed for recipients in a country.',
      show: 'Returns its country and the types of sender that it allows.',
      remove: 'Senders are judged by the next rule that applies, if any, and by the service plan.',
    },
    key: 'ruleId',
    keyField: RuleId,
    item: SenderRule,
    creation: SenderRuleCreation,
    change: SenderRuleChange,
    query: SenderRuleQuery,
    present: (rule) => rule,
  })
}

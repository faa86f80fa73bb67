import { Type } from 'typebox'
import { createRoutingRule, updateRoutingRule } from '../../../operations/manage/routing-rules.ts'
import { type RoutingRuleRecord, routingRules } from '../../../store/routing-rules.ts'
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
import { AT_ONCE, addChange, addCreate, addReads, addRemoval, type Resource } from './resource.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

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
const Change = requestBody('RoutingRuleChange', { route: RouteName }, { route: 'main' })
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

const Query = pageQuery(RuleId, {
  servicePlanId: Type.Optional(ServicePlanId),
  route: Type.Optional({ ...LinkName, examples: ['main'] } as Type.TString),
})

const UNLIMITED = { servicePlanId: null, from: null, prefix: null, country: null, mccmnc: null }

const RULES: Resource<typeof RoutingRule, RoutingRuleRecord> = {
  table: routingRules,
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
  present: (rule) => rule,
}

export function registerRoutingRules(scope: AdminScope, deps: AdminDeps): void {
  addCreate(scope, deps, RULES, RoutingRuleCreation, (transaction, body) =>
    createRoutingRule(transaction, { ...UNLIMITED, ...body }),
  )
  addReads(scope, deps, RULES, Query)
  addChange(scope, deps, RULES, Change, updateRoutingRule)
  addRemoval(scope, deps, RULES)
}

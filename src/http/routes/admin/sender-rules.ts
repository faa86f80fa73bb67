import { Type } from 'typebox'
import { SENDER_TYPES } from '../../../domain/messages/addresses.ts'
import { changeRow } from '../../../operations/manage/configuration-rows.ts'
import { createSenderRule } from '../../../operations/manage/sender-rules.ts'
import { type SenderRuleRecord, senderRules } from '../../../store/sender-rules.ts'
import { Nullable, requestBody, titled } from '../../schemas/shapes.ts'
import { CountryCode, PlanOrAll, pageQuery, RuleId, ServicePlanId, Timestamp } from './fields.ts'
import { addChange, addCreate, addReads, addRemoval, type Resource } from './resource.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const SenderTypes = Type.Array(Type.Enum([...SENDER_TYPES], { title: 'SenderType' }), {
  uniqueItems: true,
  description: 'Types of sender to allow; empty: allow no sender in this country',
})
export const SenderRuleCreation = requestBody(
  'SenderRuleCreation',
  { servicePlanId: Type.Optional(Nullable(PlanOrAll)), country: CountryCode, senderTypes: SenderTypes },
  { country: 'GB', senderTypes: ['alphanumeric', 'e164'] },
)
const Change = requestBody(
  'SenderRuleChange',
  { senderTypes: SenderTypes },
  { senderTypes: ['alphanumeric'] },
)
const Query = pageQuery(RuleId, {
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

const RULES: Resource<typeof SenderRule, SenderRuleRecord> = {
  table: senderRules,
  path: '/sender-rules',
  texts: {
    create: 'Sets which types of sender are allowed for recipients in a country.',
    show: 'Returns its country and the types of sender that it allows.',
    remove: 'Senders are judged by the next rule that applies, if any, and by the service plan.',
  },
  key: 'ruleId',
  keyField: RuleId,
  item: SenderRule,
  present: (rule) => rule,
}

export function registerSenderRules(scope: AdminScope, deps: AdminDeps): void {
  addCreate(scope, deps, RULES, SenderRuleCreation, (transaction, body) =>
    createSenderRule(transaction, { servicePlanId: null, ...body }),
  )
  addReads(scope, deps, RULES, Query)
  addChange(scope, deps, RULES, Change, (transaction, ruleId, body) =>
    changeRow(transaction, senderRules, ruleId, body),
  )
  addRemoval(scope, deps, RULES)
}

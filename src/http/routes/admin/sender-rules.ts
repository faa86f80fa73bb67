import { Type } from 'typebox'
import { SENDER_KINDS } from '../../../domain/settings.ts'
import { createSenderRule } from '../../../operations/manage-sender-rules.ts'
import { changeRow } from '../../../operations/refuse-administration.ts'
import { type SenderRuleRecord, senderRules } from '../../../store/sender-rules.ts'
import { CountryCode, Nullable, PublicId, pageQuery, RowId, Timestamp } from './fields.ts'
import { addChange, addCreate, addReads, addRemoval, type Resource } from './resource.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const SenderTypes = Type.Array(Type.Enum([...SENDER_KINDS], { title: 'SenderKind' }), {
  uniqueItems: true,
  description: 'none: no sender at all',
})
const Creation = Type.Object(
  { servicePlanId: Type.Optional(Nullable(PublicId)), country: CountryCode, senderTypes: SenderTypes },
  {
    title: 'SenderRuleCreation',
    examples: [{ country: 'GB', senderTypes: ['alphanumeric', 'e164'] }],
    additionalProperties: false,
  },
)
const Change = Type.Object(
  { senderTypes: SenderTypes },
  { title: 'SenderRuleChange', examples: [{ senderTypes: ['alphanumeric'] }], additionalProperties: false },
)
const Query = pageQuery(RowId, {
  servicePlanId: Type.Optional(PublicId),
  country: Type.Optional(CountryCode),
})
const SenderRule = Type.Object(
  {
    ruleId: Type.Integer(),
    servicePlanId: Nullable(Type.String({ description: 'null: every plan without a rule of its own' })),
    country: Type.String(),
    senderTypes: Type.Array(Type.String()),
    createdAt: Timestamp,
  },
  { title: 'SenderRule' },
)

const RULES: Resource<typeof SenderRule, SenderRuleRecord> = {
  table: senderRules,
  path: '/sender-rules',
  key: 'ruleId',
  keyField: RowId,
  item: SenderRule,
  keyOf: (rule) => String(rule.ruleId),
  present: (rule) => ({
    ...rule,
    senderTypes: [...rule.senderTypes],
    createdAt: rule.createdAt.toISOString(),
  }),
}

export function registerSenderRules(scope: AdminScope, deps: AdminDeps): void {
  const { db } = deps
  addCreate(scope, RULES, Creation, (body) => createSenderRule(db, { servicePlanId: null, ...body }))
  addReads(scope, deps, RULES, Query)
  addChange(scope, RULES, Change, (ruleId, body) => changeRow(db, senderRules, ruleId, body))
  addRemoval(scope, deps, RULES)
}

import { Type } from 'typebox'
import { canonicalPublicId } from '../../../domain/identifiers.ts'
import { SENDER_KINDS } from '../../../domain/settings.ts'
import {
  changeSenderRule,
  createSenderRule,
  removeSenderRule,
} from '../../../operations/manage-sender-rules.ts'
import { refuseMissing } from '../../../operations/refuse-administration.ts'
import { findSenderRule, listSenderRules, type SenderRuleRecord } from '../../../store/sender-rules.ts'
import {
  CountryCode,
  limitOf,
  Nullable,
  PublicId,
  page,
  pageOf,
  pageQuery,
  RowId,
  Timestamp,
} from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const SenderTypes = Type.Array(Type.Enum([...SENDER_KINDS]), {
  uniqueItems: true,
  description: 'none: no sender at all',
})
const Creation = Type.Object(
  { servicePlanId: Type.Optional(Nullable(PublicId)), country: CountryCode, senderTypes: SenderTypes },
  { additionalProperties: false },
)
const Change = Type.Object({ senderTypes: SenderTypes }, { additionalProperties: false })
const Params = Type.Object({ ruleId: RowId })
const SenderRule = Type.Object({
  ruleId: Type.Integer(),
  servicePlanId: Nullable(Type.String({ description: 'null: every plan without a rule of its own' })),
  country: Type.String(),
  senderTypes: Type.Array(Type.String()),
  createdAt: Timestamp,
})

export function registerSenderRules(scope: AdminScope, { db }: AdminDeps): void {
  const tags = ['sender rules']

  scope.post(
    '/sender-rules',
    { schema: { tags, body: Creation, response: answers(201, SenderRule) } },
    async ({ body }, reply) => {
      const rule = await createSenderRule(db, { servicePlanId: null, ...body })
      reply.code(201).header('location', `/admin/v1/sender-rules/${rule.ruleId}`)
      return present(rule)
    },
  )

  const Query = pageQuery(RowId, {
    servicePlanId: Type.Optional(PublicId),
    country: Type.Optional(CountryCode),
  })
  scope.get(
    '/sender-rules',
    { schema: { tags, querystring: Query, response: answers(200, pageOf(SenderRule)) } },
    async ({ query }) => {
      const { shown, fetched } = limitOf(query)
      const rows = await listSenderRules(db, {
        after: Number(query.after ?? 0),
        limit: fetched,
        servicePlanId: query.servicePlanId === undefined ? null : canonicalPublicId(query.servicePlanId),
        country: query.country ?? null,
      })
      return page(rows, shown, (row) => String(row.ruleId), present)
    },
  )

  scope.get(
    '/sender-rules/:ruleId',
    { schema: { tags, params: Params, response: answers(200, SenderRule) } },
    async ({ params }) => {
      const rule = await findSenderRule(db, Number(params.ruleId))
      if (rule === undefined) throw refuseMissing('sender rule')
      return present(rule)
    },
  )

  scope.patch(
    '/sender-rules/:ruleId',
    { schema: { tags, params: Params, body: Change, response: answers(200, SenderRule) } },
    async ({ params, body }) => present(await changeSenderRule(db, Number(params.ruleId), body.senderTypes)),
  )

  scope.delete(
    '/sender-rules/:ruleId',
    { schema: { tags, params: Params, response: answers(204, Type.Null()) } },
    async ({ params }, reply) => {
      await removeSenderRule(db, Number(params.ruleId))
      return reply.code(204).send(null)
    },
  )
}

function present(rule: SenderRuleRecord) {
  return { ...rule, senderTypes: [...rule.senderTypes], createdAt: rule.createdAt.toISOString() }
}

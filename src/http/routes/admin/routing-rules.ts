import { Type } from 'typebox'
import { canonicalPublicId } from '../../../domain/identifiers.ts'
import {
  changeRoutingRule,
  createRoutingRule,
  removeRoutingRule,
} from '../../../operations/manage-routing-rules.ts'
import { refuseMissing } from '../../../operations/refuse-administration.ts'
import { findRoutingRule, listRoutingRules, type RoutingRuleRecord } from '../../../store/routing-rules.ts'
import {
  CountryCode,
  LinkName,
  limitOf,
  Mccmnc,
  Nullable,
  NumberPrefix,
  octetString,
  PublicId,
  page,
  pageOf,
  pageQuery,
  RowId,
  Timestamp,
} from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

/** As long as a sender may be; whether it is one is judged when a rule is written. */
const Sender = octetString(16, 1)
const Creation = Type.Object(
  {
    servicePlanId: Type.Optional(Nullable(PublicId)),
    from: Type.Optional(Nullable(Sender)),
    prefix: Type.Optional(Nullable(NumberPrefix)),
    country: Type.Optional(Nullable(CountryCode)),
    mccmnc: Type.Optional(Nullable(Mccmnc)),
    route: LinkName,
  },
  { additionalProperties: false },
)
const Change = Type.Object({ route: LinkName }, { additionalProperties: false })
const Params = Type.Object({ ruleId: RowId })
const NullableText = Nullable(Type.String())
const RoutingRule = Type.Object({
  ruleId: Type.Integer(),
  servicePlanId: NullableText,
  from: NullableText,
  prefix: NullableText,
  country: NullableText,
  mccmnc: NullableText,
  route: Type.String(),
  createdAt: Timestamp,
})

const UNLIMITED = { servicePlanId: null, from: null, prefix: null, country: null, mccmnc: null }

export function registerRoutingRules(scope: AdminScope, { db }: AdminDeps): void {
  const tags = ['routing rules']

  scope.post(
    '/routing-rules',
    { schema: { tags, body: Creation, response: answers(201, RoutingRule) } },
    async ({ body }, reply) => {
      const rule = await createRoutingRule(db, { ...UNLIMITED, ...body })
      reply.code(201).header('location', `/admin/v1/routing-rules/${rule.ruleId}`)
      return present(rule)
    },
  )

  const Query = pageQuery(RowId, {
    servicePlanId: Type.Optional(PublicId),
    route: Type.Optional(LinkName),
  })
  scope.get(
    '/routing-rules',
    { schema: { tags, querystring: Query, response: answers(200, pageOf(RoutingRule)) } },
    async ({ query }) => {
      const { shown, fetched } = limitOf(query)
      const rows = await listRoutingRules(db, {
        after: Number(query.after ?? 0),
        limit: fetched,
        servicePlanId: query.servicePlanId === undefined ? null : canonicalPublicId(query.servicePlanId),
        route: query.route ?? null,
      })
      return page(rows, shown, (row) => String(row.ruleId), present)
    },
  )

  scope.get(
    '/routing-rules/:ruleId',
    { schema: { tags, params: Params, response: answers(200, RoutingRule) } },
    async ({ params }) => {
      const rule = await findRoutingRule(db, Number(params.ruleId))
      if (rule === undefined) throw refuseMissing('routing rule')
      return present(rule)
    },
  )

  scope.patch(
    '/routing-rules/:ruleId',
    { schema: { tags, params: Params, body: Change, response: answers(200, RoutingRule) } },
    async ({ params, body }) => present(await changeRoutingRule(db, Number(params.ruleId), body)),
  )

  scope.delete(
    '/routing-rules/:ruleId',
    { schema: { tags, params: Params, response: answers(204, Type.Null()) } },
    async ({ params }, reply) => {
      await removeRoutingRule(db, Number(params.ruleId))
      return reply.code(204).send(null)
    },
  )
}

function present(rule: RoutingRuleRecord) {
  return { ...rule, createdAt: rule.createdAt.toISOString() }
}

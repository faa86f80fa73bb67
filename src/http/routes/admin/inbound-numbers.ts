import { Type } from 'typebox'
import { canonicalPublicId } from '../../../domain/identifiers.ts'
import {
  changeInboundNumber,
  createInboundNumber,
  removeInboundNumber,
} from '../../../operations/manage-inbound-numbers.ts'
import { refuseMissing } from '../../../operations/refuse-administration.ts'
import {
  findInboundNumber,
  type InboundNumberRecord,
  listInboundNumbers,
} from '../../../store/inbound-numbers.ts'
import {
  InboundNumberField,
  Keyword,
  limitOf,
  PublicId,
  page,
  pageOf,
  pageQuery,
  Timestamp,
} from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const Keywords = Type.Array(Keyword, { maxItems: 100 })
const Creation = Type.Object(
  { number: InboundNumberField, servicePlanId: PublicId, keywords: Type.Optional(Keywords) },
  { additionalProperties: false },
)
const Change = Type.Object(
  { servicePlanId: Type.Optional(PublicId), keywords: Type.Optional(Keywords) },
  { additionalProperties: false, minProperties: 1 },
)
const Params = Type.Object({ number: InboundNumberField })
const InboundNumber = Type.Object({
  number: Type.String(),
  servicePlanId: Type.String(),
  keywords: Type.Array(Type.String()),
  createdAt: Timestamp,
})

export function registerInboundNumbers(scope: AdminScope, { db }: AdminDeps): void {
  const tags = ['inbound numbers']

  scope.post(
    '/inbound-numbers',
    { schema: { tags, body: Creation, response: answers(201, InboundNumber) } },
    async ({ body }, reply) => {
      const record = await createInboundNumber(db, { keywords: [], ...body })
      reply.code(201).header('location', `/admin/v1/inbound-numbers/${record.number}`)
      return present(record)
    },
  )

  const Query = pageQuery(InboundNumberField, { servicePlanId: Type.Optional(PublicId) })
  scope.get(
    '/inbound-numbers',
    { schema: { tags, querystring: Query, response: answers(200, pageOf(InboundNumber)) } },
    async ({ query }) => {
      const { shown, fetched } = limitOf(query)
      const servicePlanId = query.servicePlanId === undefined ? null : canonicalPublicId(query.servicePlanId)
      const rows = await listInboundNumbers(db, { after: query.after ?? '', limit: fetched, servicePlanId })
      return page(rows, shown, (row) => row.number, present)
    },
  )

  scope.get(
    '/inbound-numbers/:number',
    { schema: { tags, params: Params, response: answers(200, InboundNumber) } },
    async ({ params }) => {
      const record = await findInboundNumber(db, params.number)
      if (record === undefined) throw refuseMissing('inbound number')
      return present(record)
    },
  )

  scope.patch(
    '/inbound-numbers/:number',
    { schema: { tags, params: Params, body: Change, response: answers(200, InboundNumber) } },
    async ({ params, body }) => present(await changeInboundNumber(db, params.number, body)),
  )

  scope.delete(
    '/inbound-numbers/:number',
    { schema: { tags, params: Params, response: answers(204, Type.Null()) } },
    async ({ params }, reply) => {
      await removeInboundNumber(db, params.number)
      return reply.code(204).send(null)
    },
  )
}

function present(record: InboundNumberRecord) {
  return { ...record, keywords: [...record.keywords], createdAt: record.createdAt.toISOString() }
}

import { Type } from 'typebox'
import { putNumberRanges, removeNumberRange } from '../../../operations/manage-number-ranges.ts'
import { refuseMissing } from '../../../operations/refuse-administration.ts'
import { findNumberRange, listNumberRanges, type NumberRangeRecord } from '../../../store/number-ranges.ts'
import { limitOf, Mccmnc, NumberPrefix, page, pageOf, pageQuery, Timestamp } from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const Body = Type.Object({ mccmnc: Mccmnc }, { additionalProperties: false })
/** 1,000 of the longest take 54 kB; a body may have 64 KiB. */
const Import = Type.Object(
  {
    ranges: Type.Array(
      Type.Object({ prefix: NumberPrefix, mccmnc: Mccmnc }, { additionalProperties: false }),
      { minItems: 1, maxItems: 1_000 },
    ),
  },
  { additionalProperties: false },
)
const Imported = Type.Object({ created: Type.Integer(), changed: Type.Integer() })
const Params = Type.Object({ prefix: NumberPrefix })
const NumberRange = Type.Object({ prefix: Type.String(), mccmnc: Type.String(), createdAt: Timestamp })

export function registerNumberRanges(scope: AdminScope, { db }: AdminDeps): void {
  const tags = ['number ranges']

  scope.post(
    '/number-ranges/import',
    { schema: { tags, body: Import, response: answers(200, Imported) } },
    async ({ body }) => {
      const created = await putNumberRanges(db, body.ranges)
      return { created, changed: body.ranges.length - created }
    },
  )

  const Query = pageQuery(NumberPrefix, { mccmnc: Type.Optional(Mccmnc) })
  scope.get(
    '/number-ranges',
    { schema: { tags, querystring: Query, response: answers(200, pageOf(NumberRange)) } },
    async ({ query }) => {
      const { shown, fetched } = limitOf(query)
      const filters = { after: query.after ?? '', limit: fetched, mccmnc: query.mccmnc ?? null }
      return page(await listNumberRanges(db, filters), shown, (row) => row.prefix, present)
    },
  )

  scope.put(
    '/number-ranges/:prefix',
    {
      schema: {
        tags,
        params: Params,
        body: Body,
        response: { ...answers(200, NumberRange), ...answers(201, NumberRange) },
      },
    },
    async ({ params, body }, reply) => {
      const created = await putNumberRanges(db, [{ prefix: params.prefix, mccmnc: body.mccmnc }])
      reply.code(created === 1 ? 201 : 200)
      return found(params.prefix)
    },
  )

  scope.get(
    '/number-ranges/:prefix',
    { schema: { tags, params: Params, response: answers(200, NumberRange) } },
    async ({ params }) => found(params.prefix),
  )

  scope.delete(
    '/number-ranges/:prefix',
    { schema: { tags, params: Params, response: answers(204, Type.Null()) } },
    async ({ params }, reply) => {
      await removeNumberRange(db, params.prefix)
      return reply.code(204).send(null)
    },
  )

  async function found(prefix: string) {
    const range = await findNumberRange(db, prefix)
    if (range === undefined) throw refuseMissing('number range')
    return present(range)
  }
}

function present(range: NumberRangeRecord) {
  return { ...range, createdAt: range.createdAt.toISOString() }
}

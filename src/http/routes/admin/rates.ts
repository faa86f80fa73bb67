import { Type } from 'typebox'
import { canonicalPublicId } from '../../../domain/identifiers.ts'
import { changeRate, createRate, importRates, removeRate } from '../../../operations/manage-rates.ts'
import { refuseMissing } from '../../../operations/refuse-administration.ts'
import { findRate, listRates, type RateRecord } from '../../../store/rates.ts'
import {
  Amount,
  CountryCode,
  CurrencyCode,
  limitOf,
  Mccmnc,
  Nullable,
  NumberPrefix,
  PublicId,
  page,
  pageOf,
  pageQuery,
  RowId,
  Timestamp,
} from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const DECIMAL = 'decimal, for one segment'
const Creation = Type.Object(
  {
    servicePlanId: Type.Optional(Nullable(PublicId)),
    prefix: Type.Optional(Nullable(NumberPrefix)),
    country: Type.Optional(Nullable(CountryCode)),
    mccmnc: Type.Optional(Nullable(Mccmnc)),
    price: Amount,
    ptf: Type.Optional(Amount),
    currency: CurrencyCode,
  },
  { additionalProperties: false },
)
const Change = Type.Object(
  { price: Type.Optional(Amount), ptf: Type.Optional(Amount), currency: Type.Optional(CurrencyCode) },
  { additionalProperties: false, minProperties: 1 },
)
const Import = Type.Object(
  { rates: Type.Array(Creation, { minItems: 1, maxItems: 1_000 }) },
  { additionalProperties: false },
)
/** 1,000 rates of some 170 bytes. */
const IMPORT_BYTES = 256 * 1024
const Params = Type.Object({ rateId: RowId })
const Rate = Type.Object({
  rateId: Type.Integer(),
  servicePlanId: Nullable(
    Type.String({ description: 'null: every plan without a rate of its own that fits' }),
  ),
  prefix: Nullable(Type.String()),
  country: Nullable(Type.String()),
  mccmnc: Nullable(Type.String()),
  price: Type.String({ description: DECIMAL }),
  ptf: Type.String({ description: `pass-through fee: ${DECIMAL}` }),
  currency: Type.String(),
  createdAt: Timestamp,
})
const Imported = Type.Object({ created: Type.Integer(), changed: Type.Integer() })

export function registerRates(scope: AdminScope, { db }: AdminDeps): void {
  const tags = ['rates']

  scope.post(
    '/rates',
    { schema: { tags, body: Creation, response: answers(201, Rate) } },
    async ({ body }, reply) => {
      const rate = await createRate(db, { ...DEFAULTS, ...body })
      reply.code(201).header('location', `/admin/v1/rates/${rate.rateId}`)
      return present(rate)
    },
  )

  scope.post(
    '/rates/import',
    { bodyLimit: IMPORT_BYTES, schema: { tags, body: Import, response: answers(200, Imported) } },
    async ({ body }) =>
      importRates(
        db,
        body.rates.map((rate) => ({ ...DEFAULTS, ...rate })),
      ),
  )

  const Query = pageQuery(RowId, {
    servicePlanId: Type.Optional(PublicId),
    prefix: Type.Optional(NumberPrefix),
    country: Type.Optional(CountryCode),
    mccmnc: Type.Optional(Mccmnc),
  })
  scope.get(
    '/rates',
    { schema: { tags, querystring: Query, response: answers(200, pageOf(Rate)) } },
    async ({ query }) => {
      const { shown, fetched } = limitOf(query)
      const rows = await listRates(db, {
        after: Number(query.after ?? 0),
        limit: fetched,
        servicePlanId: query.servicePlanId === undefined ? null : canonicalPublicId(query.servicePlanId),
        prefix: query.prefix ?? null,
        country: query.country ?? null,
        mccmnc: query.mccmnc ?? null,
      })
      return page(rows, shown, (row) => String(row.rateId), present)
    },
  )

  scope.get(
    '/rates/:rateId',
    { schema: { tags, params: Params, response: answers(200, Rate) } },
    async ({ params }) => {
      const rate = await findRate(db, Number(params.rateId))
      if (rate === undefined) throw refuseMissing('rate')
      return present(rate)
    },
  )

  scope.patch(
    '/rates/:rateId',
    { schema: { tags, params: Params, body: Change, response: answers(200, Rate) } },
    async ({ params, body }) => present(await changeRate(db, Number(params.rateId), body)),
  )

  scope.delete(
    '/rates/:rateId',
    { schema: { tags, params: Params, response: answers(204, Type.Null()) } },
    async ({ params }, reply) => {
      await removeRate(db, Number(params.rateId))
      return reply.code(204).send(null)
    },
  )
}

/** For every plan, to anywhere, with no fee. */
const DEFAULTS = { servicePlanId: null, prefix: null, country: null, mccmnc: null, ptf: '0' }

function present(rate: RateRecord) {
  return { ...rate, createdAt: rate.createdAt.toISOString() }
}

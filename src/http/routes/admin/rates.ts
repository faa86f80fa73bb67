import { importRates, RATES } from '../../../operations/configuration/rates.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { changeBody, Nullable, requestBody, titled } from '../../schemas/shapes.ts'
import {
  Amount,
  CountryCode,
  CurrencyCode,
  described,
  Mccmnc,
  NullableText,
  NumberPrefix,
  PlanOrAll,
  pageQuery,
  RowId,
  ServicePlanId,
  Timestamp,
} from './fields.ts'
import type { AdminDeps, AdminScope } from './operations.ts'
import { addConfigured, addImport, ImportResult } from './resource.ts'

const DECIMAL = 'decimal, for one segment'
const Price = described(Amount, `Price: ${DECIMAL}`)
const Ptf = described(Amount, `Pass-through fee: ${DECIMAL}; default: 0`)
export const RateCreation = requestBody(
  'RateCreation',
  {
    servicePlanId: Type.Optional(Nullable(PlanOrAll)),
    prefix: Type.Optional(Nullable(NumberPrefix)),
    country: Type.Optional(Nullable(CountryCode)),
    mccmnc: Type.Optional(Nullable(Mccmnc)),
    price: Price,
    ptf: Type.Optional(Ptf),
    currency: CurrencyCode,
  },
  { mccmnc: '23410', price: '0.035', currency: 'EUR' },
)
const Change = changeBody('RateChange', RateCreation, ['servicePlanId', 'prefix', 'country', 'mccmnc'], {
  price: '0.034',
})
const Import = requestBody(
  'RateImport',
  { rates: Type.Array(RateCreation, { minItems: 1, maxItems: 1_000 }) },
  { rates: [{ country: 'GB', price: '0.04', currency: 'EUR' }] },
)
/** 1,000 rates of some 170 bytes. */
const IMPORT_BYTES = 256 * 1024
const RateId = described(RowId, 'Number of the rate, as listed')
const Query = pageQuery(RateId, {
  servicePlanId: Type.Optional(ServicePlanId),
  prefix: Type.Optional(NumberPrefix),
  country: Type.Optional(CountryCode),
  mccmnc: Type.Optional(Mccmnc),
})
const Rate = titled('Rate', {
  rateId: Type.Integer(),
  servicePlanId: Nullable(
    Type.String({ description: 'null: every plan without a matching rate of its own' }),
  ),
  prefix: NullableText,
  country: NullableText,
  mccmnc: NullableText,
  price: Type.String({ description: DECIMAL }),
  ptf: Type.String({ description: `pass-through fee: ${DECIMAL}` }),
  currency: Type.String(),
  createdAt: Timestamp,
})

const RESOURCE = {
  table: RATES.table,
  path: '/rates',
  texts: {
    create:
      'Sets what a segment costs to a network, prefix or country, or anywhere. The most specific rate applies.',
    show: 'Returns what it applies to and its amounts.',
    change: 'Messages that were charged before keep their price.',
    import: 'Adds up to 1,000 rates, or changes the amounts of those that exist: all or none.',
    remove: 'Messages that were charged by it keep their price.',
  },
} as const

/** For every plan, to anywhere, with no fee. */
const DEFAULTS = { servicePlanId: null, prefix: null, country: null, mccmnc: null, ptf: '0' }

export function registerRates(scope: AdminScope, deps: AdminDeps): void {
  const imported = { body: Import, bodyLimit: IMPORT_BYTES, answer: ImportResult }
  addImport(scope, deps, RESOURCE, imported, (transaction, body) =>
    importRates(
      transaction,
      body.rates.map((rate) => ({ ...DEFAULTS, ...rate })),
    ),
  )
  addConfigured(scope, deps, {
    ...RESOURCE,
    kind: RATES,
    key: 'rateId',
    keyField: RateId,
    item: Rate,
    creation: RateCreation,
    change: Change,
    query: Query,
    present: (rate) => rate,
  })
}

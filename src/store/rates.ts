import type { RecipientMatch } from '../domain/configuration/configuration.ts'
import { ConfigurationTable } from './configuration-table.ts'
import type { Queryable } from './database.ts'

/** What one segment costs: exact decimals. */
export interface RateAmounts {
  readonly price: string
  readonly ptf: string
  readonly currency: string
}

export interface RateRecord extends RecipientMatch, RateAmounts {
  readonly rateId: number
  /** Null: for every plan without a rate of its own. */
  readonly servicePlanId: string | null
  readonly createdAt: Date
}

export const rates = new ConfigurationTable<
  RateRecord,
  RecipientMatch & RateAmounts & { planId: number | null }
>({
  noun: 'rate',
  table: 'rates',
  reads: {
    rateId: 't.id',
    servicePlanId: 'p.service_plan_id',
    price: 'trim_scale(t.price)::text',
    ptf: 'trim_scale(t.ptf)::text',
  },
  joins: 'left join service_plans p on p.id = t.plan_id',
  key: 'id',
  keyOf: Number,
  columns: {
    planId: 'plan_id',
    prefix: 'prefix',
    country: 'country',
    mccmnc: 'mccmnc',
    price: 'price',
    ptf: 'ptf',
    currency: 'currency',
  },
  hidden: ['planId', 'price', 'ptf'],
  filters: {
    servicePlanId: 'p.service_plan_id = lower(?)',
    prefix: 't.prefix = ?',
    country: 't.country = ?',
    mccmnc: 't.mccmnc = ?',
  },
})

/**
 * Adds rates, or replaces the amounts of existing ones with the same plan and recipients. No two may have the same plan
 * and recipients. They are written in a fixed order, so that two imports wait for each other. Returns how many were
 * added, and the servicePlanIds (lower case) that no plan has.
 */
export async function upsertRates(
  db: Queryable,
  wanted: readonly (RecipientMatch & RateAmounts & { servicePlanId: string | null })[],
): Promise<{ created: number; missingPlans: readonly string[] }> {
  const { rows } = await db.query<{ created: number; missingPlans: string[] }>(
    `with wanted as (
       select p.id as plan_id, w.* from json_to_recordset($1) as w (
         "servicePlanId" text, prefix text, country text, mccmnc text, price numeric, ptf numeric, currency text)
       left join service_plans p on p.service_plan_id = w."servicePlanId"
     ), written as (
       insert into rates (plan_id, prefix, country, mccmnc, price, ptf, currency)
       select plan_id, prefix, country, mccmnc, price, ptf, currency from wanted
       where plan_id is not null or "servicePlanId" is null
       order by plan_id, prefix, country, mccmnc
       on conflict (plan_id, prefix, country, mccmnc)
       do update set price = excluded.price, ptf = excluded.ptf, currency = excluded.currency
       returning xmax = 0 as created
     )
     select (select count(*)::integer from written where created) as created,
            array(select distinct "servicePlanId" from wanted where plan_id is null and "servicePlanId" is not null
            ) as "missingPlans"`,
    [JSON.stringify(wanted)],
  )
  return rows[0]!
}

import type { Destination } from '../domain/configuration.ts'
import type { Queryable } from './database.ts'

/** What one segment costs: exact decimals. */
export interface RateAmounts {
  readonly price: string
  readonly ptf: string
  readonly currency: string
}

export interface RateRecord extends Destination, RateAmounts {
  readonly rateId: number
  /** Null: for every plan without a rate of its own. */
  readonly servicePlanId: string | null
  readonly createdAt: Date
}

const SELECT = `select r.id as "rateId", p.service_plan_id as "servicePlanId", r.prefix, r.country, r.mccmnc,
  trim_scale(r.price)::text as price, trim_scale(r.ptf)::text as ptf, r.currency, r.created_at as "createdAt"
  from rates r left join service_plans p on p.id = r.plan_id`

/** Gives the rate's number. A rate of the same plan and destination is a unique violation. */
export async function insertRate(
  db: Queryable,
  rate: Destination & RateAmounts & { planId: number | null },
): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `insert into rates (plan_id, prefix, country, mccmnc, price, ptf, currency)
     values ($1, $2, $3, $4, $5, $6, $7) returning id`,
    [rate.planId, rate.prefix, rate.country, rate.mccmnc, rate.price, rate.ptf, rate.currency],
  )
  return rows[0]!.id
}

/**
 * Adds rates, or puts these amounts in the place of those there are for the same plan and destination. No two may be of the
 * same plan and destination; they are written in one order, so that two imports wait for each other. Gives how many were added, and the servicePlanIds (lower case) that no plan has.
 */
export async function upsertRates(
  db: Queryable,
  rates: readonly (Destination & RateAmounts & { servicePlanId: string | null })[],
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
    [JSON.stringify(rates)],
  )
  return rows[0]!
}

export async function findRate(db: Queryable, rateId: number): Promise<RateRecord | undefined> {
  const { rows } = await db.query<RateRecord>(`${SELECT} where r.id = $1`, [rateId])
  return rows[0]
}

/** By number, from the one behind `after`; of one plan, prefix, country or network where given. */
export async function listRates(
  db: Queryable,
  page: Destination & { after: number; limit: number; servicePlanId: string | null },
): Promise<RateRecord[]> {
  const { rows } = await db.query<RateRecord>(
    `${SELECT} where r.id > $1 and ($3::text is null or p.service_plan_id = $3)
       and ($4::text is null or r.prefix = $4) and ($5::text is null or r.country = $5)
       and ($6::text is null or r.mccmnc = $6)
     order by r.id limit $2`,
    [page.after, page.limit, page.servicePlanId, page.prefix, page.country, page.mccmnc],
  )
  return rows
}

/** What is null stays as it is. False when there is no such rate. */
export async function updateRate(
  db: Queryable,
  rateId: number,
  change: { readonly [Field in keyof RateAmounts]: string | null },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update rates set price = coalesce($2, price), ptf = coalesce($3, ptf), currency = coalesce($4, currency)
     where id = $1`,
    [rateId, change.price, change.ptf, change.currency],
  )
  return rowCount === 1
}

/** False when there is none. */
export async function deleteRate(db: Queryable, rateId: number): Promise<boolean> {
  const { rowCount } = await db.query('delete from rates where id = $1', [rateId])
  return rowCount === 1
}

export async function countRates(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*)::integer as count from rates')
  return rows[0]!.count
}

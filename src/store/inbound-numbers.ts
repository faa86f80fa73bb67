import type { Queryable } from './database.ts'

export interface InboundNumberRecord {
  readonly number: string
  readonly servicePlanId: string
  readonly keywords: readonly string[]
  readonly createdAt: Date
}

const SELECT = `select n.number, p.service_plan_id as "servicePlanId", n.keywords, n.created_at as "createdAt"
  from inbound_numbers n join service_plans p on p.id = n.plan_id`

/** A taken number is a unique violation. */
export async function insertInboundNumber(
  db: Queryable,
  inbound: { number: string; planId: number; keywords: readonly string[] },
): Promise<void> {
  await db.query('insert into inbound_numbers (number, plan_id, keywords) values ($1, $2, $3)', [
    inbound.number,
    inbound.planId,
    inbound.keywords,
  ])
}

export async function findInboundNumber(
  db: Queryable,
  number: string,
): Promise<InboundNumberRecord | undefined> {
  const { rows } = await db.query<InboundNumberRecord>(`${SELECT} where n.number = $1`, [number])
  return rows[0]
}

/** By number, from the one behind `after`; of one plan when `servicePlanId` is given. */
export async function listInboundNumbers(
  db: Queryable,
  page: { after: string; limit: number; servicePlanId: string | null },
): Promise<InboundNumberRecord[]> {
  const { rows } = await db.query<InboundNumberRecord>(
    `${SELECT} where n.number > $1 and ($3::text is null or p.service_plan_id = $3) order by n.number limit $2`,
    [page.after, page.limit, page.servicePlanId],
  )
  return rows
}

/** What is null stays as it is. False when there is no such number. */
export async function updateInboundNumber(
  db: Queryable,
  number: string,
  change: { planId: number | null; keywords: readonly string[] | null },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update inbound_numbers set plan_id = coalesce($2, plan_id), keywords = coalesce($3, keywords)
     where number = $1`,
    [number, change.planId, change.keywords],
  )
  return rowCount === 1
}

/** False when there is none. */
export async function deleteInboundNumber(db: Queryable, number: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from inbound_numbers where number = $1', [number])
  return rowCount === 1
}

import type { Destination } from '../domain/configuration.ts'
import type { Queryable } from './database.ts'

export interface RoutingRuleRecord extends Destination {
  readonly ruleId: number
  readonly servicePlanId: string | null
  readonly from: string | null
  /** The route's name. */
  readonly route: string
  readonly createdAt: Date
}

const SELECT = `select u.id as "ruleId", p.service_plan_id as "servicePlanId", u.sender as "from", u.prefix, u.country,
  u.mccmnc, r.name as route, u.created_at as "createdAt"
  from routing_rules u join routes r on r.id = u.route_id left join service_plans p on p.id = u.plan_id`

/** Gives the rule's number. A rule with the same limits is a unique violation, a plan or route gone a foreign-key one. */
export async function insertRoutingRule(
  db: Queryable,
  rule: Destination & { planId: number | null; sender: string | null; routeId: number },
): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `insert into routing_rules (plan_id, sender, prefix, country, mccmnc, route_id)
     values ($1, $2, $3, $4, $5, $6) returning id`,
    [rule.planId, rule.sender, rule.prefix, rule.country, rule.mccmnc, rule.routeId],
  )
  return rows[0]!.id
}

export async function countRoutingRules(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*)::int as count from routing_rules')
  return rows[0]!.count
}

/** `lock`: holds the row against other writers until the transaction ends. */
export async function findRoutingRule(
  db: Queryable,
  ruleId: number,
  lock: '' | 'for update of u' = '',
): Promise<RoutingRuleRecord | undefined> {
  const { rows } = await db.query<RoutingRuleRecord>(`${SELECT} where u.id = $1 ${lock}`, [ruleId])
  return rows[0]
}

/** By number, from the one behind `after`; of one plan, or to one route, when these are given. */
export async function listRoutingRules(
  db: Queryable,
  page: { after: number; limit: number; servicePlanId: string | null; route: string | null },
): Promise<RoutingRuleRecord[]> {
  const { rows } = await db.query<RoutingRuleRecord>(
    `${SELECT} where u.id > $1 and ($3::text is null or p.service_plan_id = $3) and ($4::text is null or r.name = $4)
     order by u.id limit $2`,
    [page.after, page.limit, page.servicePlanId, page.route],
  )
  return rows
}

export async function updateRoutingRule(
  db: Queryable,
  ruleId: number,
  change: { routeId: number },
): Promise<void> {
  await db.query('update routing_rules set route_id = $2 where id = $1', [ruleId, change.routeId])
}

/** False when there is none. */
export async function deleteRoutingRule(db: Queryable, ruleId: number): Promise<boolean> {
  const { rowCount } = await db.query('delete from routing_rules where id = $1', [ruleId])
  return rowCount === 1
}

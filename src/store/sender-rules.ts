import type { SenderKind } from '../domain/addresses.ts'
import type { Queryable } from './database.ts'

export interface SenderRuleRecord {
  readonly ruleId: number
  /** Null: for every plan without a rule of its own. */
  readonly servicePlanId: string | null
  readonly country: string
  readonly senderTypes: readonly SenderKind[]
  readonly createdAt: Date
}

const SELECT = `select r.id as "ruleId", p.service_plan_id as "servicePlanId", r.country,
  r.sender_types as "senderTypes", r.created_at as "createdAt"
  from sender_rules r left join service_plans p on p.id = r.plan_id`

/** Gives the rule's number. A rule of the same plan and country is a unique violation. */
export async function insertSenderRule(
  db: Queryable,
  rule: { planId: number | null; country: string; senderTypes: readonly SenderKind[] },
): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    'insert into sender_rules (plan_id, country, sender_types) values ($1, $2, $3) returning id',
    [rule.planId, rule.country, rule.senderTypes],
  )
  return rows[0]!.id
}

export async function findSenderRule(db: Queryable, ruleId: number): Promise<SenderRuleRecord | undefined> {
  const { rows } = await db.query<SenderRuleRecord>(`${SELECT} where r.id = $1`, [ruleId])
  return rows[0]
}

/** By number, from the one behind `after`; of one plan and country where given. */
export async function listSenderRules(
  db: Queryable,
  page: { after: number; limit: number; servicePlanId: string | null; country: string | null },
): Promise<SenderRuleRecord[]> {
  const { rows } = await db.query<SenderRuleRecord>(
    `${SELECT} where r.id > $1 and ($3::text is null or p.service_plan_id = $3)
       and ($4::text is null or r.country = $4)
     order by r.id limit $2`,
    [page.after, page.limit, page.servicePlanId, page.country],
  )
  return rows
}

/** False when there is no such rule. */
export async function updateSenderRule(
  db: Queryable,
  ruleId: number,
  senderTypes: readonly SenderKind[],
): Promise<boolean> {
  const { rowCount } = await db.query('update sender_rules set sender_types = $2 where id = $1', [
    ruleId,
    senderTypes,
  ])
  return rowCount === 1
}

/** False when there is none. */
export async function deleteSenderRule(db: Queryable, ruleId: number): Promise<boolean> {
  const { rowCount } = await db.query('delete from sender_rules where id = $1', [ruleId])
  return rowCount === 1
}

export async function countSenderRules(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*)::integer as count from sender_rules')
  return rows[0]!.count
}

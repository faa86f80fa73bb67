import type { SenderKind } from '../domain/addresses.ts'
import type { AmbiguousSubmits, OptOutSettings } from '../domain/configuration.ts'
import type { Queryable } from './database.ts'

export interface ServicePlanSettings {
  readonly name: string
  readonly active: boolean
  readonly inboundUrl: string | null
  readonly messagesPerSecond: number | null
  readonly burst: number | null
  readonly senderTypes: readonly SenderKind[]
  readonly ambiguousSubmits: AmbiguousSubmits
  readonly validitySeconds: number
  readonly smartEncoding: boolean
  /** National language identifiers, the preferred one first. */
  readonly nationalLanguages: readonly number[]
  readonly optOut: OptOutSettings | null
}

export interface ServicePlanRecord extends ServicePlanSettings {
  readonly id: number
  readonly servicePlanId: string
  readonly accountId: string
  /** The route's name. */
  readonly route: string | null
  readonly routeId: number | null
  readonly createdAt: Date
}

const SELECT = `select p.id, p.service_plan_id as "servicePlanId", a.account_id as "accountId", p.name, p.active,
  r.name as route, p.route_id as "routeId", p.inbound_url as "inboundUrl",
  p.messages_per_second as "messagesPerSecond", p.burst, p.sender_types as "senderTypes",
  p.ambiguous_submits as "ambiguousSubmits", p.smart_encoding as "smartEncoding",
  p.national_languages as "nationalLanguages", p.opt_out as "optOut", p.validity_seconds as "validitySeconds", p.created_at as "createdAt"
  from service_plans p join accounts a on a.id = p.account_id left join routes r on r.id = p.route_id`

/** Adds a plan and gives its key. A taken servicePlanId is a unique violation. */
export async function insertServicePlan(
  db: Queryable,
  plan: ServicePlanSettings & { servicePlanId: string; account: number; routeId: number | null },
): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `insert into service_plans (service_plan_id, account_id, name, active, route_id, inbound_url,
       messages_per_second, burst, sender_types, ambiguous_submits, smart_encoding, national_languages,
       opt_out, validity_seconds)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) returning id`,
    [plan.servicePlanId, plan.account, ...values(plan)],
  )
  return rows[0]!.id
}

/** `servicePlanId` in lower case. `lock`: holds the row against other writers until the transaction ends. */
export async function findServicePlan(
  db: Queryable,
  servicePlanId: string,
  lock: '' | 'for update of p' = '',
): Promise<ServicePlanRecord | undefined> {
  const { rows } = await db.query<ServicePlanRecord>(`${SELECT} where p.service_plan_id = $1 ${lock}`, [
    servicePlanId,
  ])
  return rows[0]
}

/** By servicePlanId, from the one behind `after`; of one account when `accountId` is given. */
export async function listServicePlans(
  db: Queryable,
  page: { after: string; limit: number; accountId: string | null },
): Promise<ServicePlanRecord[]> {
  const { rows } = await db.query<ServicePlanRecord>(
    `${SELECT} where p.service_plan_id > $1 and ($3::text is null or a.account_id = $3)
     order by p.service_plan_id limit $2`,
    [page.after, page.limit, page.accountId],
  )
  return rows
}

export async function updateServicePlan(
  db: Queryable,
  id: number,
  plan: ServicePlanSettings & { routeId: number | null },
): Promise<void> {
  await db.query(
    `update service_plans set name = $2, active = $3, route_id = $4, inbound_url = $5, messages_per_second = $6,
       burst = $7, sender_types = $8, ambiguous_submits = $9, smart_encoding = $10, national_languages = $11,
       opt_out = $12, validity_seconds = $13
     where id = $1`,
    [id, ...values(plan)],
  )
}

function values(plan: ServicePlanSettings & { routeId: number | null }): unknown[] {
  return [
    plan.name,
    plan.active,
    plan.routeId,
    plan.inboundUrl,
    plan.messagesPerSecond,
    plan.burst,
    plan.senderTypes,
    plan.ambiguousSubmits,
    plan.smartEncoding,
    plan.nationalLanguages,
    plan.optOut,
    plan.validitySeconds,
  ]
}

/**
 * What still needs the plan: `live tokens`, `messages`. Records name it by number without a foreign key, so that
 * partitions can be dropped freely; senders and inbound numbers have one.
 */
export async function servicePlanUses(
  db: Queryable,
  id: number,
  hasMessagesInProgress: boolean,
): Promise<string[]> {
  const { rows } = await db.query<{ tokens: boolean; messages: boolean }>(
    `select exists (select from tokens where revoked_at is null and $1 = any (plan_ids)) as tokens,
            exists (select from messages where plan_id = $1)
              or exists (select from inbound_messages where plan_id = $1) as messages`,
    [id],
  )
  const uses = []
  if (rows[0]!.tokens) uses.push('live tokens')
  if (rows[0]!.messages || hasMessagesInProgress) uses.push('messages')
  return uses
}

/** Senders and inbound numbers of the plan are a foreign-key violation. */
export async function deleteServicePlan(db: Queryable, id: number): Promise<void> {
  await db.query(
    'with feed as (delete from feeds where plan_id = $1) delete from service_plans where id = $1',
    [id],
  )
}

/** Keys of those of the given servicePlanIds (lower case) that belong to the account. */
export async function findPlansOfAccount(
  db: Queryable,
  account: number,
  servicePlanIds: readonly string[],
): Promise<{ id: number; servicePlanId: string }[]> {
  const { rows } = await db.query<{ id: number; servicePlanId: string }>(
    `select id, service_plan_id as "servicePlanId" from service_plans
     where account_id = $1 and service_plan_id = any ($2) for share`,
    [account, servicePlanIds],
  )
  return rows
}

import type { Queryable } from './database.ts'

export interface SenderSubscriptionRecord {
  readonly sender: string
  /** `approved`, `pending`, `denied`, or anything else: not recognised when sending. */
  readonly status: string
  readonly createdAt: Date
}

const COLUMNS = 'sender, status, created_at as "createdAt"'

/** Adds the subscription or sets the status of the one there is. `planId` is the plan's key. */
export async function upsertSenderSubscription(
  db: Queryable,
  planId: number,
  sender: string,
  status: string,
): Promise<SenderSubscriptionRecord & { created: boolean }> {
  const { rows } = await db.query<SenderSubscriptionRecord & { created: boolean }>(
    `insert into sender_subscriptions (plan_id, sender, status) values ($1, $2, $3)
     on conflict (plan_id, sender) do update set status = excluded.status
     returning ${COLUMNS}, xmax = 0 as created`,
    [planId, sender, status],
  )
  return rows[0]!
}

export async function findSenderSubscription(
  db: Queryable,
  planId: number,
  sender: string,
): Promise<SenderSubscriptionRecord | undefined> {
  const { rows } = await db.query<SenderSubscriptionRecord>(
    `select ${COLUMNS} from sender_subscriptions where plan_id = $1 and sender = $2`,
    [planId, sender],
  )
  return rows[0]
}

/** By sender, from the one behind `after`. */
export async function listSenderSubscriptions(
  db: Queryable,
  planId: number,
  page: { after: string; limit: number },
): Promise<SenderSubscriptionRecord[]> {
  const { rows } = await db.query<SenderSubscriptionRecord>(
    `select ${COLUMNS} from sender_subscriptions where plan_id = $1 and sender > $2 order by sender limit $3`,
    [planId, page.after, page.limit],
  )
  return rows
}

/** Returns what was deleted; undefined when there is none. */
export async function deleteSenderSubscription(
  db: Queryable,
  planId: number,
  sender: string,
): Promise<SenderSubscriptionRecord | undefined> {
  const { rows } = await db.query<SenderSubscriptionRecord>(
    `delete from sender_subscriptions where plan_id = $1 and sender = $2 returning ${COLUMNS}`,
    [planId, sender],
  )
  return rows[0]
}

/** Of all plans. */
export async function allSenderSubscriptions(
  db: Queryable,
): Promise<{ servicePlanId: string; sender: string; status: string }[]> {
  const { rows } = await db.query<{ servicePlanId: string; sender: string; status: string }>(
    `select p.service_plan_id as "servicePlanId", s.sender, s.status
     from sender_subscriptions s join service_plans p on p.id = s.plan_id`,
  )
  return rows
}

/** Adds subscriptions, or sets the status of those there are; none may be repeated. */
export async function putSenderSubscriptions(
  db: Queryable,
  subscriptions: readonly { readonly planId: number; readonly sender: string; readonly status: string }[],
): Promise<void> {
  await db.query(
    `insert into sender_subscriptions (plan_id, sender, status)
     select "planId", sender, status from json_to_recordset($1) as s ("planId" integer, sender text, status text)
     on conflict (plan_id, sender) do update set status = excluded.status`,
    [JSON.stringify(subscriptions)],
  )
}

export async function deleteSenderSubscriptions(
  db: Queryable,
  subscriptions: readonly { readonly planId: number; readonly sender: string }[],
): Promise<void> {
  await db.query(
    `delete from sender_subscriptions t
     using json_to_recordset($1) as s ("planId" integer, sender text)
     where t.plan_id = s."planId" and t.sender = s.sender`,
    [JSON.stringify(subscriptions)],
  )
}

import type { Queryable } from './database.ts'

/** The configuration's columns with sealed texts, as table and column. */
export type SealedColumn =
  | 'accounts.webhook_secret'
  | 'accounts.previous_webhook_secret'
  | 'accounts.webhook_headers'
  | 'accounts.default_dlr_url'
  | 'service_plans.inbound_url'
  | 'carriers.password'

export interface SealedRow {
  readonly column: SealedColumn
  readonly id: number
  /** Of the account; null for other tables. */
  readonly accountId: string | null
  readonly sealed: string
}

/** Everything sealed in the configuration. URLs without credentials are stored as they are. */
export async function findSealedConfiguration(db: Queryable): Promise<SealedRow[]> {
  const { rows } = await db.query<SealedRow>(`
    select 'accounts.webhook_secret' as column, id, account_id as "accountId", webhook_secret as sealed
    from accounts
    union all
    select 'accounts.previous_webhook_secret', id, account_id, previous_webhook_secret
    from accounts where previous_webhook_secret is not null
    union all
    select 'accounts.webhook_headers', id, account_id, webhook_headers
    from accounts where webhook_headers is not null
    union all
    select 'accounts.default_dlr_url', id, account_id, default_dlr_url
    from accounts where default_dlr_url like 'v1.%'
    union all
    select 'service_plans.inbound_url', id, null, inbound_url
    from service_plans where inbound_url like 'v1.%'
    union all
    select 'carriers.password', id, null, password
    from carriers`)
  return rows
}

/** Returns how many rows still had the value that was read. A row that was changed since keeps its new value. */
export async function replaceSealedConfiguration(
  db: Queryable,
  column: SealedColumn,
  rows: readonly { readonly id: number; readonly was: string; readonly sealed: string }[],
): Promise<number> {
  const [table, name] = column.split('.')
  const { rowCount } = await db.query(
    `update ${table} t set ${name} = n.sealed
     from json_to_recordset($1) as n (id integer, was text, sealed text)
     where t.id = n.id and t.${name} = n.was`,
    [JSON.stringify(rows)],
  )
  return rowCount ?? 0
}

export interface MessagePosition {
  readonly planId: number
  readonly msgId: string
}

export interface SealedMessages {
  /** Messages looked at. */
  readonly scanned: number
  /** The last of them; null when there is none behind `after`. */
  readonly last: MessagePosition | null
  readonly sealed: readonly (MessagePosition & { readonly sealed: string })[]
}

/** Callback URLs with credentials among the next `limit` messages behind `after`, in the order of their key. */
export async function findSealedMessages(
  db: Queryable,
  after: MessagePosition,
  limit: number,
): Promise<SealedMessages> {
  const { rows } = await db.query<SealedMessages>({
    name: 'find_sealed_messages',
    text: `
    with stretch as materialized (
      select plan_id, msg_id, callback_url from messages
      where (plan_id, msg_id) > ($1, $2::uuid) order by plan_id, msg_id limit $3)
    select (select count(*)::int from stretch) as scanned,
      (select json_build_object('planId', plan_id, 'msgId', msg_id)
       from stretch order by plan_id desc, msg_id desc limit 1) as last,
      coalesce((
        select json_agg(json_build_object('planId', plan_id, 'msgId', msg_id, 'sealed', callback_url))
        from stretch where callback_url like 'v1.%'), '[]') as sealed`,
    values: [after.planId, after.msgId, limit],
  })
  return rows[0]!
}

/** Returns how many messages still had the value that was read. */
export async function replaceSealedMessages(
  db: Queryable,
  messages: readonly (MessagePosition & { readonly was: string; readonly sealed: string })[],
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'replace_sealed_messages',
    // `= any (array[…])`: docs/adr/0006.
    text: `
    update messages m set callback_url = n.sealed
    from json_to_recordset($1) as n ("planId" integer, "msgId" uuid, was text, sealed text)
    where m.plan_id = any (array[n."planId"]) and m.msg_id = n."msgId" and m.callback_url = n.was`,
    values: [JSON.stringify(messages)],
  })
  return rowCount ?? 0
}

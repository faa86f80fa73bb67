import type { Queryable } from './database.ts'

export interface AccountSettings {
  readonly name: string
  readonly defaultDlrUrl: string | null
  readonly messagesPerSecond: number | null
  readonly burst: number | null
}

export interface AccountRecord extends AccountSettings {
  readonly id: number
  readonly accountId: string
  /** Sealed. */
  readonly webhookSecret: string
  readonly previousWebhookSecret: string | null
  readonly createdAt: Date
}

const COLUMNS = `id, account_id as "accountId", name, default_dlr_url as "defaultDlrUrl",
  messages_per_second as "messagesPerSecond", burst, webhook_secret as "webhookSecret",
  previous_webhook_secret as "previousWebhookSecret", created_at as "createdAt"`

/** Adds an account with its sealed webhook secret. A taken accountId is a unique violation. */
export async function insertAccount(
  db: Queryable,
  account: AccountSettings & { accountId: string; webhookSecret: string },
): Promise<AccountRecord> {
  const { rows } = await db.query<AccountRecord>(
    `insert into accounts (account_id, name, default_dlr_url, messages_per_second, burst, webhook_secret)
     values ($1, $2, $3, $4, $5, $6) returning ${COLUMNS}`,
    [
      account.accountId,
      account.name,
      account.defaultDlrUrl,
      account.messagesPerSecond,
      account.burst,
      account.webhookSecret,
    ],
  )
  return rows[0]!
}

/** `accountId` in lower case. */
export async function findAccount(db: Queryable, accountId: string): Promise<AccountRecord | undefined> {
  const { rows } = await db.query<AccountRecord>(`select ${COLUMNS} from accounts where account_id = $1`, [
    accountId,
  ])
  return rows[0]
}

/** As findAccount, and holds the row against other writers until the transaction ends. */
export async function lockAccount(db: Queryable, accountId: string): Promise<AccountRecord | undefined> {
  const { rows } = await db.query<AccountRecord>(
    `select ${COLUMNS} from accounts where account_id = $1 for update`,
    [accountId],
  )
  return rows[0]
}

/** By accountId, from the one behind `after`. */
export async function listAccounts(
  db: Queryable,
  page: { after: string; limit: number },
): Promise<AccountRecord[]> {
  const { rows } = await db.query<AccountRecord>(
    `select ${COLUMNS} from accounts where account_id > $1 order by account_id limit $2`,
    [page.after, page.limit],
  )
  return rows
}

export async function updateAccount(
  db: Queryable,
  id: number,
  settings: AccountSettings,
): Promise<AccountRecord> {
  const { rows } = await db.query<AccountRecord>(
    `update accounts set name = $2, default_dlr_url = $3, messages_per_second = $4, burst = $5
     where id = $1 returning ${COLUMNS}`,
    [id, settings.name, settings.defaultDlrUrl, settings.messagesPerSecond, settings.burst],
  )
  return rows[0]!
}

/** Both sealed. */
export async function updateWebhookSecrets(
  db: Queryable,
  id: number,
  secrets: { current: string; previous: string | null },
): Promise<void> {
  await db.query('update accounts set webhook_secret = $2, previous_webhook_secret = $3 where id = $1', [
    id,
    secrets.current,
    secrets.previous,
  ])
}

/** Removes an account and its revoked tokens; plans and live tokens are a foreign-key violation. */
export async function deleteAccount(db: Queryable, id: number): Promise<void> {
  await db.query('delete from tokens where account_id = $1 and revoked_at is not null', [id])
  await db.query('delete from accounts where id = $1', [id])
}

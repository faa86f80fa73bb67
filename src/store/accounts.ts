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
  /** Sealed; null: none. */
  readonly webhookHeaders: string | null
  readonly createdAt: Date
}

const COLUMNS = `id, account_id as "accountId", name, default_dlr_url as "defaultDlrUrl",
  messages_per_second as "messagesPerSecond", burst, webhook_secret as "webhookSecret",
  previous_webhook_secret as "previousWebhookSecret", webhook_headers as "webhookHeaders", created_at as "createdAt"`

/** Adds an account; its webhook secret and headers sealed. A taken accountId is a unique violation. */
export async function insertAccount(
  db: Queryable,
  account: AccountSettings & Pick<AccountRecord, 'accountId' | 'webhookSecret' | 'webhookHeaders'>,
): Promise<AccountRecord> {
  const { rows } = await db.query<AccountRecord>(
    `insert into accounts (account_id, name, default_dlr_url, messages_per_second, burst, webhook_secret,
       webhook_headers)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`,
    [
      account.accountId,
      account.name,
      account.defaultDlrUrl,
      account.messagesPerSecond,
      account.burst,
      account.webhookSecret,
      account.webhookHeaders,
    ],
  )
  return rows[0]!
}

/** `accountId` in lower case. `lock`: holds the row against other writers until the transaction ends. */
export async function findAccount(
  db: Queryable,
  accountId: string,
  lock: '' | 'for update' = '',
): Promise<AccountRecord | undefined> {
  const { rows } = await db.query<AccountRecord>(
    `select ${COLUMNS} from accounts where account_id = $1 ${lock}`,
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

/** The webhook headers sealed. */
export async function updateAccount(
  db: Queryable,
  id: number,
  settings: AccountSettings & Pick<AccountRecord, 'webhookHeaders'>,
): Promise<AccountRecord> {
  const { name, defaultDlrUrl, messagesPerSecond, burst, webhookHeaders } = settings
  const { rows } = await db.query<AccountRecord>(
    `update accounts set name = $2, default_dlr_url = $3, messages_per_second = $4, burst = $5, webhook_headers = $6
     where id = $1 returning ${COLUMNS}`,
    [id, name, defaultDlrUrl, messagesPerSecond, burst, webhookHeaders],
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

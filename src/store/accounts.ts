import { canonicalPublicId } from '../domain/identifiers.ts'
import { ConfigurationTable, NAME_BEGINS } from './configuration-table.ts'
import type { Queryable } from './database.ts'

export interface AccountSettings {
  readonly name: string
  readonly defaultDlrUrl?: string | null
  readonly messagesPerSecond?: number | null
  readonly burst?: number | null
}

interface SealedSettings {
  readonly webhookSecret: string
  readonly previousWebhookSecret: string | null
  /** Null: none. */
  readonly webhookHeaders: string | null
}

export interface AccountRecord extends Required<AccountSettings>, SealedSettings {
  readonly id: number
  readonly accountId: string
  readonly createdAt: Date
}

export const accounts = new ConfigurationTable<
  AccountRecord,
  AccountSettings & Partial<SealedSettings> & Pick<AccountRecord, 'accountId'>
>({
  noun: 'account',
  table: 'accounts',
  reads: { id: 't.id' },
  key: 'account_id',
  keyOf: canonicalPublicId,
  columns: {
    accountId: 'account_id',
    name: 'name',
    defaultDlrUrl: 'default_dlr_url',
    messagesPerSecond: 'messages_per_second',
    burst: 'burst',
    webhookSecret: 'webhook_secret',
    previousWebhookSecret: 'previous_webhook_secret',
    webhookHeaders: 'webhook_headers',
  },
  filters: { search: NAME_BEGINS },
})

/** Those of these accounts that have tokens which are not revoked. */
export async function accountsWithTokens(db: Queryable, ids: readonly number[]): Promise<Set<number>> {
  const { rows } = await db.query<{ id: number }>(
    'select distinct account_id as id from tokens where account_id = any ($1) and revoked_at is null',
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Removes accounts and their revoked tokens; plans and live tokens are a foreign-key violation. */
export async function deleteAccounts(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query('delete from tokens where account_id = any ($1) and revoked_at is not null', [ids])
  await db.query('delete from accounts where id = any ($1)', [ids])
}

import { randomBytes } from 'node:crypto'
import type { Settings } from '../../domain/configuration/configuration-changes.ts'
import {
  completeRateLimit,
  type RateLimitSetting,
  rateLimitColumns,
  rateLimitField,
} from '../../domain/limits/rate-limits.ts'
import {
  accountSecretContext,
  IV_BYTES,
  openSecret,
  orUnreadable,
  type SecretKeys,
  sealSecret,
} from '../../domain/secrets.ts'
import {
  changedWebhookHeaders,
  formatWebhookSecret,
  judgeWebhookHeaders,
  NO_WEBHOOK_HEADERS,
  openWebhookHeaders,
  sealWebhookHeaders,
  type WebhookHeaderChange,
  type WebhookHeaderSettings,
} from '../../domain/webhooks/requests.ts'
import { conflict, fault } from '../../errors.ts'
import { type AccountRecord, accounts, deleteAccounts } from '../../store/accounts.ts'
import type { Transaction } from '../../store/database.ts'
import { changeRow, lockedRow, sayConflicts } from '../manage/configuration-rows.ts'
import { type Judging, TableKind } from './kind.ts'

const WEBHOOK_KEY_BYTES = 32
const UNREADABLE = 'unreadable'

interface AccountSettings extends WebhookHeaderChange {
  readonly rateLimit?: RateLimitSetting | null
}

export const ACCOUNTS = new TableKind<AccountRecord>({
  name: 'accounts',
  table: accounts,
  idField: 'accountId',
  secrets: ['webhookHeaders', 'webhookCredentials'],
  urls: ['defaultDlrUrl'],
  databaseKey: ({ id }) => id,
  settingsOf(row, { secretKey }) {
    const opened = orUnreadable(() => webhookHeadersOf(secretKey, row))
    const { headers, credentials } =
      typeof opened === 'string' ? { headers: UNREADABLE, credentials: UNREADABLE } : opened
    return {
      name: row.name,
      defaultDlrUrl: row.defaultDlrUrl,
      webhookHeaders: headers.length === 0 ? null : headers,
      webhookCredentials: credentials,
      rateLimit: rateLimitField(row),
    }
  },
  judge(given, about) {
    const { webhookHeaders, rateLimit } = given as AccountSettings
    judgeHeaders(given, about)
    return {
      ...given,
      webhookHeaders: webhookHeaders?.length === 0 ? null : webhookHeaders,
      rateLimit: rateLimit && completeRateLimit(rateLimit),
    }
  },
  columns(settings, scene, accountId) {
    const { rateLimit, webhookHeaders, webhookCredentials } = settings as AccountSettings
    if (webhookHeaders === undefined && webhookCredentials === undefined) return rateLimitColumns(rateLimit)
    const present = headersOf(scene.presentWith('accounts', accountId)?.settings) ?? NO_WEBHOOK_HEADERS
    const headers = changedWebhookHeaders(present, settings)
    return {
      ...rateLimitColumns(rateLimit),
      webhookHeaders: sealWebhookHeaders(scene.secretKey, headers, randomBytes(IV_BYTES), accountId),
    }
  },
  newColumns({ identity: accountId, name }, scene) {
    const { webhookSecret, sealed } = newWebhookSecret(scene.secretKey, accountId)
    scene.issued.push({ accountId, name, webhookSecret })
    return { webhookSecret: sealed }
  },
  async delete(scene, objects) {
    const ids = objects.map(({ identity }) => scene.keys.accounts.get(identity)!)
    await deleteAccounts(scene.db, ids)
  },
})

/** The headers among the settings of an account; null: no key opens them. */
function headersOf(settings: Settings | undefined): WebhookHeaderSettings | null {
  if (settings === undefined) return NO_WEBHOOK_HEADERS
  const { webhookHeaders, webhookCredentials } = settings
  if (webhookHeaders === UNREADABLE) return null
  return {
    headers: (webhookHeaders ?? []) as WebhookHeaderSettings['headers'],
    credentials: webhookCredentials as WebhookHeaderSettings['credentials'],
  }
}

function judgeHeaders(given: WebhookHeaderChange, { present, faults }: Judging): void {
  const { webhookHeaders, webhookCredentials } = given
  if (webhookHeaders === undefined && webhookCredentials === undefined) return
  const headers = headersOf(present)
  if (headers === null && (webhookHeaders === undefined || webhookCredentials === undefined)) {
    const message = 'must be given together with webhookHeaders: no key opens those that are stored'
    faults.push(fault('webhookCredentials', 'REQUIRED', message))
  }
  const changed = changedWebhookHeaders(headers ?? NO_WEBHOOK_HEADERS, given)
  faults.push(...judgeWebhookHeaders(changed, given))
}

/** The account's webhook headers in plain text. Throws SecretError if they were sealed with another key. */
export function webhookHeadersOf(
  secretKey: SecretKeys,
  { accountId, webhookHeaders }: Pick<AccountRecord, 'accountId' | 'webhookHeaders'>,
): WebhookHeaderSettings {
  const open = (sealed: string, context: string) => openSecret(secretKey, sealed, context)
  return openWebhookHeaders(open, webhookHeaders, accountId)
}

/** Removes an account that has no plans and no live tokens. */
export async function removeAccount(transaction: Transaction, accountId: string): Promise<void> {
  const words = { inUse: 'the account still has service plans or live tokens' }
  const account = await lockedRow(transaction, accounts, accountId)
  await sayConflicts(words, () => deleteAccounts(transaction, [account.id]))
}

/**
 * Gives the account a new webhook secret, which only this answer has in plain text. Requests are signed with the current secret
 * too until it is removed. Refused while an older secret still exists, because it would be dropped while receivers may rely on it.
 */
export async function rotateWebhookSecret(
  transaction: Transaction,
  secretKey: SecretKeys,
  accountId: string,
): Promise<{ readonly account: AccountRecord; readonly webhookSecret: string }> {
  const account = await lockedRow(transaction, accounts, accountId)
  if (account.previousWebhookSecret !== null) {
    throw conflict('the previous webhook secret is still live: remove it before the next rotation')
  }
  const { webhookSecret, sealed } = newWebhookSecret(secretKey, account.accountId)
  const changed = await changeRow(transaction, accounts, accountId, {
    webhookSecret: sealed,
    previousWebhookSecret: account.webhookSecret,
  })
  return { account: changed, webhookSecret }
}

/** Ends a rotation. Does nothing without a previous secret. */
export async function deletePreviousWebhookSecret(
  transaction: Transaction,
  accountId: string,
): Promise<AccountRecord> {
  return changeRow(transaction, accounts, accountId, { previousWebhookSecret: null })
}

/** A webhook secret in plain text, and as it is stored with the account. */
function newWebhookSecret(
  secretKey: SecretKeys,
  accountId: string,
): { readonly webhookSecret: string; readonly sealed: string } {
  const webhookSecret = formatWebhookSecret(randomBytes(WEBHOOK_KEY_BYTES))
  const sealed = sealSecret(secretKey, webhookSecret, randomBytes(IV_BYTES), accountSecretContext(accountId))
  return { webhookSecret, sealed }
}

import { randomBytes } from 'node:crypto'
import { canonicalPublicId, publicId } from '../../domain/identifiers.ts'
import {
  accountSecretContext,
  IV_BYTES,
  openSecret,
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
import { conflict, refuseAny } from '../../errors.ts'
import { type AccountRecord, type AccountSettings, accounts, deleteAccounts } from '../../store/accounts.ts'
import type { Transaction } from '../../store/database.ts'
import { changeRow, lockedRow, sayConflicts } from './configuration-rows.ts'

const WEBHOOK_KEY_BYTES = 32

/** An account and its new webhook secret in plain text. */
interface IssuedAccount {
  readonly account: AccountRecord
  readonly webhookSecret: string
}

/** Creates an account. Only the answer has its webhook secret in plain text. */
export async function createAccount(
  transaction: Transaction,
  secretKey: SecretKeys,
  input: AccountSettings & WebhookHeaderChange & { accountId?: string },
): Promise<IssuedAccount> {
  const accountId = canonicalPublicId(input.accountId ?? publicId(randomBytes(12)))
  const { webhookSecret, sealed: sealedSecret } = newWebhookSecret(secretKey, accountId)
  const sealed = {
    webhookSecret: sealedSecret,
    webhookHeaders: sealedHeaders(secretKey, accountId, NO_WEBHOOK_HEADERS, input),
  }
  const account = await sayConflicts({ taken: `account ${accountId} exists already` }, () =>
    accounts.insert(transaction, { ...input, accountId, ...sealed }),
  )
  return { account, webhookSecret }
}

/** Settings that are not in `change` keep their values. */
export async function updateAccount(
  transaction: Transaction,
  secretKey: SecretKeys,
  accountId: string,
  change: Partial<AccountSettings> & WebhookHeaderChange,
): Promise<AccountRecord> {
  const account = await lockedRow(transaction, accounts, accountId)
  const webhookHeaders = changedHeaders(secretKey, account, change)
  return changeRow(transaction, accounts, accountId, { ...change, webhookHeaders })
}

/** Headers that stay or are replaced altogether are not opened, because there may be no key left that opens them. */
function changedHeaders(
  secretKey: SecretKeys,
  account: Pick<AccountRecord, 'accountId' | 'webhookHeaders'>,
  change: WebhookHeaderChange,
): string | null {
  const given = [change.webhookHeaders, change.webhookCredentials].filter((value) => value !== undefined)
  if (given.length === 0) return account.webhookHeaders
  const present = given.length === 2 ? NO_WEBHOOK_HEADERS : webhookHeadersOf(secretKey, account)
  return sealedHeaders(secretKey, account.accountId, present, change)
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
 * Gives the account a new webhook secret. Requests are signed with the current secret too until it is removed. Refused while an older
 * secret still exists, because it would be dropped while receivers may rely on it.
 */
export async function rotateWebhookSecret(
  transaction: Transaction,
  secretKey: SecretKeys,
  accountId: string,
): Promise<IssuedAccount> {
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

/** The changed settings as they are stored. Throws VALIDATION_ERROR. */
function sealedHeaders(
  secretKey: SecretKeys,
  accountId: string,
  present: WebhookHeaderSettings,
  change: WebhookHeaderChange,
): string | null {
  const settings = changedWebhookHeaders(present, change)
  refuseAny(judgeWebhookHeaders(settings, change))
  return sealWebhookHeaders(secretKey, settings, randomBytes(IV_BYTES), accountId)
}

/** A webhook secret in plain text, and as it is stored with the account. */
export function newWebhookSecret(
  secretKey: SecretKeys,
  accountId: string,
): { readonly webhookSecret: string; readonly sealed: string } {
  const webhookSecret = formatWebhookSecret(randomBytes(WEBHOOK_KEY_BYTES))
  const sealed = sealSecret(secretKey, webhookSecret, randomBytes(IV_BYTES), accountSecretContext(accountId))
  return { webhookSecret, sealed }
}

import { randomBytes } from 'node:crypto'
import {
  accountHeadersContext,
  accountSecretContext,
  carrierSecretContext,
  IV_BYTES,
  isSealedAnew,
  openSecret,
  SecretError,
  type SecretKeys,
  sealingKeyId,
  sealSecret,
} from '../domain/secrets.ts'
import { CALLBACK_URL_CONTEXT } from '../domain/webhooks/callback-url.ts'
import type { Queryable } from '../store/database.ts'
import * as store from '../store/sealed-secrets.ts'

interface Counts {
  /** Sealed with the current key now. */
  readonly resealed: number
  /** None of the keys opens them. They are left as they are. */
  readonly unreadable: number
  /** Still sealed with another key, because they changed during each round. */
  readonly pending: number
}

/** `unreadable` and `pending` of the configuration are counted only by the last call. */
export interface Resealed extends Counts {
  /** Id of the key that seals. */
  readonly keyId: string
  /** Messages looked at. */
  readonly scanned: number
  /** The message to continue after; null when everything was looked at. */
  readonly next: store.MessagePosition | null
}

const BATCH = 500
const MAX_ROUNDS = 5
const BEFORE_ALL: store.MessagePosition = { planId: 0, msgId: '00000000-0000-0000-0000-000000000000' }

/** Runs the statements that read secrets, and those that replace a batch of them, which return how many. */
export interface SealedStore {
  readonly read: <T>(find: (db: Queryable) => Promise<T>) => Promise<T>
  readonly replace: (replacement: (transaction: Queryable) => Promise<number>) => Promise<number>
}

/**
 * Reseals with the current key the secrets that another key has sealed. Each call handles the whole configuration and
 * then `stretch` messages; the last call handles the configuration again. Secrets sealed with the current key are left
 * alone, so this may be interrupted and repeated.
 */
export async function resealSecrets(
  secrets: SealedStore,
  keys: SecretKeys,
  { after, stretch = 10_000 }: { after: store.MessagePosition | null; stretch?: number },
): Promise<Resealed> {
  const keyId = sealingKeyId(keys)
  if (after === null) {
    const { resealed } = await resealConfiguration(secrets, keys)
    return { keyId, resealed, unreadable: 0, pending: 0, scanned: 0, next: BEFORE_ALL }
  }
  const messages = await resealMessages(secrets, keys, after, stretch)
  if (messages.next !== null) return { keyId, ...messages }
  const configuration = await resealConfiguration(secrets, keys)
  return {
    keyId,
    resealed: messages.resealed + configuration.resealed,
    unreadable: messages.unreadable + configuration.unreadable,
    pending: messages.pending + configuration.pending,
    scanned: messages.scanned,
    next: null,
  }
}

async function resealMessages(
  secrets: SealedStore,
  keys: SecretKeys,
  after: store.MessagePosition,
  stretch: number,
) {
  let found: store.SealedMessages | undefined
  const find = async () => {
    found = await secrets.read((db) => store.findSealedMessages(db, after, stretch))
    return found.sealed
  }
  const counts = await resealInRounds(keys, find, {
    context: () => CALLBACK_URL_CONTEXT,
    replace: (batch) => secrets.replace((transaction) => store.replaceSealedMessages(transaction, batch)),
  })
  const { scanned, last } = found!
  return { ...counts, scanned, next: scanned < stretch ? null : last }
}

async function resealConfiguration(secrets: SealedStore, keys: SecretKeys): Promise<Counts> {
  return resealInRounds(keys, () => secrets.read(store.findSealedConfiguration), {
    context: contextOf,
    replace: (batch) =>
      secrets.replace(async (transaction) => {
        let replaced = 0
        for (const [column, rows] of Map.groupBy(batch, (row) => row.column)) {
          replaced += await store.replaceSealedConfiguration(transaction, column, rows)
        }
        return replaced
      }),
  })
}

/**
 * Reseals the rows that `find` returns until it finds none. A secret that changes between the two statements keeps its new
 * value, and one that moves to another column keeps its old key. The next round finds both.
 */
async function resealInRounds<Row extends { readonly sealed: string }>(
  keys: SecretKeys,
  find: () => Promise<readonly Row[]>,
  how: { context: (row: Row) => string; replace: (batch: (Row & { was: string })[]) => Promise<number> },
): Promise<Counts> {
  let resealed = 0
  for (let round = 0; ; round += 1) {
    const { anew, unreadable } = resealAll(keys, await find(), how.context)
    if (anew.length === 0 || round === MAX_ROUNDS) return { resealed, unreadable, pending: anew.length }
    for (let at = 0; at < anew.length; at += BATCH) {
      resealed += await how.replace(anew.slice(at, at + BATCH))
    }
  }
}

/** Rows that another key has sealed, resealed with the current key. */
function resealAll<Row extends { readonly sealed: string }>(
  keys: SecretKeys,
  rows: readonly Row[],
  context: (row: Row) => string,
): { anew: (Row & { was: string })[]; unreadable: number } {
  const anew: (Row & { was: string })[] = []
  let unreadable = 0
  for (const row of rows) {
    if (isSealedAnew(keys, row.sealed)) continue
    try {
      const text = openSecret(keys, row.sealed, context(row))
      anew.push({
        ...row,
        was: row.sealed,
        sealed: sealSecret(keys, text, randomBytes(IV_BYTES), context(row)),
      })
    } catch (error) {
      if (!(error instanceof SecretError)) throw error
      unreadable += 1
    }
  }
  return { anew, unreadable }
}

function contextOf({ column, id, accountId }: store.SealedRow): string {
  switch (column) {
    case 'accounts.webhook_secret':
    case 'accounts.previous_webhook_secret':
      return accountSecretContext(accountId!)
    case 'accounts.webhook_headers':
      return accountHeadersContext(accountId!)
    case 'carriers.password':
      return carrierSecretContext(id)
    default:
      return CALLBACK_URL_CONTEXT
  }
}

import { randomBytes } from 'node:crypto'
import { CALLBACK_URL_CONTEXT } from '../domain/callback-credentials.ts'
import {
  accountHeadersContext,
  accountSecretContext,
  carrierSecretContext,
  isSealedAnew,
  openSecret,
  SecretError,
  type SecretKeys,
  sealSecret,
} from '../domain/secrets.ts'
import type { Queryable } from '../store/database.ts'
import * as store from '../store/sealed-secrets.ts'

export interface Resealed {
  /** Sealed with the present key now. */
  readonly resealed: number
  /** Opened by none of the keys, and left as they are. */
  readonly unreadable: number
  /** Messages that were looked at. */
  readonly scanned: number
  /** Behind which message to continue; null when everything was looked at. */
  readonly next: store.MessagePosition | null
}

const IV_BYTES = 12
const BATCH = 500
const BEFORE_ALL: store.MessagePosition = { planId: 0, msgId: '00000000-0000-0000-0000-000000000000' }

/**
 * Seals with the present key what another key has sealed: first the whole configuration, then `stretch` messages with each
 * call. What is sealed with the present key is left alone, so it may be interrupted and repeated.
 */
export async function resealSecrets(
  db: Queryable,
  keys: SecretKeys,
  { after, stretch = 10_000 }: { after: store.MessagePosition | null; stretch?: number },
): Promise<Resealed> {
  if (after === null) return { ...(await resealConfiguration(db, keys)), scanned: 0, next: BEFORE_ALL }
  const { scanned, last, sealed } = await store.findSealedMessages(db, after, stretch)
  const { anew, unreadable } = resealAll(keys, sealed, () => CALLBACK_URL_CONTEXT)
  let resealed = 0
  for (let at = 0; at < anew.length; at += BATCH) {
    resealed += await store.replaceSealedMessages(db, anew.slice(at, at + BATCH))
  }
  return { resealed, unreadable, scanned, next: scanned < stretch ? null : last }
}

async function resealConfiguration(db: Queryable, keys: SecretKeys) {
  const { anew, unreadable } = resealAll(keys, await store.findSealedConfiguration(db), contextOf)
  let resealed = 0
  for (const [column, rows] of Map.groupBy(anew, (row) => row.column)) {
    for (let at = 0; at < rows.length; at += BATCH) {
      resealed += await store.replaceSealedConfiguration(db, column, rows.slice(at, at + BATCH))
    }
  }
  return { resealed, unreadable }
}

/** Those that another key has sealed, sealed anew. */
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

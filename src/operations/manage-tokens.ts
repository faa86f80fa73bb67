import { randomBytes } from 'node:crypto'
import { canonicalPublicId } from '../domain/identifiers.ts'
import { hashToken, makeToken, tokenHint } from '../domain/tokens.ts'
import { type Database, type Queryable, withTransaction } from '../store/database.ts'
import { findPlansOfAccount } from '../store/service-plans.ts'
import * as store from '../store/tokens.ts'
import { keyOfAccount } from './named-rows.ts'
import { refuseField, refuseMissing, sayConflicts } from './refuse-administration.ts'

/** With the token itself, which is nowhere stored. */
export interface IssuedToken extends store.TokenRecord {
  readonly token: string
}

/** Issues a token: it is in the answer and never again. `servicePlanIds` null: every plan of the account. */
export async function issueToken(
  db: Database,
  input: { accountId: string; name: string; servicePlanIds: readonly string[] | null },
): Promise<IssuedToken> {
  const token = makeToken(randomBytes(32))
  const record = await sayConflicts({ inUse: 'the account was removed meanwhile' }, () =>
    withTransaction(db, async (transaction) => {
      const account = await keyOfAccount(transaction, input.accountId)
      const planIds = await planKeys(transaction, account, input.servicePlanIds)
      const tokenId = await store.insertToken(transaction, {
        account,
        planIds,
        name: input.name,
        hint: tokenHint(token),
        sha256: hashToken(token),
      })
      return (await store.findToken(transaction, tokenId))!
    }),
  )
  return { ...record, token }
}

/** Ends a token for good; revoking it again changes nothing. */
export async function revokeToken(db: Queryable, tokenId: number, at: Date): Promise<void> {
  if (!(await store.revokeToken(db, tokenId, at))) throw refuseMissing('token')
}

async function planKeys(
  transaction: Queryable,
  account: number,
  servicePlanIds: readonly string[] | null,
): Promise<number[] | null> {
  if (servicePlanIds === null) return null
  const wanted = servicePlanIds.map(canonicalPublicId)
  const plans = await findPlansOfAccount(transaction, account, wanted)
  const found = new Set(plans.map((plan) => plan.servicePlanId))
  const missing = wanted.find((servicePlanId) => !found.has(servicePlanId))
  if (missing !== undefined) {
    throw refuseField(
      'servicePlanIds',
      'NOT_FOUND',
      `must be service plans of the account: ${missing} is none`,
    )
  }
  return plans.map((plan) => plan.id)
}

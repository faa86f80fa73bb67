import { randomBytes } from 'node:crypto'
import { ENVIRONMENT_OPERATOR, makeToken, type Operator, storedToken } from '../../domain/credentials.ts'
import { canonicalPublicId } from '../../domain/identifiers.ts'
import { parseTimestamp } from '../../domain/instants.ts'
import { conflict, invalidField } from '../../errors.ts'
import type { Transaction } from '../../store/database.ts'
import { findPlansOfAccount } from '../../store/service-plans.ts'
import { type OperatorTokenRecord, operatorTokens, type TokenRecord, tokens } from '../../store/tokens.ts'
import { keyOfAccount, refuseMore, sayConflicts } from './configuration-rows.ts'

interface TokenInput extends Pick<TokenRecord, 'accountId' | 'name' | 'servicePlanIds' | 'scopes'> {
  /** RFC 3339; null: it never expires. */
  readonly expiresAt: string | null
}

/** Issues a token. Only this answer has it. `nowMs`: Unix milliseconds. */
export async function issueToken(
  transaction: Transaction,
  input: TokenInput,
  nowMs: number,
): Promise<{ record: TokenRecord; token: string }> {
  const expiresAt = expiryOf(input.expiresAt, nowMs)
  const scopes = input.scopes === null ? null : [...new Set(input.scopes)]
  const token = makeToken(randomBytes(32))
  const words = { inUse: 'the account was removed meanwhile' }
  const record = await sayConflicts(words, async () => {
    const account = await keyOfAccount(transaction, input.accountId)
    const planIds = await planKeys(transaction, account, input.servicePlanIds)
    return tokens.insert(transaction, {
      account,
      planIds,
      name: input.name,
      ...storedToken(token),
      scopes,
      expiresAt,
    })
  })
  return { record, token }
}

function expiryOf(text: string | null, nowMs: number): Date | null {
  if (text === null) return null
  const expiresAtMs = parseTimestamp(text, 'down')
  if (expiresAtMs === null) {
    throw invalidField('expiresAt', 'INVALID_FORMAT', 'must be an RFC 3339 timestamp with an offset')
  }
  if (expiresAtMs <= nowMs) throw invalidField('expiresAt', 'IN_THE_PAST', 'must be in the future')
  return new Date(expiresAtMs)
}

async function planKeys(
  transaction: Transaction,
  account: number,
  servicePlanIds: readonly string[] | null,
): Promise<number[] | null> {
  if (servicePlanIds === null) return null
  const wanted = servicePlanIds.map(canonicalPublicId)
  const plans = await findPlansOfAccount(transaction, account, wanted)
  const found = new Set(plans.map((plan) => plan.servicePlanId))
  const missing = wanted.find((servicePlanId) => !found.has(servicePlanId))
  if (missing !== undefined) {
    throw invalidField(
      'servicePlanIds',
      'NOT_FOUND',
      `must be service plans of the account: ${missing} is not`,
    )
  }
  return plans.map((plan) => plan.id)
}

/** Every node keeps those that are not revoked in memory. */
const MAX_OPERATOR_TOKENS = 10_000

/** Issues a token for an operator. Only this answer has it. A name is never given twice, not even in another case. */
export async function issueOperatorToken(
  transaction: Transaction,
  { name, role }: Operator,
): Promise<{ record: OperatorTokenRecord; token: string }> {
  const taken = `operator token ${name} exists already; names of revoked tokens are not given again`
  if (name.toLowerCase() === ENVIRONMENT_OPERATOR.name)
    throw conflict(`${name} is the name of OPERATOR_TOKEN`)
  const token = makeToken(randomBytes(32))
  const record = await sayConflicts({ taken }, () =>
    operatorTokens.insert(transaction, {
      name,
      role,
      ...storedToken(token),
    }),
  )
  await refuseMore(transaction, operatorTokens, MAX_OPERATOR_TOKENS)
  return { record, token }
}

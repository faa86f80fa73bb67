import { randomBytes } from 'node:crypto'
import { ENVIRONMENT_OPERATOR, makeToken, type Operator, storedToken } from '../../domain/credentials.ts'
import { conflict } from '../../errors.ts'
import type { Transaction } from '../../store/database.ts'
import * as store from '../../store/operator-tokens.ts'
import { refuseMore } from './configuration-rows.ts'
import { sayConflicts } from './write-conflicts.ts'

/** Every node keeps those that are not revoked in memory. */
const MAX_OPERATOR_TOKENS = 10_000

/** Issues a token for an operator. Only this answer has it. A name is never given twice, not even in another case. */
export async function issueOperatorToken(
  transaction: Transaction,
  { name, role }: Operator,
): Promise<{ record: store.OperatorTokenRecord; token: string }> {
  const taken = `operator token ${name} exists already; names of revoked tokens are not given again`
  if (name.toLowerCase() === ENVIRONMENT_OPERATOR.name)
    throw conflict(`${name} is the name of OPERATOR_TOKEN`)
  const token = makeToken(randomBytes(32))
  const record = await sayConflicts({ taken }, () =>
    store.operatorTokens.insert(transaction, {
      name,
      role,
      ...storedToken(token),
    }),
  )
  await refuseMore(transaction, store.operatorTokens, MAX_OPERATOR_TOKENS)
  return { record, token }
}

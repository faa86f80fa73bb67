import type { Operator } from '../domain/credentials.ts'
import { ConfigurationTable } from './configuration-table.ts'

/** An operator token without its secret, which is not stored anywhere. */
export interface OperatorTokenRecord extends Operator {
  readonly operatorTokenId: number
  readonly hint: string
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

/** `hash`: SHA-256 of the token. */
interface OperatorTokenColumns extends Operator {
  readonly hint: string
  readonly hash: Buffer
}

/** Revoked ones too. */
export const operatorTokens = new ConfigurationTable<OperatorTokenRecord, OperatorTokenColumns>({
  noun: 'operator token',
  table: 'operator_tokens',
  select: `t.id as "operatorTokenId", t.name, t.role, t.hint, t.created_at as "createdAt",
    t.revoked_at as "revokedAt"`,
  key: 'id',
  keyOf: Number,
  counted: 'revoked_at is null',
  columns: { name: 'name', role: 'role', hint: 'hint', hash: 'hash' },
})

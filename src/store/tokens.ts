import type { Operator, TokenScope } from '../domain/credentials.ts'
import { ConfigurationTable } from './configuration-table.ts'

/** A token without its secret, which is not stored anywhere. */
export interface TokenRecord {
  readonly tokenId: number
  readonly accountId: string
  readonly name: string
  readonly hint: string
  /** Plans the token is limited to; null: every plan of the account. */
  readonly servicePlanIds: readonly string[] | null
  /** What it may do; null: everything. */
  readonly scopes: readonly TokenScope[] | null
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

interface TokenColumns {
  readonly account: number
  readonly planIds: readonly number[] | null
  readonly name: string
  readonly hint: string
  /** SHA-256 of the token. */
  readonly hash: Buffer
  readonly scopes: readonly TokenScope[] | null
  readonly expiresAt: Date | null
}

/** Revoked ones too. */
export const tokens = new ConfigurationTable<TokenRecord, TokenColumns>({
  noun: 'token',
  table: 'tokens',
  reads: {
    tokenId: 't.id',
    accountId: 'a.account_id',
    servicePlanIds: `case when t.plan_ids is not null then array(
      select p.service_plan_id from service_plans p where p.id = any (t.plan_ids) order by p.service_plan_id
    ) end`,
    revokedAt: 't.revoked_at',
  },
  joins: 'join accounts a on a.id = t.account_id',
  key: 'id',
  keyOf: Number,
  columns: {
    account: 'account_id',
    planIds: 'plan_ids',
    name: 'name',
    hint: 'hint',
    hash: 'hash',
    scopes: 'scopes',
    expiresAt: 'expires_at',
  },
  hidden: ['account', 'planIds', 'hash'],
  filters: {
    accountId: 'a.account_id = lower(?)',
    servicePlanId: 't.plan_ids && array(select p.id from service_plans p where p.service_plan_id = lower(?))',
  },
})

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
  reads: { operatorTokenId: 't.id', revokedAt: 't.revoked_at' },
  key: 'id',
  keyOf: Number,
  counted: 'revoked_at is null',
  columns: { name: 'name', role: 'role', hint: 'hint', hash: 'hash' },
  hidden: ['hash'],
})

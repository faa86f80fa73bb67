import type { TokenScope } from '../domain/tokens.ts'
import type { Queryable } from './database.ts'

/** A token without its secret, which is nowhere stored. */
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

const SELECT = `select t.id as "tokenId", a.account_id as "accountId", t.name, t.hint,
  case when t.plan_ids is not null then array(
    select p.service_plan_id from service_plans p where p.id = any (t.plan_ids) order by p.service_plan_id
  ) end as "servicePlanIds",
  t.scopes, t.created_at as "createdAt", t.expires_at as "expiresAt", t.revoked_at as "revokedAt"
  from tokens t join accounts a on a.id = t.account_id`

/** `sha256` in hex. Gives the token's number. */
export async function insertToken(
  db: Queryable,
  token: {
    account: number
    planIds: readonly number[] | null
    name: string
    hint: string
    sha256: string
    scopes: readonly TokenScope[] | null
    expiresAt: Date | null
  },
): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `insert into tokens (account_id, plan_ids, name, hint, hash, scopes, expires_at)
     values ($1, $2, $3, $4, decode($5, 'hex'), $6, $7)
     returning id`,
    [token.account, token.planIds, token.name, token.hint, token.sha256, token.scopes, token.expiresAt],
  )
  return rows[0]!.id
}

export async function findToken(db: Queryable, tokenId: number): Promise<TokenRecord | undefined> {
  const { rows } = await db.query<TokenRecord>(`${SELECT} where t.id = $1`, [tokenId])
  return rows[0]
}

/** By number, from the one behind `after`, revoked ones too; of one account when `accountId` is given. */
export async function listTokens(
  db: Queryable,
  page: { after: number; limit: number; accountId: string | null },
): Promise<TokenRecord[]> {
  const { rows } = await db.query<TokenRecord>(
    `${SELECT} where t.id > $1 and ($3::text is null or a.account_id = $3) order by t.id limit $2`,
    [page.after, page.limit, page.accountId],
  )
  return rows
}

/** Revokes a token; the first time stands. False when there is no such token. */
export async function revokeToken(db: Queryable, tokenId: number, at: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    'update tokens set revoked_at = coalesce(revoked_at, $2) where id = $1',
    [tokenId, at],
  )
  return rowCount === 1
}

import { Type } from 'typebox'
import { canonicalPublicId } from '../../../domain/identifiers.ts'
import { issueToken, revokeToken } from '../../../operations/manage-tokens.ts'
import { refuseMissing } from '../../../operations/refuse-administration.ts'
import { findToken, listTokens, type TokenRecord } from '../../../store/tokens.ts'
import {
  DisplayName,
  limitOf,
  Nullable,
  PublicId,
  page,
  pageOf,
  pageQuery,
  Timestamp,
  TokenId,
} from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const Creation = Type.Object(
  {
    accountId: PublicId,
    name: DisplayName,
    servicePlanIds: Type.Optional(Nullable(Type.Array(PublicId, { minItems: 1, maxItems: 100 }))),
  },
  { additionalProperties: false },
)
const Params = Type.Object({ tokenId: TokenId })
const Token = Type.Object({
  tokenId: Type.Integer(),
  accountId: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: 'start and end of the token' }),
  servicePlanIds: Nullable(Type.Array(Type.String())),
  createdAt: Timestamp,
  revokedAt: Nullable(Timestamp),
})
const Created = Type.Object({ ...Token.properties, token: Type.String() })

export function registerTokens(scope: AdminScope, { db }: AdminDeps): void {
  const tags = ['tokens']

  scope.post(
    '/tokens',
    { schema: { tags, body: Creation, response: answers(201, Created) } },
    async ({ body }, reply) => {
      const { record, token } = await issueToken(db, { servicePlanIds: null, ...body })
      reply.code(201).header('location', `/admin/v1/tokens/${record.tokenId}`)
      return { ...present(record), token }
    },
  )

  const Query = pageQuery(TokenId, { accountId: Type.Optional(PublicId) })
  scope.get(
    '/tokens',
    { schema: { tags, querystring: Query, response: answers(200, pageOf(Token)) } },
    async ({ query }) => {
      const { shown, fetched } = limitOf(query)
      const accountId = query.accountId === undefined ? null : canonicalPublicId(query.accountId)
      const rows = await listTokens(db, { after: Number(query.after ?? 0), limit: fetched, accountId })
      return page(rows, shown, (row) => String(row.tokenId), present)
    },
  )

  scope.get(
    '/tokens/:tokenId',
    { schema: { tags, params: Params, response: answers(200, Token) } },
    async ({ params }) => {
      const token = await findToken(db, Number(params.tokenId))
      if (token === undefined) throw refuseMissing('token')
      return present(token)
    },
  )

  // Revoked, and kept for the record: lists still show it.
  scope.delete(
    '/tokens/:tokenId',
    { schema: { tags, params: Params, response: answers(204, Type.Null()) } },
    async ({ params }, reply) => {
      await revokeToken(db, Number(params.tokenId), new Date())
      return reply.code(204).send(null)
    },
  )
}

function present(token: TokenRecord) {
  return {
    tokenId: token.tokenId,
    accountId: token.accountId,
    name: token.name,
    hint: token.hint,
    servicePlanIds: token.servicePlanIds === null ? null : [...token.servicePlanIds],
    createdAt: token.createdAt.toISOString(),
    revokedAt: token.revokedAt?.toISOString() ?? null,
  }
}

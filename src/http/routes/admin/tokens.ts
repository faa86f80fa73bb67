import { Type } from 'typebox'
import { TOKEN_SCOPES } from '../../../domain/credentials.ts'
import { revokeRow } from '../../../operations/manage/configuration-rows.ts'
import { issueToken } from '../../../operations/manage/tokens.ts'
import { type TokenRecord, tokens } from '../../../store/tokens.ts'
import { PublicId } from '../../schemas/parameters.ts'
import { Nullable, oneOf, requestBody, titled } from '../../schemas/shapes.ts'
import { AccountId, DisplayName, described, pageQuery, ServicePlanId, Timestamp, TokenId } from './fields.ts'
import { addDelete, addIssue, addReads, PAGED, type Resource } from './resource.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const Creation = requestBody(
  'TokenCreation',
  {
    accountId: AccountId,
    name: DisplayName,
    servicePlanIds: Type.Optional(
      Nullable(
        Type.Array(PublicId, {
          minItems: 1,
          maxItems: 100,
          description: 'Service plans that it may be used for; null: all',
        }),
      ),
    ),
    scopes: Type.Optional(
      Nullable(
        Type.Array(oneOf(TOKEN_SCOPES), {
          minItems: 1,
          maxItems: TOKEN_SCOPES.length,
          description: 'What the token may do; null: everything',
        }),
      ),
    ),
    expiresAt: Type.Optional(
      Nullable(Type.String({ maxLength: 40, description: 'When it expires, RFC 3339; null: never' })),
    ),
  },
  {
    accountId: '64f0c0ffee64f0c0ffee64f0',
    name: 'Production',
    servicePlanIds: ['65f0c0ffee65f0c0ffee65f0'],
  },
)
const Query = pageQuery(TokenId, {
  accountId: Type.Optional(AccountId),
  servicePlanId: Type.Optional(
    described(ServicePlanId, 'Service plan that they are limited to, alone or with others'),
  ),
})
const Token = titled('Token', {
  tokenId: Type.Integer(),
  accountId: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: 'start and end of the token' }),
  servicePlanIds: Nullable(Type.Array(Type.String())),
  scopes: Nullable(Type.Array(Type.String())),
  createdAt: Timestamp,
  expiresAt: Nullable(Timestamp),
  revokedAt: Nullable(Timestamp),
})
const Issued = titled('IssuedToken', { ...Token.properties, token: Type.String() })

const TOKENS: Resource<typeof Token, TokenRecord> = {
  table: tokens,
  path: '/tokens',
  texts: {
    create:
      'Customers call the API with it. The token is shown in this answer only; the database keeps its hash.',
    list: `Revoked tokens are listed too. ${PAGED}`,
    show: 'Returns its settings and a hint, never its secret.',
    remove: 'Revokes it for good: every node refuses it within 5 seconds. Lists still show it.',
  },
  removal: { operationId: 'revokeToken', summary: 'Delete a token' },
  key: 'tokenId',
  keyField: TokenId,
  item: Token,
  present: (token) => token,
}

export function registerTokens(scope: AdminScope, deps: AdminDeps): void {
  addIssue(scope, deps, TOKENS, {
    body: Creation,
    answer: Issued,
    issue: async (transaction, body) => {
      const input = { servicePlanIds: null, scopes: null, expiresAt: null, ...body }
      const { record, token } = await issueToken(transaction, input, deps.clock())
      return { row: record, secret: { token } }
    },
  })
  addReads(scope, deps, TOKENS, Query)
  // Revoked tokens are kept for the record: lists still show them.
  addDelete(scope, deps, TOKENS, (transaction, key) => revokeRow(transaction, tokens, key))
}

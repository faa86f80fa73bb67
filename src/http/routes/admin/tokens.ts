import { OPERATOR_ROLES, TOKEN_SCOPES } from '../../../domain/credentials.ts'
import { revokeRow } from '../../../operations/manage/configuration-rows.ts'
import { issueOperatorToken, issueToken } from '../../../operations/manage/tokens.ts'
import { type OperatorTokenRecord, operatorTokens, type TokenRecord, tokens } from '../../../store/tokens.ts'
import { PublicId } from '../../schemas/parameters.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { Nullable, oneOf, requestBody, titled } from '../../schemas/shapes.ts'
import { patterned } from '../../validate.ts'
import { AccountId, DisplayName, described, pageQuery, ServicePlanId, Timestamp, TokenId } from './fields.ts'
import type { AdminDeps, AdminScope } from './operations.ts'
import { addDelete, addIssue, addReads, PAGED, type Resource } from './resource.ts'

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

const Role = oneOf(OPERATOR_ROLES, {
  title: 'OperatorRole',
  description: 'admin: everything; support: only reads',
})
/** No two look alike, because the audit log names operators by them. */
const OperatorName = patterned(
  /^(?=.{1,99}$)[A-Za-z0-9](?: ?[A-Za-z0-9._@-])*$/,
  'must begin with a letter or digit and have at most 99 letters, digits, dots, underscores, @, dashes and single spaces',
  { description: 'Who uses it, in ASCII; the audit log shows this name', examples: ['Jane Doe'] },
)
const OperatorCreation = requestBody(
  'OperatorTokenCreation',
  { name: OperatorName, role: Role },
  { name: 'Jane Doe', role: 'support' },
)
const OperatorToken = titled('OperatorToken', {
  operatorTokenId: Type.Integer(),
  name: Type.String(),
  role: Role,
  hint: Type.String({ description: 'start and end of the token' }),
  createdAt: Timestamp,
  revokedAt: Nullable(Timestamp),
})
const IssuedToOperator = titled('IssuedOperatorToken', { ...OperatorToken.properties, token: Type.String() })

const OPERATOR_TOKENS: Resource<typeof OperatorToken, OperatorTokenRecord> = {
  table: operatorTokens,
  path: '/operator-tokens',
  texts: {
    create:
      'An operator calls the admin API with it. The token is shown in this answer only; the database keeps its hash. It never expires, and names are never reused.',
    list: `Revoked tokens are listed too; those of OPERATOR_TOKEN are not. ${PAGED}`,
    show: 'Returns its role and a hint, never its secret.',
    remove: 'Revokes it for good: every node refuses it within 5 seconds. Lists still show it.',
  },
  removal: { operationId: 'revokeOperatorToken', summary: 'Delete an operator token' },
  key: 'operatorTokenId',
  keyField: TokenId,
  item: OperatorToken,
  present: (token) => token,
}

export function registerOperatorTokens(scope: AdminScope, deps: AdminDeps): void {
  addIssue(scope, deps, OPERATOR_TOKENS, {
    body: OperatorCreation,
    answer: IssuedToOperator,
    issue: async (transaction, body) => {
      const { record, token } = await issueOperatorToken(transaction, body)
      return { row: record, secret: { token } }
    },
  })
  addReads(scope, deps, OPERATOR_TOKENS, pageQuery(TokenId, {}))
  addDelete(scope, deps, OPERATOR_TOKENS, (transaction, key) => revokeRow(transaction, operatorTokens, key))
}

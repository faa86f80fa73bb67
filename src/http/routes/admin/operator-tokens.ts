import { Type } from 'typebox'
import { OPERATOR_ROLES } from '../../../domain/credentials.ts'
import { revokeRow } from '../../../operations/manage/configuration-rows.ts'
import { issueOperatorToken } from '../../../operations/manage/operator-tokens.ts'
import { type OperatorTokenRecord, operatorTokens } from '../../../store/operator-tokens.ts'
import { Nullable, oneOf, requestBody, titled } from '../../schemas/shapes.ts'
import { patterned } from '../../validate.ts'
import { pageQuery, Timestamp, TokenId } from './fields.ts'
import { addDelete, addIssue, addReads, PAGED, type Resource } from './resource.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

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
const Creation = requestBody(
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
const Issued = titled('IssuedOperatorToken', { ...OperatorToken.properties, token: Type.String() })

const TOKENS: Resource<typeof OperatorToken, OperatorTokenRecord> = {
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
  addIssue(scope, deps, TOKENS, {
    body: Creation,
    answer: Issued,
    issue: async (transaction, body) => {
      const { record, token } = await issueOperatorToken(transaction, body)
      return { row: record, secret: { token } }
    },
  })
  addReads(scope, deps, TOKENS, pageQuery(TokenId, {}))
  addDelete(scope, deps, TOKENS, (transaction, key) => revokeRow(transaction, operatorTokens, key))
}

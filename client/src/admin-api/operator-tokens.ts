// Made from the OpenAPI document by `npm run generate-client`.

export interface IssuedOperatorToken {
  operatorTokenId: number
  name: string
  /** admin: everything; support: only reads. */
  role: OperatorRole
  /** start and end of the token. */
  hint: string
  createdAt: string
  revokedAt: string | null
  token: string
}

export type OperatorRole = 'admin' | 'support'

export interface OperatorToken {
  operatorTokenId: number
  name: string
  /** admin: everything; support: only reads. */
  role: OperatorRole
  /** start and end of the token. */
  hint: string
  createdAt: string
  revokedAt: string | null
}

export interface OperatorTokenCreation {
  /** Who uses it, in ASCII; the audit log shows this name. */
  name: string
  /** admin: everything; support: only reads. */
  role: OperatorRole
}

export interface OperatorTokenPage {
  items: OperatorToken[]
  nextAfter: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface OperatorTokensOperations {
  /** Create an operator token. An operator calls the admin API with it. The token is shown in this answer only; the database keeps its hash. It never expires, and names are never reused. */
  createOperatorToken: { input: OperatorTokenCreation; answer: IssuedOperatorToken }
  /** List operator tokens. Revoked tokens are listed too; those of OPERATOR_TOKEN are not. Sorted by name or number. */
  listOperatorTokens: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
    }
    answer: OperatorTokenPage
  }
  /** Show an operator token. Returns its role and a hint, never its secret. */
  getOperatorToken: {
    input: {
      /** Number of the token, as listed. */
      operatorTokenId: string
    }
    answer: OperatorToken
  }
  /** Delete an operator token. Revokes it for good: every node refuses it within 5 seconds. Lists still show it. */
  revokeOperatorToken: {
    input: {
      /** Number of the token, as listed. */
      operatorTokenId: string
    }
    answer: undefined
  }
}

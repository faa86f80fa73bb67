// Made from the OpenAPI document by `npm run generate-client`.

import type { DisplayName } from './several-tags.ts'

export interface IssuedToken {
  tokenId: number
  accountId: string
  name: string
  /** start and end of the token. */
  hint: string
  servicePlanIds: string[] | null
  scopes: string[] | null
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
  token: string
}

export interface Token {
  tokenId: number
  accountId: string
  name: string
  /** start and end of the token. */
  hint: string
  servicePlanIds: string[] | null
  scopes: string[] | null
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
}

export interface TokenCreation {
  /** Id of the account, 24 hex digits. */
  accountId: string
  /** Name to show. */
  name: DisplayName
  /** Service plans that it may be used for; null: all. */
  servicePlanIds?: string[] | null | undefined
  /** What the token may do; null: everything. */
  scopes?: ('send' | 'read' | 'webhooks')[] | null | undefined
  /** When it expires, RFC 3339; null: never. */
  expiresAt?: string | null | undefined
}

export interface TokenPage {
  items: Token[]
  nextAfter: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface TokensOperations {
  /** Create a token. Customers call the API with it. The token is shown in this answer only; the database keeps its hash. */
  createToken: { input: TokenCreation; answer: IssuedToken }
  /** List tokens. Revoked tokens are listed too. Sorted by name or number. */
  listTokens: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the account, 24 hex digits. */
      accountId?: string | undefined
      /** Service plan that they are limited to, alone or with others. */
      servicePlanId?: string | undefined
    }
    answer: TokenPage
  }
  /** Show a token. Returns its settings and a hint, never its secret. */
  getToken: {
    input: {
      /** Number of the token, as listed. */
      tokenId: string
    }
    answer: Token
  }
  /** Delete a token. Revokes it for good: every node refuses it within 5 seconds. Lists still show it. */
  revokeToken: {
    input: {
      /** Number of the token, as listed. */
      tokenId: string
    }
    answer: undefined
  }
}

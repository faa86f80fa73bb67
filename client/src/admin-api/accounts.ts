// Made from the OpenAPI document by `npm run generate-client`.

import type { DisplayName, RateLimit } from './several-tags.ts'

export interface Account {
  accountId: string
  name: string
  defaultDlrUrl: string | null
  webhookHeaderNames: string[]
  webhookCredentialsSet: boolean
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit: RateLimit | null
  previousWebhookSecretLive: boolean
  createdAt: string
}

export interface AccountChange {
  /** Name to show. */
  name?: DisplayName | undefined
  /** URL for receipts of messages that name none; null: none. */
  defaultDlrUrl?: string | null | undefined
  /** Headers of every webhook of the account, in addition to ours; null: none. */
  webhookHeaders?: WebhookHeader[] | null | undefined
  /** Basic credentials of every webhook whose URL has none; they exclude a header Authorization; null: none. */
  webhookCredentials?: BasicCredentials | null | undefined
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit?: RateLimit | null | undefined
}

export interface AccountCreation {
  /** Id of the account, 24 hex digits. */
  accountId?: string | undefined
  /** Name to show. */
  name: DisplayName
  /** URL for receipts of messages that name none; null: none. */
  defaultDlrUrl?: string | null | undefined
  /** Headers of every webhook of the account, in addition to ours; null: none. */
  webhookHeaders?: WebhookHeader[] | null | undefined
  /** Basic credentials of every webhook whose URL has none; they exclude a header Authorization; null: none. */
  webhookCredentials?: BasicCredentials | null | undefined
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit?: RateLimit | null | undefined
}

export interface AccountPage {
  items: Account[]
  nextAfter: string | null
}

export interface BasicCredentials {
  username: string
  password: string
}

export interface CreatedAccount {
  accountId: string
  name: string
  defaultDlrUrl: string | null
  webhookHeaderNames: string[]
  webhookCredentialsSet: boolean
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit: RateLimit | null
  previousWebhookSecretLive: boolean
  createdAt: string
  webhookSecret: string
}

export interface RotatedWebhookSecret {
  accountId: string
  webhookSecret: string
}

export interface WebhookHeader {
  name: string
  value: string
}

/** Each operation: its input, and its answer when it succeeds. */
export interface AccountsOperations {
  /** Create an account. The account owns service plans and tokens. Its webhook secret is shown in this answer only. */
  createAccount: { input: AccountCreation; answer: CreatedAccount }
  /** List accounts. Sorted by name or number. */
  listAccounts: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Beginning of their name, in any case. */
      search?: DisplayName | undefined
    }
    answer: AccountPage
  }
  /** Show an account. Secrets are never shown: of headers the names, of URLs no credentials. */
  getAccount: {
    input: {
      /** Id of the account, 24 hex digits. */
      accountId: string
    }
    answer: Account
  }
  /** Update an account. Omitted fields keep their values. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  updateAccount: {
    input: {
      /** Id of the account, 24 hex digits. */
      accountId: string
    } & AccountChange
    answer: Account
  }
  /** Delete an account. An account that has service plans or live tokens cannot be deleted. */
  deleteAccount: {
    input: {
      /** Id of the account, 24 hex digits. */
      accountId: string
    }
    answer: undefined
  }
  /** Rotate the webhook secret of an account. Returns a new secret, shown in this answer only. Webhooks are signed with both secrets until the rotation is ended. */
  rotateWebhookSecret: {
    input: {
      /** Id of the account, 24 hex digits. */
      accountId: string
    }
    answer: RotatedWebhookSecret
  }
  /** Remove the previous webhook secret of an account. Ends a rotation: from now on webhooks are signed with the newest secret only. */
  deletePreviousWebhookSecret: {
    input: {
      /** Id of the account, 24 hex digits. */
      accountId: string
    }
    answer: undefined
  }
}

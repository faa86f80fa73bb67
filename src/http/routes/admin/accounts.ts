import { Type } from 'typebox'
import { canonicalPublicId } from '../../../domain/identifiers.ts'
import type { SecretKeys } from '../../../domain/secrets.ts'
import { MAX_WEBHOOK_HEADERS } from '../../../domain/webhook-requests.ts'
import {
  changeAccount,
  createAccount,
  removeAccount,
  removePreviousWebhookSecret,
  rotateWebhookSecret,
  webhookHeadersOf,
} from '../../../operations/manage-accounts.ts'
import { type AccountRecord, accounts as table } from '../../../store/accounts.ts'
import { changeBody, Nullable, requestBody, titled } from '../../schemas/shapes.ts'
import { shownUrl, storableUrl } from './callback-urls.ts'
import {
  AccountId,
  BasicPassword,
  BasicUsername,
  CallbackUrl,
  DisplayName,
  described,
  NullableText,
  PublicId,
  pageQuery,
  RateLimitField,
  rateLimitColumns,
  rateLimitField,
  Timestamp,
  WebhookHeaderName,
  WebhookHeaderValue,
} from './fields.ts'
import { addChange, addCreate, addDelete, addReads, type Resource } from './resource.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const WebhookHeaders = Type.Array(
  Type.Object(
    { name: WebhookHeaderName, value: WebhookHeaderValue },
    { title: 'WebhookHeader', additionalProperties: false },
  ),
  {
    maxItems: MAX_WEBHOOK_HEADERS,
    writeOnly: true,
    description: 'Headers of every webhook of the account, in addition to ours; null: none',
  },
)
const WebhookCredentials = Type.Object(
  { username: BasicUsername, password: BasicPassword },
  {
    title: 'BasicCredentials',
    additionalProperties: false,
    writeOnly: true,
    description:
      'Basic credentials of every webhook whose URL has none; they exclude a header Authorization; null: none',
  },
)
const settings = {
  defaultDlrUrl: Type.Optional(
    Nullable(described(CallbackUrl, 'URL for receipts of messages that name none; null: none')),
  ),
  webhookHeaders: Type.Optional(Nullable(WebhookHeaders)),
  webhookCredentials: Type.Optional(Nullable(WebhookCredentials)),
  rateLimit: Type.Optional(Nullable(RateLimitField)),
}
const Creation = requestBody(
  'AccountCreation',
  { accountId: Type.Optional(AccountId), name: DisplayName, ...settings },
  {
    accountId: '64f0c0ffee64f0c0ffee64f0',
    name: 'Example Ltd',
    defaultDlrUrl: 'https://hooks.example.com/receipts',
  },
)
const Change = changeBody(
  'AccountChange',
  { name: Type.Optional(DisplayName), ...settings },
  { rateLimit: { messagesPerSecond: 100, burst: 200 } },
)
const Params = Type.Object({ accountId: AccountId })
const Account = titled('Account', {
  accountId: Type.String(),
  name: Type.String(),
  defaultDlrUrl: NullableText,
  webhookHeaderNames: Type.Array(Type.String()),
  webhookCredentialsSet: Type.Boolean(),
  rateLimit: Nullable(RateLimitField),
  previousWebhookSecretLive: Type.Boolean(),
  createdAt: Timestamp,
})
const Created = titled('CreatedAccount', { ...Account.properties, webhookSecret: Type.String() })
const Rotated = titled('RotatedWebhookSecret', { accountId: Type.String(), webhookSecret: Type.String() })

interface CreatedAccount {
  readonly account: AccountRecord
  readonly webhookSecret: string
}

export function registerAccounts(scope: AdminScope, deps: AdminDeps): void {
  const { db, secretKey } = deps
  const accounts = accountsOf(secretKey)
  const created = {
    ...accounts,
    item: Created,
    keyOf: ({ account }: CreatedAccount) => account.accountId,
    present: ({ account, webhookSecret }: CreatedAccount) => ({
      ...accounts.present(account),
      webhookSecret,
    }),
  }

  addCreate(scope, created, Creation, async ({ rateLimit, defaultDlrUrl = null, ...rest }) =>
    createAccount(db, secretKey, {
      ...rest,
      defaultDlrUrl: await storableUrl(deps, 'defaultDlrUrl', defaultDlrUrl),
      ...rateLimitColumns(rateLimit),
    }),
  )
  addReads(scope, deps, accounts, pageQuery(PublicId, {}))
  addChange(scope, accounts, Change, async (accountId, { rateLimit, defaultDlrUrl, ...rest }) => {
    const url = await storableUrl(deps, 'defaultDlrUrl', defaultDlrUrl)
    return changeAccount(db, secretKey, accountId, {
      ...rest,
      ...rateLimitColumns(rateLimit),
      ...(url !== undefined && { defaultDlrUrl: url }),
    })
  })
  addDelete(scope, accounts, (accountId) => removeAccount(db, accountId))
  registerWebhookSecret(scope, deps)
}

function accountsOf(secretKey: SecretKeys): Resource<typeof Account, AccountRecord> {
  return {
    table,
    path: '/accounts',
    texts: {
      create: 'The account owns service plans and tokens. Its webhook secret is shown in this answer only.',
      show: 'Secrets are never shown: of headers the names, of URLs no credentials.',
      remove: 'An account that has service plans or live tokens cannot be deleted.',
    },
    key: 'accountId',
    keyField: AccountId,
    item: Account,
    keyOf: (account) => account.accountId,
    present: (account) => {
      const { headers, credentials } = webhookHeadersOf(secretKey, account)
      return {
        accountId: account.accountId,
        name: account.name,
        defaultDlrUrl: shownUrl(secretKey, account.defaultDlrUrl),
        webhookHeaderNames: headers.map(({ name }) => name),
        webhookCredentialsSet: credentials !== null,
        rateLimit: rateLimitField(account),
        previousWebhookSecretLive: account.previousWebhookSecret !== null,
        createdAt: account.createdAt.toISOString(),
      }
    },
  }
}

function registerWebhookSecret(scope: AdminScope, { db, secretKey }: AdminDeps): void {
  scope.post(
    '/accounts/:accountId/webhook-secret/rotate',
    {
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Rotate the webhook secret of an account',
        description:
          'Returns a new secret, shown in this answer only. Webhooks are signed with both secrets until the rotation is ended.',
        tags: ['Accounts'],
        params: Params,
        response: answers(200, Rotated),
      },
    },
    async ({ params }) => {
      const accountId = canonicalPublicId(params.accountId)
      return { accountId, webhookSecret: await rotateWebhookSecret(db, secretKey, accountId) }
    },
  )

  scope.delete(
    '/accounts/:accountId/webhook-secret/previous',
    {
      schema: {
        operationId: 'removePreviousWebhookSecret',
        summary: 'Remove the previous webhook secret of an account',
        description: 'Ends a rotation: from now on webhooks are signed with the newest secret only.',
        tags: ['Accounts'],
        params: Params,
        response: answers(204, Type.Null()),
      },
    },
    async ({ params }, reply) => {
      await removePreviousWebhookSecret(db, params.accountId)
      return reply.code(204).send(null)
    },
  )
}

import { rateLimitField } from '../../../domain/limits/rate-limits.ts'
import { orUnreadable, type SecretKeys } from '../../../domain/secrets.ts'
import { MAX_WEBHOOK_HEADERS } from '../../../domain/webhooks/requests.ts'
import {
  ACCOUNTS,
  deletePreviousWebhookSecret,
  removeAccount,
  rotateWebhookSecret,
  webhookHeadersOf,
} from '../../../operations/configuration/accounts.ts'
import { type AccountRecord, accounts as table } from '../../../store/accounts.ts'
import { PublicId } from '../../schemas/parameters.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { changeBody, Nullable, requestBody, titled } from '../../schemas/shapes.ts'
import { recordedUrl, shownUrl } from './callback-urls.ts'
import {
  AccountId,
  BasicPassword,
  BasicUsername,
  CallbackUrl,
  DisplayName,
  described,
  NameSearch,
  NullableText,
  pageQuery,
  RateLimitField,
  Timestamp,
  WebhookHeaderName,
  WebhookHeaderValue,
} from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'
import { addConfigured, type ConfiguredResource, rowChange } from './resource.ts'

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
export const AccountCreation = requestBody(
  'AccountCreation',
  {
    accountId: Type.Optional(AccountId),
    name: DisplayName,
    defaultDlrUrl: Type.Optional(
      Nullable(described(CallbackUrl, 'URL for receipts of messages that name none; null: none')),
    ),
    webhookHeaders: Type.Optional(Nullable(WebhookHeaders)),
    webhookCredentials: Type.Optional(Nullable(WebhookCredentials)),
    rateLimit: Type.Optional(Nullable(RateLimitField)),
  },
  {
    accountId: '64f0c0ffee64f0c0ffee64f0',
    name: 'Example Ltd',
    defaultDlrUrl: 'https://hooks.example.com/receipts',
  },
)
const Change = changeBody('AccountChange', AccountCreation, ['accountId'], {
  rateLimit: { messagesPerSecond: 100, burst: 200 },
})
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

export function registerAccounts(scope: AdminScope, deps: AdminDeps): void {
  const accounts = accountsOf(deps.secretKey)
  addConfigured(scope, deps, accounts)
  registerWebhookSecret(scope, deps, accounts)
}

type Accounts = ConfiguredResource<typeof Account, AccountRecord>

function accountsOf(secretKey: SecretKeys): Accounts {
  return {
    kind: ACCOUNTS,
    path: '/accounts',
    texts: {
      create: 'The account owns service plans and tokens. Its webhook secret is shown in this answer only.',
      show: 'Secrets are never shown: of headers the names, of URLs no credentials.',
      remove: 'An account that has service plans or live tokens cannot be deleted.',
    },
    key: 'accountId',
    keyField: AccountId,
    item: Account,
    creation: AccountCreation,
    created: Created,
    change: Change,
    query: pageQuery(PublicId, { search: Type.Optional(NameSearch) }),
    remove: removeAccount,
    present: (account) => withUrl(secretKey, account, shownUrl(secretKey, account.defaultDlrUrl)),
    settings: (account) => withUrl(secretKey, account, recordedUrl(secretKey, account.defaultDlrUrl)),
  }
}

function withUrl(secretKey: SecretKeys, account: AccountRecord, defaultDlrUrl: string | null) {
  const settings = orUnreadable(() => webhookHeadersOf(secretKey, account))
  const isReadable = typeof settings !== 'string'
  return {
    accountId: account.accountId,
    name: account.name,
    defaultDlrUrl,
    webhookHeaderNames: isReadable ? settings.headers.map(({ name }) => name) : [settings],
    webhookCredentialsSet: isReadable && settings.credentials !== null,
    rateLimit: rateLimitField(account),
    previousWebhookSecretLive: account.previousWebhookSecret !== null,
    createdAt: account.createdAt,
  }
}

function registerWebhookSecret(
  scope: AdminScope,
  { change, secretKey }: AdminDeps,
  accounts: Accounts,
): void {
  addOperation(scope, 'POST /accounts/:accountId/webhook-secret/rotate', {
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the webhook secret of an account',
    description:
      'Returns a new secret, shown in this answer only. Webhooks are signed with both secrets until the rotation is ended.',
    tags: ['Accounts'],
    params: Params,
    answer: Rotated,
    run: (request) => {
      const { accountId } = request.params
      return change(request, async (transaction) => {
        const before = await table.find(transaction, accountId, 'for update')
        const { account, webhookSecret } = await rotateWebhookSecret(transaction, secretKey, accountId)
        const value = { accountId: account.accountId, webhookSecret }
        return { value, entry: rowChange({ ...accounts, table }, before, account) }
      })
    },
  })

  addOperation(scope, 'DELETE /accounts/:accountId/webhook-secret/previous', {
    operationId: 'deletePreviousWebhookSecret',
    summary: 'Remove the previous webhook secret of an account',
    description: 'Ends a rotation: from now on webhooks are signed with the newest secret only.',
    tags: ['Accounts'],
    params: Params,
    run: async (request) => {
      const { accountId } = request.params
      await change(request, async (transaction) => {
        const before = await table.find(transaction, accountId, 'for update')
        const account = await deletePreviousWebhookSecret(transaction, accountId)
        return { value: null, entry: rowChange({ ...accounts, table }, before, account) }
      })
    },
  })
}

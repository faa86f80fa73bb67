import { Type } from 'typebox'
import { canonicalPublicId } from '../../../domain/identifiers.ts'
import {
  changeAccount,
  createAccount,
  removeAccount,
  removePreviousWebhookSecret,
  rotateWebhookSecret,
} from '../../../operations/manage-accounts.ts'
import { refuseMissing } from '../../../operations/refuse-administration.ts'
import { type AccountRecord, findAccount, listAccounts } from '../../../store/accounts.ts'
import { shownUrl, storableUrl } from './callback-urls.ts'
import {
  CallbackUrl,
  DisplayName,
  limitOf,
  Nullable,
  PublicId,
  page,
  pageOf,
  pageQuery,
  RateLimitField,
  rateLimitColumns,
  rateLimitField,
  Timestamp,
} from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const settings = {
  defaultDlrUrl: Type.Optional(Nullable(CallbackUrl)),
  rateLimit: Type.Optional(Nullable(RateLimitField)),
}
const Creation = Type.Object(
  { accountId: Type.Optional(PublicId), name: DisplayName, ...settings },
  { additionalProperties: false },
)
const Change = Type.Object(
  { name: Type.Optional(DisplayName), ...settings },
  { additionalProperties: false, minProperties: 1 },
)
const Params = Type.Object({ accountId: PublicId })
const Account = Type.Object({
  accountId: Type.String(),
  name: Type.String(),
  defaultDlrUrl: Nullable(Type.String()),
  rateLimit: Nullable(RateLimitField),
  previousWebhookSecretLive: Type.Boolean(),
  createdAt: Timestamp,
})
const Created = Type.Object({ ...Account.properties, webhookSecret: Type.String() })
const Rotated = Type.Object({ accountId: Type.String(), webhookSecret: Type.String() })

export function registerAccounts(scope: AdminScope, deps: AdminDeps): void {
  const { db, secretKey } = deps
  const present = (account: AccountRecord) => ({
    accountId: account.accountId,
    name: account.name,
    defaultDlrUrl: shownUrl(secretKey, account.defaultDlrUrl),
    rateLimit: rateLimitField(account),
    previousWebhookSecretLive: account.previousWebhookSecret !== null,
    createdAt: account.createdAt.toISOString(),
  })

  scope.post(
    '/accounts',
    { schema: { tags: ['accounts'], body: Creation, response: answers(201, Created) } },
    async (request, reply) => {
      const { rateLimit, ...rest } = request.body
      const defaultDlrUrl = await storableUrl(deps, 'defaultDlrUrl', rest.defaultDlrUrl ?? null)
      const { account, webhookSecret } = await createAccount(db, secretKey, {
        messagesPerSecond: null,
        burst: null,
        ...rest,
        defaultDlrUrl,
        ...rateLimitColumns(rateLimit),
      })
      reply.code(201).header('location', `/admin/v1/accounts/${account.accountId}`)
      return { ...present(account), webhookSecret }
    },
  )

  scope.get(
    '/accounts',
    {
      schema: {
        tags: ['accounts'],
        querystring: pageQuery(PublicId, {}),
        response: answers(200, pageOf(Account)),
      },
    },
    async ({ query }) => {
      const { shown, fetched } = limitOf(query)
      const after = canonicalPublicId(query.after ?? '')
      const rows = await listAccounts(db, { after, limit: fetched })
      return page(rows, shown, (row) => row.accountId, present)
    },
  )

  scope.get(
    '/accounts/:accountId',
    { schema: { tags: ['accounts'], params: Params, response: answers(200, Account) } },
    async ({ params }) => {
      const account = await findAccount(db, canonicalPublicId(params.accountId))
      if (account === undefined) throw refuseMissing('account')
      return present(account)
    },
  )

  scope.patch(
    '/accounts/:accountId',
    { schema: { tags: ['accounts'], params: Params, body: Change, response: answers(200, Account) } },
    async ({ params, body }) => {
      const { rateLimit, defaultDlrUrl, ...rest } = body
      const url = await storableUrl(deps, 'defaultDlrUrl', defaultDlrUrl)
      const change = {
        ...rest,
        ...rateLimitColumns(rateLimit),
        ...(url === undefined ? {} : { defaultDlrUrl: url }),
      }
      return present(await changeAccount(db, params.accountId, change))
    },
  )

  scope.delete(
    '/accounts/:accountId',
    { schema: { tags: ['accounts'], params: Params, response: answers(204, Type.Null()) } },
    async ({ params }, reply) => {
      await removeAccount(db, params.accountId)
      return reply.code(204).send(null)
    },
  )

  registerWebhookSecret(scope, deps)
}

function registerWebhookSecret(scope: AdminScope, { db, secretKey }: AdminDeps): void {
  scope.post(
    '/accounts/:accountId/webhook-secret/rotate',
    { schema: { tags: ['accounts'], params: Params, response: answers(200, Rotated) } },
    async ({ params }) => {
      const accountId = canonicalPublicId(params.accountId)
      return { accountId, webhookSecret: await rotateWebhookSecret(db, secretKey, accountId) }
    },
  )

  scope.delete(
    '/accounts/:accountId/webhook-secret/previous',
    { schema: { tags: ['accounts'], params: Params, response: answers(204, Type.Null()) } },
    async ({ params }, reply) => {
      await removePreviousWebhookSecret(db, params.accountId)
      return reply.code(204).send(null)
    },
  )
}

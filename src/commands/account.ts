import type { Command } from 'commander'
import { type ConnectionOptions, segment } from './admin-client.ts'
import { addRateOptions, type RateOptions, rateLimit } from './rate-options.ts'
import { addAction, addCreate, addDelete, addList, addShow, addUpdate, requestAndPrint } from './resource.ts'
import type { Setting } from './settings.ts'
import { addWebhookOptions, type WebhookOptions, webhookFields } from './webhook-options.ts'

const PATH = '/accounts'
const EXAMPLES = `
Examples:
  aldis account create --name "Example Ltd" --default-dlr-url https://example.com/dlr
  aldis account update 64f0c0ffee0123456789abcd --rate 50 --burst 100
  aldis account update 64f0c0ffee0123456789abcd --webhook-header - < headers.txt
  aldis account rotate-webhook-secret 64f0c0ffee0123456789abcd`

const DEFAULT_DLR_URL: Setting = [
  'defaultDlrUrl',
  '--default-dlr-url <url>',
  'URL for receipts of messages without a callbackUrl',
]

export function register(program: Command): void {
  const account = program
    .command('account')
    .description('Accounts: the customers that service plans and tokens belong to')
    .addHelpText('after', EXAMPLES)

  const create = addCreate(account, {
    path: PATH,
    description: 'create an account; its webhook secret is shown only once',
    settings: [
      ['name', '--name <name>', 'display name', 'required'],
      ['accountId', '--id <accountId>', '24 hex digits (default: generated)'],
      DEFAULT_DLR_URL,
    ],
    others,
  })
  addRateOptions(addWebhookOptions(create, false), false)

  addList(account, {
    path: PATH,
    description: 'list accounts',
    columns: {
      ACCOUNT: 'accountId',
      NAME: 'name',
      'DEFAULT DLR URL': 'defaultDlrUrl',
      RATE: 'rateLimit.messagesPerSecond',
    },
  })
  addShow(account, { key: 'accountId', path: PATH, description: 'show an account, not its secrets' })

  const update = addUpdate(account, {
    key: 'accountId',
    path: PATH,
    description: 'change an account; omitted options keep their values',
    settings: [
      ['name', '--name <name>', 'display name'],
      DEFAULT_DLR_URL,
      ['defaultDlrUrl', '--no-default-dlr-url', 'remove the default'],
    ],
    others,
  })
  addRateOptions(addWebhookOptions(update, true), true)

  addDelete(account, {
    key: 'accountId',
    path: PATH,
    description: 'delete an account without plans and live tokens',
  })
  registerSecret(account)
}

function registerSecret(account: Command): void {
  addAction(
    account,
    'rotate-webhook-secret <accountId>',
    'make a new webhook secret; the old one signs too until you remove it',
  ).action((accountId: string, options: ConnectionOptions) =>
    requestAndPrint(options, 'POST', `${PATH}/${segment(accountId)}/webhook-secret/rotate`),
  )
  addAction(
    account,
    'remove-previous-webhook-secret <accountId>',
    'end a rotation, so that only the newest secret signs',
  ).action((accountId: string, options: ConnectionOptions) =>
    requestAndPrint(options, 'DELETE', `${PATH}/${segment(accountId)}/webhook-secret/previous`),
  )
}

function others(options: RateOptions & WebhookOptions) {
  return { ...webhookFields(options), rateLimit: rateLimit(options) }
}

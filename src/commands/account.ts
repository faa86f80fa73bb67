import type { Command } from 'commander'
import { type ConnectionOptions, given, orNull, segment } from './admin-client.ts'
import { addRateOptions, type RateOptions, rateLimit } from './rate-options.ts'
import { addAction, addDelete, addList, addShow, requestAndPrint } from './resource.ts'
import { addWebhookOptions, type WebhookOptions, webhookFields } from './webhook-options.ts'

const PATH = '/accounts'
const EXAMPLES = `
Examples:
  aldis account create --name "Example Ltd" --default-dlr-url https://example.com/dlr
  aldis account update 64f0c0ffee0123456789abcd --rate 50 --burst 100
  aldis account update 64f0c0ffee0123456789abcd --webhook-header - < headers.txt
  aldis account rotate-webhook-secret 64f0c0ffee0123456789abcd`

interface AccountOptions extends ConnectionOptions, RateOptions, WebhookOptions {
  readonly id?: string
  readonly name?: string
  readonly defaultDlrUrl?: string | false
}

export function register(program: Command): void {
  const account = program
    .command('account')
    .description('Customers: who service plans and tokens belong to')
    .addHelpText('after', EXAMPLES)

  const create = addAction(account, 'create', 'create an account; its webhook secret is shown this once')
    .requiredOption('--name <name>', 'name for people')
    .option('--id <accountId>', '24 hex digits (default: made up)')
    .option('--default-dlr-url <url>', 'where receipts go when a message has no callbackUrl')
  addRateOptions(addWebhookOptions(create, false), false).action((options: AccountOptions) =>
    requestAndPrint(options, 'POST', PATH, given({ accountId: options.id, ...fields(options) })),
  )

  addList(account, {
    description: 'list accounts',
    path: PATH,
    columns: [
      ['ACCOUNT', 'accountId'],
      ['NAME', 'name'],
      ['DEFAULT DLR URL', 'defaultDlrUrl'],
      ['RATE', 'rateLimit.messagesPerSecond'],
    ],
  })
  addShow(account, { key: 'accountId', path: PATH, description: 'show an account, not its secrets' })

  const update = addAction(account, 'update <accountId>', 'change an account; what is not given stays')
    .option('--name <name>', 'name for people')
    .option('--default-dlr-url <url>', 'where receipts go when a message has no callbackUrl')
    .option('--no-default-dlr-url', 'have no default')
  addRateOptions(addWebhookOptions(update, true), true).action((accountId: string, options: AccountOptions) =>
    requestAndPrint(options, 'PATCH', `${PATH}/${segment(accountId)}`, given(fields(options))),
  )

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
    'make a new webhook secret; the present one signs beside it until it is removed',
  ).action((accountId: string, options: ConnectionOptions) =>
    requestAndPrint(options, 'POST', `${PATH}/${segment(accountId)}/webhook-secret/rotate`),
  )
  addAction(
    account,
    'remove-previous-webhook-secret <accountId>',
    'end a rotation: only the newest secret signs',
  ).action((accountId: string, options: ConnectionOptions) =>
    requestAndPrint(options, 'DELETE', `${PATH}/${segment(accountId)}/webhook-secret/previous`),
  )
}

function fields(options: AccountOptions): Record<string, unknown> {
  return {
    name: options.name,
    defaultDlrUrl: orNull(options.defaultDlrUrl),
    ...webhookFields(options),
    rateLimit: rateLimit(options),
  }
}

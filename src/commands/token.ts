import type { Command } from 'commander'
import { type ConnectionOptions, given, repeated } from './admin-client.ts'
import { addAction, addDelete, addList, addShow, requestAndPrint } from './resource.ts'

const PATH = '/tokens'
const EXAMPLES = `
Examples:
  aldis token create --account 64f0c0ffee0123456789abcd --name backend
  aldis token create --account 64f0c0ffee0123456789abcd --name alerts --plan 65a1c0ffee0123456789abcd
  aldis token create --account 64f0c0ffee0123456789abcd --name report --scope read --expires-at 2027-01-31T00:00:00Z
  aldis token revoke 7`

interface TokenOptions extends ConnectionOptions {
  readonly account: string
  readonly name: string
  readonly plan?: string[]
  readonly scope?: string[]
  readonly expiresAt?: string
}

export function register(program: Command): void {
  const token = program
    .command('token')
    .description('Access tokens of the public API')
    .addHelpText('after', EXAMPLES)

  addAction(token, 'create', 'issue a token; it is shown this once')
    .requiredOption('--account <accountId>', 'account it belongs to')
    .requiredOption('--name <name>', 'what it is for')
    .option(
      '--plan <servicePlanId>',
      'limit it to this plan; may be repeated (default: every plan)',
      repeated,
    )
    .option(
      '--scope <scope>',
      'limit it to send, read or webhooks; may be repeated (default: everything)',
      repeated,
    )
    .option('--expires-at <time>', 'refuse it from then on, as in 2027-01-31T00:00:00Z (default: never)')
    .action((options: TokenOptions) => {
      const body = {
        accountId: options.account,
        name: options.name,
        servicePlanIds: options.plan,
        scopes: options.scope,
        expiresAt: options.expiresAt,
      }
      return requestAndPrint(options, 'POST', PATH, given(body))
    })

  addList(
    token,
    {
      description: 'list tokens, revoked ones too',
      path: PATH,
      columns: [
        ['TOKEN', 'tokenId'],
        ['ACCOUNT', 'accountId'],
        ['NAME', 'name'],
        ['HINT', 'hint'],
        ['PLANS', 'servicePlanIds'],
        ['SCOPES', 'scopes'],
        ['CREATED', 'createdAt'],
        ['EXPIRES', 'expiresAt'],
        ['REVOKED', 'revokedAt'],
      ],
    },
    { accountId: { flag: '--account <accountId>', description: 'of this account only' } },
  )
  addShow(token, { key: 'tokenId', path: PATH, description: 'show a token, not its secret' })
  addDelete(token, {
    key: 'tokenId',
    path: PATH,
    word: 'revoke',
    description: 'revoke a token for good, on every node within 5 s',
  })
}

import type { Command } from 'commander'
import { repeated } from './admin-client.ts'
import { addCreate, addDelete, addList, addShow } from './resource.ts'

const PATH = '/tokens'
const EXAMPLES = `
Examples:
  aldis token create --account 64f0c0ffee0123456789abcd --name backend
  aldis token create --account 64f0c0ffee0123456789abcd --name alerts --plan 65a1c0ffee0123456789abcd
  aldis token create --account 64f0c0ffee0123456789abcd --name report --scope read --expires-at 2027-01-31T00:00:00Z
  aldis token revoke 7`

export function register(program: Command): void {
  const token = program
    .command('token')
    .description('Access tokens of the public API')
    .addHelpText('after', EXAMPLES)

  addCreate(token, {
    path: PATH,
    description: 'issue a token; it is shown only once',
    settings: [
      ['accountId', '--account <accountId>', 'account that it belongs to', 'required'],
      ['name', '--name <name>', 'what it is for', 'required'],
      [
        'servicePlanIds',
        '--plan <servicePlanId>',
        'limit it to this plan; may be repeated (default: every plan)',
        repeated,
      ],
      [
        'scopes',
        '--scope <scope>',
        'limit it to send, read or webhooks; may be repeated (default: everything)',
        repeated,
      ],
      [
        'expiresAt',
        '--expires-at <time>',
        'refuse it from this time on, such as 2027-01-31T00:00:00Z (default: never)',
      ],
    ],
  })

  addList(token, {
    path: PATH,
    description: 'list tokens, including revoked ones',
    columns: {
      TOKEN: 'tokenId',
      ACCOUNT: 'accountId',
      NAME: 'name',
      HINT: 'hint',
      PLANS: 'servicePlanIds',
      SCOPES: 'scopes',
      CREATED: 'createdAt',
      EXPIRES: 'expiresAt',
      REVOKED: 'revokedAt',
    },
    filters: [['accountId', '--account <accountId>', 'of this account only']],
  })
  addShow(token, { key: 'tokenId', path: PATH, description: 'show a token, without its secret' })
  addDelete(token, {
    key: 'tokenId',
    path: PATH,
    word: 'revoke',
    description: 'revoke a token for good, on every node within 5 s',
  })
}

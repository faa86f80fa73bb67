import type { Command } from 'commander'
import type { ConnectionOptions } from './admin-client.ts'
import type { Column } from './printing.ts'
import { addAction, addPageOptions, addShow, printList } from './resource.ts'

const PATH = '/inbound-messages'
const COLUMNS: readonly Column[] = [
  ['RECEIVED', 'receivedAt'],
  ['MESSAGE', 'msgId'],
  ['FROM', 'from'],
  ['TO', 'to'],
  ['KEYWORD', 'keyword'],
  ['BODY', 'body'],
]
const EXAMPLES = `
Examples:
  aldis inbound list --plan 65a1c0ffee0123456789abcd --from +15551230000
  aldis inbound show 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
  aldis inbound unowned --limit 20`

interface ListOptions extends ConnectionOptions {
  readonly plan: string
  readonly from?: string
  readonly to?: string
  readonly keyword?: string
}

export function register(program: Command): void {
  const inbound = program
    .command('inbound')
    .description('Inbound messages, as the operator sees them')
    .addHelpText('after', EXAMPLES)

  const list = addAction(inbound, 'list', 'list the inbound messages of a service plan, newest first')
    .requiredOption('--plan <servicePlanId>', 'of this plan')
    .option('--from <sender>', 'from this person only')
    .option('--to <number>', 'to this number only')
    .option('--keyword <word>', 'that matched this keyword, in any case')
  addPageOptions(list).action(({ plan, from, to, keyword, ...options }: ListOptions) =>
    printList(options, PATH, COLUMNS, { servicePlanId: plan, from, to, keyword }),
  )
  addShow(inbound, { key: 'msgId', path: PATH, description: 'show an inbound message' })

  const unowned = addAction(inbound, 'unowned', 'list messages to numbers that nobody owns, newest first')
  addPageOptions(unowned).action((options: ConnectionOptions) =>
    printList(
      options,
      '/unowned-inbound-messages',
      COLUMNS.map((column) => (column[1] === 'keyword' ? ['CARRIER', 'carrier'] : column)),
    ),
  )
}

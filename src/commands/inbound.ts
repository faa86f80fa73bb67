import type { Command } from 'commander'
import { addList, addShow } from './resource.ts'

const PATH = '/inbound-messages'
const COLUMNS = { RECEIVED: 'receivedAt', MESSAGE: 'msgId', FROM: 'from', TO: 'to' }
const EXAMPLES = `
Examples:
  aldis inbound list --plan 65a1c0ffee0123456789abcd --from +15551230000
  aldis inbound show 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
  aldis inbound unowned --limit 20`

export function register(program: Command): void {
  const inbound = program
    .command('inbound')
    .description('Inbound messages, as the operator sees them')
    .addHelpText('after', EXAMPLES)

  addList(inbound, {
    path: PATH,
    description: 'list the inbound messages of a service plan, newest first',
    columns: { ...COLUMNS, KEYWORD: 'keyword', BODY: 'body' },
    filters: [
      ['servicePlanId', '--plan <servicePlanId>', 'of this plan', 'required'],
      ['from', '--from <sender>', 'from this person only'],
      ['to', '--to <number>', 'to this number only'],
      ['keyword', '--keyword <word>', 'with this keyword, in any case'],
    ],
  })
  addShow(inbound, { key: 'msgId', path: PATH, description: 'show an inbound message' })
  addList(inbound, {
    word: 'unowned',
    path: '/unowned-inbound-messages',
    description: 'list messages to numbers that nobody owns, newest first',
    columns: { ...COLUMNS, CARRIER: 'carrier', BODY: 'body' },
  })
}

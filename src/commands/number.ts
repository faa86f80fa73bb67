import type { Command } from 'commander'
import { repeated } from './admin-client.ts'
import { addCreate, addDelete, addList, addShow, addUpdate } from './resource.ts'

const PATH = '/inbound-numbers'
const EXAMPLES = `
Examples:
  aldis number create +46701234567 --plan 65a1c0ffee0123456789abcd --keyword JOIN --keyword LEAVE
  aldis number update +46701234567 --no-keywords`

export function register(program: Command): void {
  const number = program
    .command('number')
    .description('Inbound numbers: which plan a message to them belongs to')
    .addHelpText('after', EXAMPLES)

  addCreate(number, {
    key: 'number',
    path: PATH,
    description: 'assign a number to a service plan',
    settings: [
      ['servicePlanId', '--plan <servicePlanId>', 'plan that gets its messages', 'required'],
      ['keywords', '--keyword <word>', 'keyword to report; may be repeated', repeated],
    ],
  })

  addList(number, {
    path: PATH,
    description: 'list inbound numbers',
    columns: { NUMBER: 'number', 'SERVICE PLAN': 'servicePlanId', KEYWORDS: 'keywords' },
    filters: [['servicePlanId', '--plan <servicePlanId>', 'of this plan only']],
  })
  addShow(number, { key: 'number', path: PATH, description: 'show an inbound number' })

  addUpdate(number, {
    key: 'number',
    path: PATH,
    description: 'change an inbound number; omitted options keep their values',
    settings: [
      ['servicePlanId', '--plan <servicePlanId>', 'plan that gets its messages'],
      ['keywords', '--no-keywords', 'remove its keywords', () => []],
      ['keywords', '--keyword <word>', 'keyword, replaces all current ones; may be repeated', repeated],
    ],
  })

  addDelete(number, { key: 'number', path: PATH, description: 'take a number from its plan' })
}

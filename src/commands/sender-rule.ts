import type { Command } from 'commander'
import { addCreate, addDelete, addList, addShow, addUpdate } from './resource.ts'
import { fieldsOf, listed, type Setting } from './settings.ts'

const PATH = '/sender-rules'
const EXAMPLES = `
Examples:
  aldis sender-rule add US --types short-code,e164
  aldis sender-rule add CN --no-types
  aldis sender-rule add US --plan 65a1c0ffee0123456789abcd --types e164
  aldis sender-rule list --country US

A sender must be of a kind that its plan allows. If there is a rule for the recipient's country, it must allow the kind
too: the plan's own rule applies, otherwise the one for all plans.`

const TYPES: readonly Setting[] = [
  ['senderTypes', '--types <kinds>', 'short-code, e164, alphanumeric: comma-separated', listed],
  ['senderTypes', '--no-types', 'allow no sender at all', () => []],
]

export function register(program: Command): void {
  const rule = program
    .command('sender-rule')
    .description('Sender rules: which kinds of sender are allowed to a country')
    .addHelpText('after', EXAMPLES)

  addCreate(rule, {
    key: 'country',
    word: 'add',
    path: PATH,
    description: 'add a rule',
    settings: [['servicePlanId', '--plan <servicePlanId>', 'for this plan only'], ...TYPES],
    others: needTypes,
  })

  addList(rule, {
    path: PATH,
    description: 'list sender rules',
    columns: {
      RULE: 'ruleId',
      'SERVICE PLAN': 'servicePlanId',
      COUNTRY: 'country',
      'SENDER TYPES': 'senderTypes',
    },
    filters: [
      ['servicePlanId', '--plan <servicePlanId>', 'of this plan only'],
      ['country', '--country <code>', 'of this country only'],
    ],
  })
  addShow(rule, { key: 'ruleId', path: PATH, description: 'show a sender rule' })
  addUpdate(rule, {
    key: 'ruleId',
    path: PATH,
    description: 'change what a rule allows',
    settings: TYPES,
    others: needTypes,
  })
  addDelete(rule, { key: 'ruleId', path: PATH, description: 'delete a sender rule' })
}

function needTypes(options: object): Record<string, never> {
  if (fieldsOf(TYPES, options).senderTypes === undefined)
    throw new Error('an option is missing: --types or --no-types')
  return {}
}

import type { Command } from 'commander'
import { type ConnectionOptions, given, segment } from './admin-client.ts'
import { addAction, addDelete, addList, addShow, requestAndPrint } from './resource.ts'

const PATH = '/sender-rules'
const EXAMPLES = `
Examples:
  aldis sender-rule add US --types short-code,e164
  aldis sender-rule add CN --no-types
  aldis sender-rule add US --plan 65a1c0ffee0123456789abcd --types e164
  aldis sender-rule list --country US

A sender must be of a kind that its plan allows and, where a rule for the recipient's country is there, of one that the
rule allows: the plan's own rule, or else the one for all plans.`

interface RuleOptions extends ConnectionOptions {
  readonly plan?: string
  readonly types?: string[] | false
}

export function register(program: Command): void {
  const rule = program
    .command('sender-rule')
    .description('Sender rules: which kinds of sender are allowed towards a country')
    .addHelpText('after', EXAMPLES)

  addTypes(
    addAction(rule, 'add <country>', 'add a rule').option('--plan <servicePlanId>', 'for this plan only'),
  ).action((country: string, options: RuleOptions) => {
    const body = { servicePlanId: options.plan, country, senderTypes: typesOf(options) }
    return requestAndPrint(options, 'POST', PATH, given(body))
  })

  addList(
    rule,
    {
      description: 'list sender rules',
      path: PATH,
      columns: [
        ['RULE', 'ruleId'],
        ['SERVICE PLAN', 'servicePlanId'],
        ['COUNTRY', 'country'],
        ['SENDER TYPES', 'senderTypes'],
      ],
    },
    {
      servicePlanId: { flag: '--plan <servicePlanId>', description: 'of this plan only' },
      country: { flag: '--country <code>', description: 'of this country only' },
    },
  )
  addShow(rule, { key: 'ruleId', path: PATH, description: 'show a sender rule' })

  addTypes(addAction(rule, 'update <ruleId>', 'change what a rule allows')).action(
    (ruleId: string, options: RuleOptions) =>
      requestAndPrint(options, 'PATCH', `${PATH}/${segment(ruleId)}`, { senderTypes: typesOf(options) }),
  )

  addDelete(rule, { key: 'ruleId', path: PATH, description: 'delete a sender rule' })
}

function addTypes(command: Command): Command {
  return command
    .option('--types <kinds>', 'short-code, e164, alphanumeric: comma-separated', (text) =>
      text.split(',').map((kind) => kind.trim()),
    )
    .option('--no-types', 'allow no sender at all')
}

function typesOf({ types }: RuleOptions): string[] {
  if (types === undefined) throw new Error('what is allowed is missing: --types or --no-types')
  return types || []
}

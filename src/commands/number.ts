import type { Command } from 'commander'
import { type ConnectionOptions, given, repeated, segment } from './admin-client.ts'
import { addAction, addDelete, addList, addShow, requestAndPrint } from './resource.ts'

const PATH = '/inbound-numbers'
const EXAMPLES = `
Examples:
  aldis number create +46701234567 --plan 65a1c0ffee0123456789abcd --keyword JOIN --keyword LEAVE
  aldis number update +46701234567 --no-keywords`

interface NumberOptions extends ConnectionOptions {
  readonly plan?: string
  readonly keyword?: string[]
  readonly keywords?: boolean
}

export function register(program: Command): void {
  const number = program
    .command('number')
    .description('Inbound numbers: whose plan a message to them belongs to')
    .addHelpText('after', EXAMPLES)

  addAction(number, 'create <number>', 'give a number to a service plan')
    .requiredOption('--plan <servicePlanId>', 'plan that gets its messages')
    .option('--keyword <word>', 'keyword to report; may be repeated', repeated)
    .action((address: string, options: NumberOptions) => {
      const body = { number: address, servicePlanId: options.plan, keywords: options.keyword }
      return requestAndPrint(options, 'POST', PATH, given(body))
    })

  addList(
    number,
    {
      description: 'list inbound numbers',
      path: PATH,
      columns: [
        ['NUMBER', 'number'],
        ['SERVICE PLAN', 'servicePlanId'],
        ['KEYWORDS', 'keywords'],
      ],
    },
    { servicePlanId: { flag: '--plan <servicePlanId>', description: 'of this plan only' } },
  )
  addShow(number, { key: 'number', path: PATH, description: 'show an inbound number' })

  addAction(number, 'update <number>', 'change an inbound number; what is not given stays')
    .option('--plan <servicePlanId>', 'plan that gets its messages')
    .option('--keyword <word>', 'keyword, in place of all there are; may be repeated', repeated)
    .option('--no-keywords', 'have no keywords')
    .action((address: string, options: NumberOptions) => {
      const keywords = options.keyword ?? (options.keywords === false ? [] : undefined)
      const body = given({ servicePlanId: options.plan, keywords })
      return requestAndPrint(options, 'PATCH', `${PATH}/${segment(address)}`, body)
    })

  addDelete(number, { key: 'number', path: PATH, description: 'take a number from its plan' })
}

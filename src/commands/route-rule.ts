import type { Command } from 'commander'
import { type ConnectionOptions, given, segment } from './admin-client.ts'
import { addAction, addDelete, addList, addShow, requestAndPrint } from './resource.ts'

const PATH = '/routing-rules'
const EXAMPLES = `
Examples:
  aldis route rule add --country GB --route uk
  aldis route rule add --from 12345 --route short-codes
  aldis route rule add --plan 65a1c0ffee0123456789abcd --prefix +4479 --route premium

A rule is limited by a plan, a sender and one of mccmnc, prefix and country, each or any of them. Of several that fit,
one that names the sender comes first, then the more specific destination (mccmnc, longer prefix, country), then the
plan's own. Messages that no rule fits take the route of their plan.`

interface RuleOptions extends ConnectionOptions {
  readonly route: string
  readonly plan?: string
  readonly from?: string
  readonly prefix?: string
  readonly country?: string
  readonly mccmnc?: string
}

/** Adds `rule` below the command of routes. */
export function addRules(route: Command): void {
  const rule = route
    .command('rule')
    .description('Rules: which messages take another route than that of their plan')
    .addHelpText('after', EXAMPLES)

  addAction(rule, 'add', 'add a rule')
    .requiredOption('--route <route>', 'route that messages take')
    .option('--plan <servicePlanId>', 'messages of this plan')
    .option('--from <sender>', 'messages of this sender')
    .option('--mccmnc <mccmnc>', 'to this network')
    .option('--prefix <prefix>', 'to numbers that begin so, such as +4479')
    .option('--country <country>', 'to this country, such as GB')
    .action(({ route, plan, from, mccmnc, prefix, country, ...options }: RuleOptions) => {
      const limits = given({ servicePlanId: plan, from, mccmnc, prefix, country })
      return requestAndPrint(options, 'POST', PATH, { ...limits, route })
    })

  addList(
    rule,
    {
      description: 'list rules',
      path: PATH,
      columns: [
        ['RULE', 'ruleId'],
        ['SERVICE PLAN', 'servicePlanId'],
        ['FROM', 'from'],
        ['MCCMNC', 'mccmnc'],
        ['PREFIX', 'prefix'],
        ['COUNTRY', 'country'],
        ['ROUTE', 'route'],
      ],
    },
    {
      servicePlanId: { flag: '--plan <servicePlanId>', description: 'of this plan only' },
      route: { flag: '--route <route>', description: 'that lead to this route' },
    },
  )
  addShow(rule, { key: 'ruleId', path: PATH, description: 'show a rule' })

  addAction(rule, 'update <ruleId>', 'lead a rule to another route')
    .requiredOption('--route <route>', 'route that messages take')
    .action((ruleId: string, { route, ...options }: RuleOptions) =>
      requestAndPrint(options, 'PATCH', `${PATH}/${segment(ruleId)}`, { route }),
    )

  addDelete(rule, { key: 'ruleId', path: PATH, description: 'delete a rule' })
}

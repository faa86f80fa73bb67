import type { Command } from 'commander'
import { addCreate, addDelete, addList, addShow, addUpdate } from './resource.ts'
import type { Setting } from './settings.ts'

const PATH = '/routing-rules'
const EXAMPLES = `
Examples:
  aldis route rule add --country GB --route uk
  aldis route rule add --from 12345 --route short-codes
  aldis route rule add --plan 65a1c0ffee0123456789abcd --prefix +4479 --route premium

A rule may name a plan, a sender and one of mccmnc, prefix and country. If several rules match, one that names the sender
comes first, then the more specific destination (mccmnc, longer prefix, country), then the plan's own. Messages that match
no rule take the route of their plan.`

const ROUTE: Setting = ['route', '--route <route>', 'route that messages take', 'required']

/** Adds `rule` below the command of routes. */
export function addRules(route: Command): void {
  const rule = route
    .command('rule')
    .description('Rules: which messages take another route than the one of their plan')
    .addHelpText('after', EXAMPLES)

  addCreate(rule, {
    word: 'add',
    path: PATH,
    description: 'add a rule',
    settings: [
      ROUTE,
      ['servicePlanId', '--plan <servicePlanId>', 'messages of this plan'],
      ['from', '--from <sender>', 'messages of this sender'],
      ['mccmnc', '--mccmnc <mccmnc>', 'to this network'],
      ['prefix', '--prefix <prefix>', 'to numbers that begin with this, such as +4479'],
      ['country', '--country <country>', 'to this country, such as GB'],
    ],
  })

  addList(rule, {
    path: PATH,
    description: 'list rules',
    columns: {
      RULE: 'ruleId',
      'SERVICE PLAN': 'servicePlanId',
      FROM: 'from',
      MCCMNC: 'mccmnc',
      PREFIX: 'prefix',
      COUNTRY: 'country',
      ROUTE: 'route',
    },
    filters: [
      ['servicePlanId', '--plan <servicePlanId>', 'of this plan only'],
      ['route', '--route <route>', 'that lead to this route'],
    ],
  })
  addShow(rule, { key: 'ruleId', path: PATH, description: 'show a rule' })
  addUpdate(rule, {
    key: 'ruleId',
    path: PATH,
    description: 'lead a rule to another route',
    settings: [ROUTE],
  })
  addDelete(rule, { key: 'ruleId', path: PATH, description: 'delete a rule' })
}

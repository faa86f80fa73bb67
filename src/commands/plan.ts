import { type Command, Option } from 'commander'
import { AMBIGUOUS_SUBMITS, SENDER_KINDS } from '../domain/configuration.ts'
import { NATIONAL_LANGUAGES } from '../domain/text/gsm-national-tables.ts'
import { wholeNumber } from './admin-client.ts'
import { addOptOutOptions, type OptOutOptions, optOut } from './opt-out-options.ts'
import { addRateOptions, type RateOptions, rateLimit } from './rate-options.ts'
import { addCreate, addDelete, addList, addShow, addUpdate } from './resource.ts'
import { listed, type Setting } from './settings.ts'

const PATH = '/service-plans'
const EXAMPLES = `
Examples:
  aldis plan create --account 64f0c0ffee0123456789abcd --name alerts --route default
  aldis plan update 65a1c0ffee0123456789abcd --inbound-url https://example.com/inbound
  aldis plan update 65a1c0ffee0123456789abcd --smart-encoding --national-languages turkish,spanish
  aldis plan update 65a1c0ffee0123456789abcd --opt-out --stop-reply "You will get no more messages from us."
  aldis plan update 65a1c0ffee0123456789abcd --inactive`

const SETTINGS: readonly Setting[] = [
  ['route', '--route <route>', 'route that its messages take'],
  ['inboundUrl', '--inbound-url <url>', 'URL that its inbound messages are pushed to'],
  [
    'senderTypes',
    '--sender-types <list>',
    `kinds of sender it may use, of ${SENDER_KINDS.join(',')}`,
    listed,
  ],
  [
    'ambiguousSubmits',
    '--ambiguous-submits <rule>',
    'what to do if a message may or may not have reached the carrier',
    AMBIGUOUS_SUBMITS,
  ],
  [
    'validitySeconds',
    '--validity <seconds>',
    'how long a message is valid (60-86400; new plans: 86400)',
    wholeNumber,
  ],
  ['smartEncoding', '--smart-encoding', 'replace typographic characters if that makes a text GSM 7-bit'],
  [
    'nationalLanguages',
    '--national-languages <list>',
    `languages whose tables may be used, the preferred one first, of ${NATIONAL_LANGUAGES.join(',')}`,
    listed,
  ],
]

export function register(program: Command): void {
  const plan = program
    .command('plan')
    .description('Service plans: the settings that messages are sent and received with')
    .addHelpText('after', EXAMPLES)

  const create = addCreate(plan, {
    path: PATH,
    description: 'create a service plan',
    settings: [
      ['accountId', '--account <accountId>', 'account that it belongs to', 'required'],
      ['name', '--name <name>', 'display name', 'required'],
      ['servicePlanId', '--id <servicePlanId>', '24 hex digits (default: generated)'],
      ...SETTINGS,
    ],
    others,
  }).option('--inactive', 'refuse its messages until it is activated')
  addRateOptions(addOptOutOptions(create, false), false)

  addList(plan, {
    path: PATH,
    description: 'list service plans',
    columns: {
      'SERVICE PLAN': 'servicePlanId',
      ACCOUNT: 'accountId',
      NAME: 'name',
      ACTIVE: 'active',
      ROUTE: 'route',
      'INBOUND URL': 'inboundUrl',
      RATE: 'rateLimit.messagesPerSecond',
    },
    filters: [['accountId', '--account <accountId>', 'of this account only']],
  })
  addShow(plan, { key: 'servicePlanId', path: PATH, description: 'show a service plan' })

  const update = addUpdate(plan, {
    key: 'servicePlanId',
    path: PATH,
    description: 'change a service plan; omitted options keep their values',
    settings: [
      ['name', '--name <name>', 'display name'],
      ['active', '--active', 'accept its messages'],
      ...SETTINGS,
      ['route', '--no-route', 'remove its route: the plan cannot send'],
      ['inboundUrl', '--no-inbound-url', 'remove its inbound URL'],
      ['smartEncoding', '--no-smart-encoding', 'send texts as they are', () => false],
      ['nationalLanguages', '--no-national-languages', 'use no national language tables', () => []],
    ],
    others,
  }).addOption(new Option('--inactive', 'refuse its messages').conflicts('active'))
  addRateOptions(addOptOutOptions(update, true), true)

  addDelete(plan, {
    key: 'servicePlanId',
    path: PATH,
    description: 'delete a service plan that nothing uses (otherwise make it inactive)',
  })
}

function others(options: RateOptions & OptOutOptions & { readonly inactive?: true }) {
  return {
    rateLimit: rateLimit(options),
    optOut: optOut(options),
    ...(options.inactive && { active: false }),
  }
}

import { type Command, Option } from 'commander'
import { NATIONAL_LANGUAGES } from '../domain/gsm-national-tables.ts'
import { AMBIGUOUS_SUBMITS, SENDER_KINDS } from '../domain/settings.ts'
import { type ConnectionOptions, given, orNull, segment, wholeNumber } from './admin-client.ts'
import { addOptOutOptions, type OptOutOptions, optOut } from './opt-out-options.ts'
import { addRateOptions, type RateOptions, rateLimit } from './rate-options.ts'
import { addAction, addDelete, addList, addShow, requestAndPrint } from './resource.ts'

const PATH = '/service-plans'
const EXAMPLES = `
Examples:
  aldis plan create --account 64f0c0ffee0123456789abcd --name alerts --route default
  aldis plan update 65a1c0ffee0123456789abcd --inbound-url https://example.com/inbound
  aldis plan update 65a1c0ffee0123456789abcd --smart-encoding --national-languages turkish,spanish
  aldis plan update 65a1c0ffee0123456789abcd --opt-out --stop-reply "You will get no more messages from us."
  aldis plan update 65a1c0ffee0123456789abcd --inactive`

interface PlanOptions extends ConnectionOptions, RateOptions, OptOutOptions {
  readonly id?: string
  readonly account?: string
  readonly name?: string
  readonly active?: boolean
  readonly inactive?: boolean
  readonly route?: string | false
  readonly inboundUrl?: string | false
  readonly senderTypes?: string
  readonly ambiguousSubmits?: string
  readonly validity?: number
  readonly smartEncoding?: boolean
  readonly nationalLanguages?: string | false
}

export function register(program: Command): void {
  const plan = program
    .command('plan')
    .description('Service plans: what messages are sent and received under')
    .addHelpText('after', EXAMPLES)

  const create = addAction(plan, 'create', 'create a service plan')
    .requiredOption('--account <accountId>', 'account it belongs to')
    .requiredOption('--name <name>', 'name for people')
    .option('--id <servicePlanId>', '24 hex digits (default: made up)')
    .option('--inactive', 'refuse its messages for now')
  addSettings(create)
  addOptOutOptions(create, false)
  addRateOptions(create, false).action((options: PlanOptions) => {
    const body = { servicePlanId: options.id, accountId: options.account, ...fields(options) }
    return requestAndPrint(options, 'POST', PATH, given(body))
  })

  addList(
    plan,
    {
      description: 'list service plans',
      path: PATH,
      columns: [
        ['SERVICE PLAN', 'servicePlanId'],
        ['ACCOUNT', 'accountId'],
        ['NAME', 'name'],
        ['ACTIVE', 'active'],
        ['ROUTE', 'route'],
        ['INBOUND URL', 'inboundUrl'],
        ['RATE', 'rateLimit.messagesPerSecond'],
      ],
    },
    { accountId: { flag: '--account <accountId>', description: 'of this account only' } },
  )
  addShow(plan, { key: 'servicePlanId', path: PATH, description: 'show a service plan' })

  const update = addAction(plan, 'update <servicePlanId>', 'change a service plan; what is not given stays')
    .option('--name <name>', 'name for people')
    .option('--active', 'accept its messages')
    .addOption(new Option('--inactive', 'refuse its messages').conflicts('active'))
  addSettings(update)
    .option('--no-route', 'have no route: the plan cannot send')
    .option('--no-inbound-url', 'have no inbound URL')
    .option('--no-smart-encoding', 'send texts as they are')
    .option('--no-national-languages', 'send no text with the tables of a language')
  addOptOutOptions(update, true)
  addRateOptions(update, true).action((servicePlanId: string, options: PlanOptions) =>
    requestAndPrint(options, 'PATCH', `${PATH}/${segment(servicePlanId)}`, given(fields(options))),
  )

  addDelete(plan, {
    key: 'servicePlanId',
    path: PATH,
    description: 'delete a service plan that nothing uses (else make it inactive)',
  })
}

function addSettings(command: Command): Command {
  return command
    .option('--route <route>', 'route its messages take')
    .option('--inbound-url <url>', 'where its inbound messages go')
    .option('--sender-types <list>', `senders it may use, of ${SENDER_KINDS.join(',')}`)
    .addOption(
      new Option(
        '--ambiguous-submits <rule>',
        'when a message may or may not have reached the carrier',
      ).choices(AMBIGUOUS_SUBMITS),
    )
    .option('--validity <seconds>', 'how long a message is of use (60-86400; new plans: 86400)', wholeNumber)
    .option('--smart-encoding', 'replace typographic characters where that makes a text GSM 7-bit')
    .option(
      '--national-languages <list>',
      `tables texts may be sent with, the preferred first, of ${NATIONAL_LANGUAGES.join(',')}`,
    )
}

function fields(options: PlanOptions): Record<string, unknown> {
  return {
    name: options.name,
    active: options.inactive ? false : options.active,
    route: orNull(options.route),
    inboundUrl: orNull(options.inboundUrl),
    rateLimit: rateLimit(options),
    senderTypes: listed(options.senderTypes),
    ambiguousSubmits: options.ambiguousSubmits,
    validitySeconds: options.validity,
    smartEncoding: options.smartEncoding,
    nationalLanguages: options.nationalLanguages === false ? [] : listed(options.nationalLanguages),
    optOut: optOut(options),
  }
}

function listed(values: string | undefined): string[] | undefined {
  return values?.split(',').map((value) => value.trim())
}

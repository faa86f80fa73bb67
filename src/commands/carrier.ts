import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { ID_RULES } from '../domain/carrier-message-ids.ts'
import { BIND_MODES, LONG_MESSAGES, REFUSED_OUTCOMES, VALIDITY_FORMATS } from '../domain/configuration.ts'
import { type ConnectionOptions, segment, wholeNumber } from './admin-client.ts'
import { requestCarrier } from './carrier-record.ts'
import { addStates } from './carrier-states.ts'
import { addAction, addCreate, addDelete, addList, addUpdate } from './resource.ts'
import type { Setting } from './settings.ts'
import { readStandardInput } from './standard-input.ts'

const PATH = '/carriers'
const EXAMPLES = `
Examples:
  ALDIS_CARRIER_PASSWORD=secret aldis carrier create acme --host smpp.example.net --system-id aldis
  aldis carrier update acme --window 50 --rate 200
  aldis carrier update acme --binds 4 --outcome 0x45=permanent --outcome 0x401=throttled
  aldis carrier drain acme && aldis carrier stop acme`

/** SMPP 3.4 §5.2.2. */
const STANDARD_PASSWORD_LENGTH = 8
const PASSWORD_HELP = 'password to bind with; - reads it from standard input, so that it is not visible'

/** What `others` reads: the password, and how a carrier begins. */
interface CarrierOptions {
  readonly password?: string
  readonly stopped?: true
}

const SETTINGS: readonly Setting[] = [
  ['port', '--port <port>', 'TCP port (new carriers: 2775)', wholeNumber],
  ['tls', '--tls', 'connect with TLS'],
  ['tlsCa', '--tls-ca <file>', 'PEM file of the authorities its certificate may come from', readText],
  ['tlsServerName', '--tls-server-name <name>', 'name its certificate must have, if not its host'],
  ['bindMode', '--bind-mode <mode>', 'how to bind', BIND_MODES],
  ['binds', '--binds <n>', 'binds of each kind, on all nodes together (new carriers: 1)', wholeNumber],
  ['systemType', '--system-type <type>', 'system_type to bind with'],
  [
    'window',
    '--window <n>',
    'maximum number of unanswered submits of each bind (new carriers: 10)',
    wholeNumber,
  ],
  ['messagesPerSecond', '--rate <n>', 'maximum number of messages per second', wholeNumber],
  [
    'senderMessagesPerSecond',
    '--sender-rate <n>',
    'maximum number of messages per second from one sender',
    wholeNumber,
  ],
  ['longMessages', '--long-messages <form>', 'how long texts are sent', LONG_MESSAGES],
  ['validitySeconds', '--validity <seconds>', 'longest validity_period sent to it (60-86400)', wholeNumber],
  ['validityFormat', '--validity-format <format>', 'how validity_period is written', VALIDITY_FORMATS],
  [
    'submitOutcomes',
    '--outcome <status=outcome>',
    `what a command_status means: ${REFUSED_OUTCOMES.join(', ')}; may be repeated, replaces all current ones`,
    statusOutcome,
  ],
  ['idRule', '--id-rule <rule>', 'how message ids in receipts match those in answers', [...ID_RULES, 'auto']],
]

export function register(program: Command): void {
  const carrier = program
    .command('carrier')
    .description('Carriers: the SMPP connections that messages are sent and received over')
    .addHelpText('after', EXAMPLES)

  addCreate(carrier, {
    key: 'name',
    path: PATH,
    description: 'create a carrier',
    settings: [
      ['host', '--host <host>', 'host name or address of its SMSC', 'required'],
      ['systemId', '--system-id <id>', 'system_id to bind with', 'required'],
      ...SETTINGS,
    ],
    others: ({ stopped, ...options }: CarrierOptions) => {
      if (options.password === undefined) {
        throw new Error('a password is needed: set ALDIS_CARRIER_PASSWORD or give --password -')
      }
      return { ...passwordOf(options), ...(stopped && { state: 'stopped' }) }
    },
    send: requestCarrier,
  })
    .option('--stopped', 'do not bind yet')
    .addOption(new Option('--password <password>', PASSWORD_HELP).env('ALDIS_CARRIER_PASSWORD'))

  addList(carrier, {
    path: PATH,
    description: 'list carriers',
    columns: {
      CARRIER: 'name',
      HOST: 'host',
      PORT: 'port',
      TLS: 'tls',
      BIND: 'bindMode',
      'SYSTEM ID': 'systemId',
      WINDOW: 'window',
      RATE: 'messagesPerSecond',
      STATE: 'state',
      LINK: 'link.state',
    },
  })
  addAction(carrier, 'show <carrier>', 'show a carrier and its links, not its password').action(
    (name: string, options: ConnectionOptions) => requestCarrier(options, 'GET', `${PATH}/${segment(name)}`),
  )

  addUpdate(carrier, {
    key: 'carrier',
    path: PATH,
    description: 'change a carrier; omitted options keep their values',
    settings: [
      ['name', '--name <name>', 'new name'],
      ['host', '--host <host>', 'host name or address of its SMSC'],
      ['systemId', '--system-id <id>', 'system_id to bind with'],
      ...SETTINGS,
      ['tls', '--no-tls', 'connect without TLS', () => false],
      ['tlsCa', '--no-tls-ca', 'trust the authorities of the system'],
      ['tlsServerName', '--no-tls-server-name', 'require its certificate to name its host'],
      ['messagesPerSecond', '--no-rate', 'send as fast as it answers'],
      ['validitySeconds', '--no-validity', "validity_period is the message's own validity"],
      ['senderMessagesPerSecond', '--no-sender-rate', 'remove the limit for each sender'],
    ],
    others: (options: CarrierOptions & { readonly outcomes: boolean }) => ({
      ...passwordOf(options),
      ...(!options.outcomes && { submitOutcomes: {} }),
    }),
    send: requestCarrier,
  })
    .addOption(new Option('--password <password>', PASSWORD_HELP).env('ALDIS_CARRIER_PASSWORD'))
    .addOption(new Option('--no-outcomes', 'use the default outcomes').conflicts('outcome'))
  addStates(carrier)

  addDelete(carrier, { key: 'carrier', path: PATH, description: 'delete a carrier that no route uses' })
}

/** Warns of a password that SMPP 3.4 has no room for: the carrier may cut it, or refuse the bind. */
function passwordOf(options: CarrierOptions): { password?: string } {
  const password = options.password === '-' ? readStandardInput() : options.password
  if (password !== undefined && password.length > STANDARD_PASSWORD_LENGTH)
    process.stderr.write(
      `warning: the password has ${password.length} characters and SMPP 3.4 allows ${STANDARD_PASSWORD_LENGTH}; it is sent whole\n`,
    )
  return { ...(password !== undefined && { password }) }
}

/** Option parser: the text of a file. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

/** Option parser: `0x45=retry`, repeatable. */
function statusOutcome(text: string, previous: Record<string, string> | undefined): Record<string, string> {
  const [, status, outcome] = /^([^=]+)=([^=]+)$/.exec(text) ?? []
  if (status === undefined || outcome === undefined)
    throw new InvalidArgumentError('Expected a command_status and an outcome, such as 0x45=permanent.')
  return { ...previous, [status]: outcome }
}

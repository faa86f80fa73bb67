import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { ID_RULES } from '../domain/carrier-message-ids.ts'
import { BIND_MODES, LONG_MESSAGES, REFUSED_OUTCOMES, VALIDITY_FORMATS } from '../domain/settings.ts'
import { type ConnectionOptions, given, orNull, segment, wholeNumber } from './admin-client.ts'
import { requestCarrier } from './carrier-record.ts'
import { addStates } from './carrier-states.ts'
import { addAction, addDelete, addList } from './resource.ts'
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
const PASSWORD_HELP = 'password to bind with; - reads it from standard input, where nobody else sees it'

interface CarrierOptions extends ConnectionOptions {
  readonly name?: string
  readonly host?: string
  readonly port?: number
  readonly tls?: boolean
  readonly tlsCa?: string | false
  readonly tlsServerName?: string | false
  readonly bindMode?: string
  readonly binds?: number
  readonly systemId?: string
  readonly password?: string
  readonly systemType?: string
  readonly window?: number
  readonly rate?: number | false
  readonly senderRate?: number | false
  readonly longMessages?: string
  readonly validity?: number | false
  readonly validityFormat?: string
  readonly outcome?: Record<string, string>
  /** False: `--no-outcomes`. */
  readonly outcomes?: boolean
  readonly idRule?: string
  readonly stopped?: boolean
}

export function register(program: Command): void {
  const carrier = program
    .command('carrier')
    .description('Carriers: SMPP connections messages go out and come in by')
    .addHelpText('after', EXAMPLES)

  const create = addAction(carrier, 'create <name>', 'create a carrier')
    .requiredOption('--host <host>', 'host name or address of its SMSC')
    .requiredOption('--system-id <id>', 'system_id to bind with')
    .option('--stopped', 'do not bind yet')
    .addOption(new Option('--password <password>', PASSWORD_HELP).env('ALDIS_CARRIER_PASSWORD'))
  addSettings(create).action((name: string, options: CarrierOptions) => {
    if (options.password === undefined) {
      throw new Error('a password is needed: set ALDIS_CARRIER_PASSWORD or give --password -')
    }
    const state = options.stopped ? 'stopped' : undefined
    return requestCarrier(options, 'POST', PATH, given({ ...fields(options), name, state }))
  })

  addList(carrier, {
    description: 'list carriers',
    path: PATH,
    columns: [
      ['CARRIER', 'name'],
      ['HOST', 'host'],
      ['PORT', 'port'],
      ['TLS', 'tls'],
      ['BIND', 'bindMode'],
      ['SYSTEM ID', 'systemId'],
      ['WINDOW', 'window'],
      ['RATE', 'messagesPerSecond'],
      ['STATE', 'state'],
      ['LINK', 'link.state'],
    ],
  })
  addAction(carrier, 'show <carrier>', 'show a carrier and its links, not its password').action(
    (name: string, options: ConnectionOptions) => requestCarrier(options, 'GET', `${PATH}/${segment(name)}`),
  )

  const update = addAction(carrier, 'update <carrier>', 'change a carrier; what is not given stays')
    .option('--name <name>', 'new name')
    .option('--host <host>', 'host name or address of its SMSC')
    .option('--system-id <id>', 'system_id to bind with')
    .addOption(new Option('--password <password>', PASSWORD_HELP).env('ALDIS_CARRIER_PASSWORD'))
  addSettings(update)
    .option('--no-tls', 'connect in the clear')
    .option('--no-tls-ca', 'trust the authorities of the system')
    .option('--no-tls-server-name', 'its certificate must name its host')
    .option('--no-rate', 'send as fast as it answers')
    .option('--no-validity', "validity_period is the message's own end")
    .option('--no-sender-rate', 'no limit of its own for each sender')
    .addOption(new Option('--no-outcomes', 'the outcomes of all carriers').conflicts('outcome'))
    .action((name: string, options: CarrierOptions) =>
      requestCarrier(options, 'PATCH', `${PATH}/${segment(name)}`, given(fields(options))),
    )
  addStates(carrier)

  addDelete(carrier, { key: 'carrier', path: PATH, description: 'delete a carrier that no route uses' })
}

function addSettings(command: Command): Command {
  return command
    .option('--port <port>', 'TCP port (new carriers: 2775)', wholeNumber)
    .option('--tls', 'connect with TLS')
    .option('--tls-ca <file>', 'PEM file of the authorities its certificate may come from', readText)
    .option('--tls-server-name <name>', 'name its certificate must have, if not its host')
    .addOption(new Option('--bind-mode <mode>', 'how to bind').choices(BIND_MODES))
    .option('--binds <n>', 'binds of each kind, in all nodes together (new carriers: 1)', wholeNumber)
    .option('--system-type <type>', 'system_type to bind with')
    .option('--window <n>', 'submits without an answer at once, of each bind (new carriers: 10)', wholeNumber)
    .option('--rate <n>', 'most messages per second', wholeNumber)
    .option('--sender-rate <n>', 'most messages per second of one sender', wholeNumber)
    .addOption(new Option('--long-messages <form>', 'how long texts go out').choices(LONG_MESSAGES))
    .option('--validity <seconds>', 'longest validity_period it is given (60-86400)', wholeNumber)
    .addOption(
      new Option('--validity-format <format>', 'how validity_period is written').choices(VALIDITY_FORMATS),
    )
    .option(
      '--outcome <status=outcome>',
      `what a command_status means: ${REFUSED_OUTCOMES.join(', ')}; repeated, these replace those there were`,
      statusOutcome,
    )
    .addOption(
      new Option('--id-rule <rule>', 'how message ids in receipts match those in answers').choices([
        ...ID_RULES,
        'auto',
      ]),
    )
}

function fields(options: CarrierOptions): Record<string, unknown> {
  return {
    name: options.name,
    host: options.host,
    port: options.port,
    tls: options.tls,
    tlsCa: orNull(options.tlsCa),
    tlsServerName: orNull(options.tlsServerName),
    bindMode: options.bindMode,
    binds: options.binds,
    systemId: options.systemId,
    password: passwordOf(options),
    systemType: options.systemType,
    window: options.window,
    messagesPerSecond: orNull(options.rate),
    senderMessagesPerSecond: orNull(options.senderRate),
    longMessages: options.longMessages,
    validitySeconds: orNull(options.validity),
    validityFormat: options.validityFormat,
    submitOutcomes: options.outcomes === false ? {} : options.outcome,
    idRule: options.idRule,
  }
}

/** Warns of a password that SMPP 3.4 has no room for: the carrier may cut it, or refuse the bind. */
function passwordOf(options: CarrierOptions): string | undefined {
  const password = options.password === '-' ? readStandardInput() : options.password
  if (password !== undefined && password.length > STANDARD_PASSWORD_LENGTH)
    process.stderr.write(
      `warning: the password has ${password.length} characters and SMPP 3.4 allows ${STANDARD_PASSWORD_LENGTH}; it is sent whole\n`,
    )
  return password
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
    throw new InvalidArgumentError('Expected a command_status and an outcome, as 0x45=permanent.')
  return { ...previous, [status]: outcome }
}

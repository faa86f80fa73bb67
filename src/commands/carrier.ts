import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { ID_RULES } from '../domain/carrier-message-ids.ts'
import { BIND_MODES } from '../domain/settings.ts'
import { type ConnectionOptions, given, orNull, segment, wholeNumber } from './admin-client.ts'
import { addAction, addDelete, addList, addShow, requestAndPrint } from './resource.ts'

const PATH = '/carriers'
const EXAMPLES = `
Examples:
  ALDIS_CARRIER_PASSWORD=secret aldis carrier create acme --host smpp.example.net --system-id aldis
  aldis carrier update acme --window 50 --rate 200
  aldis carrier update acme --disable`

const PASSWORD_HELP = 'password to bind with; - reads it from standard input, where nobody else sees it'

interface CarrierOptions extends ConnectionOptions {
  readonly name?: string
  readonly host?: string
  readonly port?: number
  readonly tls?: boolean
  readonly bindMode?: string
  readonly systemId?: string
  readonly password?: string
  readonly systemType?: string
  readonly window?: number
  readonly rate?: number | false
  readonly idRule?: string
  readonly enable?: boolean
  readonly disable?: boolean
}

export function register(program: Command): void {
  const carrier = program
    .command('carrier')
    .description('Carriers: SMPP connections messages go out and come in by')
    .addHelpText('after', EXAMPLES)

  const create = addAction(carrier, 'create <name>', 'create a carrier')
    .requiredOption('--host <host>', 'host name or address of its SMSC')
    .requiredOption('--system-id <id>', 'system_id to bind with')
    .option('--disable', 'do not connect yet')
    .addOption(new Option('--password <password>', PASSWORD_HELP).env('ALDIS_CARRIER_PASSWORD'))
  addSettings(create).action((name: string, options: CarrierOptions) => {
    if (options.password === undefined) {
      throw new Error('a password is needed: set ALDIS_CARRIER_PASSWORD or give --password -')
    }
    return requestAndPrint(options, 'POST', PATH, given({ ...fields(options), name }))
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
  addShow(carrier, { key: 'carrier', path: PATH, description: 'show a carrier, not its password' })

  const update = addAction(carrier, 'update <carrier>', 'change a carrier; what is not given stays')
    .option('--name <name>', 'new name')
    .option('--host <host>', 'host name or address of its SMSC')
    .option('--system-id <id>', 'system_id to bind with')
    .option('--password <password>', PASSWORD_HELP)
    .option('--enable', 'connect')
    .addOption(new Option('--disable', 'disconnect').conflicts('enable'))
  addSettings(update)
    .option('--no-tls', 'connect in the clear')
    .option('--no-rate', 'send as fast as it answers')
    .action((name: string, options: CarrierOptions) =>
      requestAndPrint(options, 'PATCH', `${PATH}/${segment(name)}`, given(fields(options))),
    )

  addDelete(carrier, { key: 'carrier', path: PATH, description: 'delete a carrier that no route uses' })
}

function addSettings(command: Command): Command {
  return command
    .option('--port <port>', 'TCP port (new carriers: 2775)', wholeNumber)
    .option('--tls', 'connect with TLS')
    .addOption(new Option('--bind-mode <mode>', 'how to bind').choices(BIND_MODES))
    .option('--system-type <type>', 'system_type to bind with')
    .option('--window <n>', 'submits without an answer at once (new carriers: 10)', wholeNumber)
    .option('--rate <n>', 'most messages per second', wholeNumber)
    .addOption(
      new Option('--id-rule <rule>', 'how message ids in receipts match those in answers').choices(ID_RULES),
    )
}

function fields(options: CarrierOptions): Record<string, unknown> {
  return {
    name: options.name,
    state: options.disable ? 'stopped' : options.enable ? 'started' : undefined,
    host: options.host,
    port: options.port,
    tls: options.tls,
    bindMode: options.bindMode,
    systemId: options.systemId,
    password: passwordOf(options),
    systemType: options.systemType,
    window: options.window,
    messagesPerSecond: orNull(options.rate),
    idRule: options.idRule,
  }
}

function passwordOf({ password }: CarrierOptions): string | undefined {
  return password === '-' ? readFileSync(0, 'utf8').replace(/\r?\n$/, '') : password
}

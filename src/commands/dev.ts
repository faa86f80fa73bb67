import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { SANDBOX } from '../domain/sandbox.ts'
import {
  DEV_INBOUND_NUMBER,
  DEV_SENDER,
  type DevState,
  openDevState,
  readDevState,
  removeFile,
  saveDevState,
  seed,
  writeWhole,
} from './dev-state.ts'
import { tracesUrl } from './node-options.ts'
import { checkPorts, explainStart, LISTEN_PORT, port, receiverPort, untilStopped } from './running.ts'

interface Flags {
  readonly port: number
  readonly listenPort: number
  readonly dataDir: string
  readonly strictCallbacks?: true
  readonly readyFile?: string
  readonly logLevel: string
  readonly otlpEndpoint?: string
}

const DATA_DIR = '.aldis'

const EXAMPLES = `
Examples:
  aldis dev --port 8081
  aldis dev --port 0 --ready-file ready.json            for scripts
  eval "$(aldis dev env)"                               in a second terminal; with the same --data-dir, if any
  aldis dev inbound --from +15551230002 --body 'Hello'  while it runs`

const IN_FOLDER = `
  --data-dir <folder>  Folder of the aldis dev that runs (default: "${DATA_DIR}", env: ALDIS_DATA_DIR)`

const HOST = '127.0.0.1'

/** Adds `aldis dev`. `aldis dev env` and `aldis dev inbound` are for another shell while it runs. */
export function register(program: Command): void {
  const dev = program
    .command('dev')
    .description('Run the whole service on this machine, with its own database and a simulated carrier')
    .addOption(
      new Option('--port <number>', 'Port of the HTTP API, 0 for any free one')
        .env('ALDIS_PORT')
        .default(8080)
        .argParser(port),
    )
    .addOption(
      new Option('--data-dir <folder>', 'Folder for data and tokens').env('ALDIS_DATA_DIR').default(DATA_DIR),
    )
    .addOption(
      new Option('--listen-port <number>', 'Port of aldis listen, to which inbound messages are pushed')
        .env('ALDIS_LISTEN_PORT')
        .default(LISTEN_PORT)
        .argParser(receiverPort),
    )
    .addOption(
      new Option('--otlp-endpoint <url>', 'Export a trace of every message to this OpenTelemetry collector')
        .env('OTEL_EXPORTER_OTLP_ENDPOINT')
        .argParser(tracesUrl),
    )
    .option('--strict-callbacks', 'Accept only public HTTPS callback URLs, as in production')
    .option(
      '--ready-file <path>',
      'Write addresses and tokens to this file, as JSON, once everything is ready',
    )
    .addOption(
      new Option('--log-level <level>', 'Lowest level to log')
        .choices(['trace', 'debug', 'info', 'warn', 'error'])
        .default('warn'),
    )
    .addHelpText('after', EXAMPLES)
    .action(runDev)
  dev
    .command('env')
    .description('Print addresses and tokens as shell variables: eval "$(aldis dev env)"')
    .addHelpText('after', IN_FOLDER)
    .action(printEnvironment)
  dev
    .command('inbound')
    .description('Send an inbound (MO) message, as if from a handset')
    .requiredOption('--to <number>', 'Number that it is sent to', DEV_INBOUND_NUMBER)
    .requiredOption('--from <number>', 'Number that it comes from (required)')
    .requiredOption('--body <text>', 'Its text; a long one arrives in parts (required)')
    .addHelpText('after', IN_FOLDER)
    .action(sendInbound)
}

async function runDev(flags: Flags): Promise<void> {
  const dataDir = resolve(flags.dataDir)
  // A script that waits for the file must not find one from an earlier run.
  if (flags.readyFile !== undefined) removeFile(flags.readyFile)
  const { createLog } = await import('../log.ts')
  const log = createLog(flags.logLevel)
  const listening = { host: HOST, port: flags.port, portSetting: '--port' }
  await checkPorts([listening])
  const stopped = untilStopped(log)
  await using resources = new AsyncDisposableStack()
  const { startEmbeddedPostgres } = await import('../postgres/embedded-server.ts')
  const postgres = await startEmbeddedPostgres({
    dataDir: resolve(dataDir, 'postgres'),
    log: (line) => log.info(line),
  })
  resources.defer(() => postgres.stop())
  postgres.onExit((exit) => stopped.fail('the embedded PostgreSQL has ended', exit))
  // From here on the directory is this process's alone.
  const state = openDevState(dataDir)
  const app = await startService(flags, state, postgres.localConnectionString, log, stopped.fail).catch(
    (error) => {
      throw explainStart(error, () => listening)
    },
  )
  resources.defer(() => app.stop())
  const listenUrl = `http://localhost:${flags.listenPort}`
  const inboundUrl = flags.strictCallbacks ? null : `${listenUrl}/inbound`
  const running = { ...state, baseUrl: `http://localhost:${app.port}`, listenUrl, inboundUrl }
  const connection = { url: `http://${HOST}:${app.port}`, operatorToken: state.operatorToken }
  const token = await seed(connection, running, state.inboundUrl !== inboundUrl)
  saveDevState(dataDir, { ...running, token })
  await carrierBound(connection)
  const ready = {
    baseUrl: running.baseUrl,
    accountId: state.accountId,
    servicePlanId: state.servicePlanId,
    token,
    operatorToken: state.operatorToken,
    sender: DEV_SENDER,
    inboundNumber: DEV_INBOUND_NUMBER,
    databaseUrl: postgres.connectionString,
  }
  if (flags.readyFile !== undefined) writeWhole(flags.readyFile, ready)
  process.stdout.write(banner(ready, dataDir))
  await stopped.wait()
  process.stdout.write('Stopping …\n')
}

/** Every message, soon visible. */
const ALL_TRACES = { headers: {}, serviceName: 'aldis', share: 1, flushMs: 500 }

async function startService(
  flags: Flags,
  state: DevState,
  connectionString: string,
  log: import('pino').Logger,
  fail: (reason: string) => void,
): Promise<import('../app/start.ts').App> {
  const { startApp } = await import('../app/start.ts')
  const { hashToken } = await import('../domain/credentials.ts')
  const loose = flags.strictCallbacks !== true
  return startApp({
    connectionString,
    databasePoolSize: 10,
    databasePrepared: true,
    databaseStatementTimeoutMs: 30_000,
    allowUnsafeDurability: false,
    httpHost: HOST,
    httpPort: flags.port,
    baseUrl: null,
    cgiSendsms: true,
    secretKey: Buffer.from(state.secretKey, 'hex'),
    operatorTokenHashes: [hashToken(state.operatorToken)],
    nodeName: 'dev',
    retentionDays: 90,
    auditRetentionDays: 400,
    drainTimeoutMs: 30_000,
    callbackPolicy: {
      allowCidrs: [],
      allowHosts: [],
      allowLoopback: loose,
      allowUnresolvable: loose,
      ownOrigins: [],
    },
    dnsServers: [],
    alarmBacklogSeconds: 300,
    log,
    ...(flags.otlpEndpoint !== undefined && { traces: { ...ALL_TRACES, url: flags.otlpEndpoint } }),
    onBarred: (why) => fail(why?.message ?? 'another aldis dev is using this database'),
  })
}

const BOUND_TIMEOUT_MS = 10_000

/** Everything answers once the carrier's link is bound. */
async function carrierBound(connection: { url: string; operatorToken: string }): Promise<void> {
  const { requestAdmin } = await import('./admin/client.ts')
  const deadlineMs = performance.now() + BOUND_TIMEOUT_MS
  while (performance.now() < deadlineMs) {
    const carrier = (await requestAdmin(connection, 'GET', `/carriers/${SANDBOX}`)) as {
      link: { since: string | null } | null
    }
    if (carrier.link?.since != null) return
    await new Promise((wake) => setTimeout(wake, 20))
  }
  throw new Error('the simulated carrier did not bind in time')
}

function printEnvironment(_flags: object, command: Command): void {
  process.stdout.write(environment(runningState(command)))
}

async function sendInbound(
  message: { from: string; to: string; body: string },
  command: Command,
): Promise<void> {
  const state = runningState(command)
  const { requestService } = await import('./admin/client.ts')
  const customer = { url: state.baseUrl!, token: state.token! }
  const servicePlanId = await ownerOf(message.to, state)
  await requestService(customer, 'POST', '/v1/sandbox/inbound', { servicePlanId, ...message })
  process.stdout.write(`Sent from ${message.from} to ${message.to}.\n`)
}

/** The id of the plan that owns the number. */
async function ownerOf(number: string, { baseUrl, operatorToken }: DevState): Promise<string> {
  const { AdminRefusal, requestAdmin } = await import('./admin/client.ts')
  const path = `/inbound-numbers/${encodeURIComponent(number)}`
  try {
    const owned = await requestAdmin({ url: baseUrl!, operatorToken }, 'GET', path)
    return (owned as { servicePlanId: string }).servicePlanId
  } catch (error) {
    if (!(error instanceof AdminRefusal) || ![400, 404].includes(error.status)) throw error
    throw new Error(`no service plan owns ${number}: aldis number create gives it to one`)
  }
}

/** Of the data directory that the options name; it may have been stopped since. */
function runningState(command: Command): DevState {
  const { dataDir } = command.parent!.opts<{ dataDir: string }>()
  const state = readDevState(resolve(dataDir))
  if (state?.token == null) throw new Error(`aldis dev was never started in ${resolve(dataDir)}`)
  return state
}

export interface Ready {
  readonly baseUrl: string
  readonly servicePlanId: string
  readonly token: string
  readonly operatorToken: string
  readonly sender: string
  readonly inboundNumber: string
}

/** What `aldis dev` prints once everything answers. The fragment of the console's address signs in at once. */
export function banner(ready: Ready, dataDir: string): string {
  const signIn = `customer=${ready.token}&operator=${ready.operatorToken}`
  return `
Aldis is ready.

  Console          ${ready.baseUrl}/console/#${signIn}
  API              ${ready.baseUrl}    (OpenAPI: ${ready.baseUrl}/openapi.json)
  token            ${ready.token}
  operator token   ${ready.operatorToken}
  service plan     ${ready.servicePlanId}
  sender           ${ready.sender}
  inbound number   ${ready.inboundNumber}
  carrier          simulated: nothing is sent to anybody
  data             ${dataDir}

Send a message:

  curl -i ${ready.baseUrl}/v1/sendsms \\
    -H 'Authorization: Bearer ${ready.token}' -H 'Content-Type: application/json' \\
    -d '{"servicePlanId":"${ready.servicePlanId}","channel":"SMS","from":"${ready.sender}","to":"+15551230001","body":"Hello"}'

Ctrl-C stops it; data and tokens stay.

`
}

/** The same as shell variables. No value has a character that a shell would read. */
export function environment(state: DevState): string {
  const variables = {
    ALDIS_URL: state.baseUrl,
    ALDIS_TOKEN: state.token,
    ALDIS_PLAN: state.servicePlanId,
    ALDIS_OPERATOR_TOKEN: state.operatorToken,
    ALDIS_LISTENER: state.listenUrl,
  }
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${value}\n`)
    .join('')
}

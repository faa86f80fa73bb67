import { renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { DEV_INBOUND_NUMBER, DEV_SENDER, DEV_SMPP_PASSWORD, DEV_SYSTEM_ID, seed } from './dev-seed.ts'
import { type DevState, openDevState, readDevState, saveDevState } from './dev-state.ts'
import { explainStart, untilStopped } from './running.ts'

interface Flags {
  readonly port: number
  readonly dataDir: string
  readonly strictCallbacks?: true
  readonly readyFile?: string
  readonly logLevel: string
}

const DATA_DIR = '.aldis'
const SMPP_PORT = 2775
const HOST = '127.0.0.1'
/** Where `aldis listen` waits by default; inbound messages of the development plan are pushed there. */
const INBOUND_URL = 'http://localhost:9000/inbound'

/** Adds `aldis dev`, and `aldis dev inbound` which sends an inbound message into a running one. */
export function register(program: Command): void {
  const dev = program
    .command('dev')
    .description('Run the whole service on this machine, with its own database and a simulated carrier')
    .option('--port <number>', 'port of the HTTP API, 0 for any free one', port, 8080)
    .option('--data-dir <folder>', 'where data and tokens are kept', DATA_DIR)
    .option('--strict-callbacks', 'only public HTTPS callback URLs, as in production')
    .option(
      '--ready-file <path>',
      'write addresses and tokens to this file, as JSON, once everything answers',
    )
    .option('--log-level <level>', 'trace, debug, info, warn, error', 'warn')
    .action(runDev)
  dev
    .command('inbound')
    .description('Send an inbound (MO) message, as if a handset had')
    .requiredOption('--to <number>', 'the number it is sent to', DEV_INBOUND_NUMBER)
    .requiredOption('--from <number>', 'the number it comes from')
    .requiredOption('--body <text>', 'its text; a long one arrives in parts, like any other')
    .action(sendInbound)
}

async function runDev(flags: Flags): Promise<void> {
  const dataDir = resolve(flags.dataDir)
  const state = openDevState(dataDir)
  const { createLog } = await import('../log.ts')
  const log = createLog(flags.logLevel)
  const stopped = untilStopped(log)
  await using resources = new AsyncDisposableStack()
  const { startEmbeddedPostgres } = await import('../postgres/embedded-server.ts')
  const postgres = await startEmbeddedPostgres({
    dataDir: resolve(dataDir, 'postgres'),
    log: (line) => log.info(line),
  })
  resources.defer(() => postgres.stop())
  postgres.onExit((exit) => stopped.fail('the embedded PostgreSQL has ended', exit))
  const smppPort = await startCarrier(state, resources)
  const app = await startService(flags, state, postgres.localConnectionString, log, stopped.fail).catch(
    (error) => {
      throw explainStart(error, flags.port)
    },
  )
  resources.defer(() => app.stop())
  const baseUrl = `http://localhost:${app.port}`
  const connection = { url: `http://${HOST}:${app.port}`, operatorToken: state.operatorToken }
  const token = await seed(connection, { ...state, smppPort }, flags.strictCallbacks ? null : INBOUND_URL)
  saveDevState(dataDir, { ...state, token, smppPort })
  await carrierBound(connection)
  const ready = {
    baseUrl,
    accountId: state.accountId,
    servicePlanId: state.servicePlanId,
    token,
    operatorToken: state.operatorToken,
    sender: DEV_SENDER,
    inboundNumber: DEV_INBOUND_NUMBER,
    smppPort,
    databaseUrl: postgres.connectionString,
  }
  process.stdout.write(banner(ready, dataDir))
  if (flags.readyFile !== undefined) writeWhole(flags.readyFile, `${JSON.stringify(ready, null, 2)}\n`)
  await stopped.wait()
  process.stdout.write('Stopping …\n')
}

/** The simulated carrier, on the port of last time; on another where that is taken. */
async function startCarrier(state: DevState, resources: AsyncDisposableStack): Promise<number> {
  const { startSimulator } = await import('../simulator/simulator.ts')
  const credentials = [{ systemId: DEV_SYSTEM_ID, password: DEV_SMPP_PASSWORD }]
  const options = { host: HOST, credentials }
  const simulator = await startSimulator({ ...options, port: state.smppPort ?? SMPP_PORT }).catch(() =>
    startSimulator({ ...options, port: 0 }),
  )
  resources.defer(() => simulator.stop())
  return simulator.port
}

async function startService(
  flags: Flags,
  state: DevState,
  connectionString: string,
  log: import('pino').Logger,
  fail: (reason: string) => void,
): Promise<import('../app.ts').App> {
  const { startApp } = await import('../app.ts')
  const { hashToken } = await import('../domain/tokens.ts')
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
    secretKey: Buffer.from(state.secretKey, 'hex'),
    operatorTokenHashes: [hashToken(state.operatorToken)],
    nodeName: 'dev',
    retentionDays: 90,
    drainTimeoutMs: 30_000,
    callbackPolicy: {
      allowCidrs: [],
      allowHosts: [],
      allowLoopback: loose,
      allowUnresolvable: loose,
      ownOrigins: [],
    },
    dnsServers: [],
    log,
    onReplaced: () => fail('another aldis dev uses this database'),
    // The carrier is on this machine: nothing is gained by waiting longer between two tries.
    linkTimings: { backoffMs: 100 },
  })
}

const BOUND_TIMEOUT_MS = 10_000

/** Everything answers once the carrier's link is bound. */
async function carrierBound(connection: { url: string; operatorToken: string }): Promise<void> {
  const { requestAdmin } = await import('./admin-client.ts')
  const deadlineMs = performance.now() + BOUND_TIMEOUT_MS
  while (performance.now() < deadlineMs) {
    const carrier = (await requestAdmin(connection, 'GET', '/carriers/simulator')) as {
      link: { since: string | null } | null
    }
    if (carrier.link?.since != null) return
    await new Promise((wake) => setTimeout(wake, 20))
  }
  throw new Error('the simulated carrier was not bound in time')
}

async function sendInbound(
  { from, to, body }: { from: string; to: string; body: string },
  command: Command,
): Promise<void> {
  const { dataDir } = command.parent!.opts<{ dataDir: string }>()
  const smppPort = readDevState(resolve(dataDir))?.smppPort
  if (smppPort == null) throw new Error(`aldis dev was never started in ${dataDir}`)
  const { injectInbound } = await import('../simulator/handset.ts')
  await injectInbound({ host: HOST, port: smppPort, from, to, body })
  process.stdout.write(`Sent from ${from} to ${to}.\n`)
}

function banner(
  ready: {
    baseUrl: string
    servicePlanId: string
    token: string
    operatorToken: string
    sender: string
    inboundNumber: string
    smppPort: number
  },
  dataDir: string,
): string {
  return `
Aldis is ready.

  API              ${ready.baseUrl}          OpenAPI: ${ready.baseUrl}/openapi.json
  token            ${ready.token}
  operator token   ${ready.operatorToken}
  service plan     ${ready.servicePlanId}
  sender           ${ready.sender}
  inbound number   ${ready.inboundNumber}
  carrier          simulated, SMPP on port ${ready.smppPort}
  data             ${dataDir}

Send a message:

  curl -i ${ready.baseUrl}/v1/sendsms \\
    -H 'Authorization: Bearer ${ready.token}' -H 'Content-Type: application/json' \\
    -d '{"servicePlanId":"${ready.servicePlanId}","channel":"SMS","from":"${ready.sender}","to":"+15551230001","body":"Hello"}'

`
}

/** Readers of the file see all of it or none. */
function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

function port(text: string): number {
  const value = Number(text)
  if (!/^\d{1,5}$/.test(text) || value > 65_535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535')
  return value
}

import { hostname } from 'node:os'
import type { Command } from 'commander'
import type { Config } from '../config.ts'
import type { Listening } from './running.ts'

const EXAMPLE = `
Example:
  export SECRET_KEY=$(openssl rand -hex 32) OPERATOR_TOKEN=$(openssl rand -base64 32)   # once; keep them
  DATABASE_URL=postgresql://aldis:password@db.example.net/aldis aldis serve

The variables are described in docs/configuration.md.`

/** Adds `aldis serve`: a node of the service, configured by the environment, until SIGTERM or SIGINT. */
export function register(program: Command): void {
  program
    .command('serve')
    .description('Run the service, configured by the environment')
    .option(
      '--carriers-stopped',
      'stop every carrier before anything is bound, as after a restore (CARRIERS_STOPPED=on)',
    )
    .addHelpText('after', EXAMPLE)
    .action(serve)
}

/** Beyond the time to drain: for the embedded database. */
const LAST_RESORT_MS = 15_000

async function serve(flags: { carriersStopped?: true }): Promise<void> {
  const { loadConfig } = await import('../config.ts')
  const loaded = loadConfig()
  if (!loaded.ok) {
    const [first, ...others] = loaded.faults
    const all = loaded.faults.map((fault) => `  ${fault}\n`).join('')
    process.stderr.write(
      others.length === 0 ? `error: ${first}\n` : `error: the configuration has faults\n${all}`,
    )
    process.exitCode = 1
    return
  }
  const { config } = loaded
  await run(flags.carriersStopped === true ? { ...config, carriersStopped: true } : config)
}

async function run(config: Config): Promise<void> {
  const { startApp } = await import('../app.ts')
  const { EMBEDDED_DATABASE } = await import('../config.ts')
  const { createLog } = await import('../log.ts')
  const { checkPorts, endWithin, explainStart, untilStopped } = await import('./running.ts')
  const log = createLog(config.logLevel)
  if (config.databaseUrl === EMBEDDED_DATABASE) {
    // The app listens first, but not before it has a database: a start on a port in use would make one.
    await checkPorts(listenersOf(config))
  }
  const stopped = untilStopped(log)
  await using resources = new AsyncDisposableStack()
  let { databaseUrl } = config
  if (databaseUrl === EMBEDDED_DATABASE) {
    const { startEmbeddedPostgres } = await import('../postgres/embedded-server.ts')
    const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) })
    resources.defer(() => postgres.stop())
    postgres.onExit((exit) => stopped.fail('the embedded PostgreSQL has ended', exit))
    databaseUrl = postgres.localConnectionString
  }
  if (config.webhookAllowCidrs.length + config.webhookAllowHosts.length > 0)
    log.warn('webhooks may reach addresses that are not public (WEBHOOK_ALLOW_CIDRS, WEBHOOK_ALLOW_HOSTS)')
  const app = await startApp({
    ...config,
    connectionString: databaseUrl,
    baseUrl: config.baseUrl ?? null,
    nodeName: config.nodeId ?? `${hostname()}-${process.pid}`,
    callbackPolicy: {
      allowCidrs: config.webhookAllowCidrs,
      allowHosts: config.webhookAllowHosts,
      allowLoopback: false,
      allowUnresolvable: false,
      ownOrigins: config.baseUrl === undefined ? [] : [new URL(config.baseUrl).origin],
    },
    log,
    onReplaced: () => stopped.fail('another node has the same NODE_ID'),
  }).catch((error) => {
    throw explainStart(error, (listener) => listeningOf(config, listener))
  })
  resources.defer(() => app.stop())
  const { url, operatorPort } = app
  log.info(operatorPort === null ? { url } : { operatorPort, url }, 'aldis is ready')
  await stopped.wait()
  log.info('draining')
  endWithin(config.drainTimeoutMs + LAST_RESORT_MS)
}

function listenersOf(config: Config): Listening[] {
  const http = listeningOf(config, 'http')
  return config.operatorPort === undefined ? [http] : [http, listeningOf(config, 'operators')]
}

function listeningOf(config: Config, listener: 'http' | 'operators'): Listening {
  const { httpHost, httpPort, operatorHost, operatorPort } = config
  const http = { host: httpHost, port: httpPort, portSetting: 'HTTP_PORT', hostSetting: 'HTTP_HOST' }
  if (listener === 'http') return http
  const port = { port: operatorPort!, portSetting: 'OPERATOR_PORT' }
  const host = operatorHost === undefined ? {} : { host: operatorHost, hostSetting: 'OPERATOR_HOST' }
  return { ...http, ...port, ...host }
}

import { hostname } from 'node:os'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Logger } from 'pino'
import type { AppOptions } from '../app/options.ts'
import type { Config } from '../config.ts'
import type { Stopped } from './running.ts'
import type { WorkersOptions } from './workers.ts'

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
      'Stop every carrier before anything is bound, for use after a restore (CARRIERS_STOPPED=on)',
    )
    .option(
      '--workers <number>',
      'Processes that share the ports, each a node of its own (WORKERS)',
      workerCount,
    )
    .addOption(new Option('--as-worker').hideHelp())
    .addHelpText('after', EXAMPLE)
    .action(serve)
}

function workerCount(text: string): number {
  const count = Number(text)
  if (/^\d{1,2}$/.test(text) && count >= 1 && count <= MOST_WORKERS) return count
  throw new InvalidArgumentError(`expected 1 to ${MOST_WORKERS} workers`)
}

/** The same limit as in config.ts, which is not loaded for the help text. */
const MOST_WORKERS = 64
/** Time beyond the drain after which this process kills itself. The embedded database stops in it. */
const LAST_RESORT_MS = 15_000

interface Flags {
  readonly carriersStopped?: true
  readonly workers?: number
  readonly asWorker?: true
}

async function serve(flags: Flags): Promise<void> {
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
  const { carriersStopped = loaded.config.carriersStopped, workers = loaded.config.workers, asWorker } = flags
  const config = { ...loaded.config, carriersStopped, workers }
  if (asWorker !== true) return await run(config)
  const { runWorker } = await import('./worker.ts')
  await runWorker(config)
}

async function run(config: Config): Promise<void> {
  const { EMBEDDED_DATABASE } = await import('../database-url.ts')
  const { createLog } = await import('../log.ts')
  const { checkPorts, endWithin, untilStopped } = await import('./running.ts')
  const { listenersOf } = await import('./node-options.ts')
  const log = createLog(config.logLevel)
  // The app listens only once it has a database, so a start on a port in use would create one first. Workers would not
  // notice a port in use, because they share theirs with any process that shares its own, as another `aldis serve` does.
  if (config.databaseUrl === EMBEDDED_DATABASE || config.workers > 1) await checkPorts(listenersOf(config))
  const stopped = untilStopped(log)
  await using resources = new AsyncDisposableStack()
  const databaseUrl =
    config.databaseUrl === EMBEDDED_DATABASE
      ? await startDatabase(config, { log, stopped, resources })
      : config.databaseUrl
  if (config.webhookAllowCidrs.length + config.webhookAllowHosts.length > 0)
    log.warn('webhooks may reach addresses that are not public (WEBHOOK_ALLOW_CIDRS, WEBHOOK_ALLOW_HOSTS)')
  const nodeName = config.nodeId ?? `${hostname()}-${process.pid}`
  const start = config.workers === 1 ? startNode : startWorkers
  const service = await start(config, { databaseUrl, nodeName, log, stopped })
  resources.defer(() => service.stop())
  log.info(readyLine(config, service), 'aldis is ready')
  await stopped.wait()
  log.info('draining')
  endWithin(config.drainTimeoutMs + LAST_RESORT_MS)
}

async function startDatabase(
  { dataDir }: Config,
  { log, stopped, resources }: { log: Logger; stopped: Stopped; resources: AsyncDisposableStack },
): Promise<string> {
  const { startEmbeddedPostgres } = await import('../postgres/embedded-server.ts')
  const postgres = await startEmbeddedPostgres({ dataDir, log: (line) => log.info(line) })
  resources.defer(() => postgres.stop())
  postgres.onExit((exit) => stopped.fail('the embedded PostgreSQL has ended', exit))
  return postgres.localConnectionString
}

type Given = Omit<WorkersOptions, 'program' | 'config' | 'fail'> & { readonly stopped: Stopped }

interface Service {
  readonly url: string
  readonly operatorPort: number | null
  stop(): Promise<void>
}

/** In this process. */
async function startNode(config: Config, { stopped, ...given }: Given): Promise<Service> {
  const { startApp } = await import('../app/start.ts')
  const { explainStart, SAME_NAME } = await import('./running.ts')
  const { listeningOf, nodeOptions } = await import('./node-options.ts')
  const onBarred: AppOptions['onBarred'] = (why) => stopped.fail(why?.message ?? SAME_NAME)
  return await startApp(nodeOptions(config, { ...given, onBarred })).catch((error) => {
    throw explainStart(error, (listener) => listeningOf(config, listener))
  })
}

async function startWorkers(config: Config, { stopped, ...given }: Given): Promise<Service> {
  const { Workers } = await import('./workers.ts')
  const workers = new Workers({ program: process.argv[1]!, config, ...given, fail: stopped.fail })
  stopped.beforeEnd(() => workers.kill())
  const { url, operatorPort } = await workers.start()
  const stop = async () => {
    if (!(await workers.stop())) process.exitCode = 1
  }
  return { url, operatorPort, stop }
}

function readyLine({ workers }: Config, { url, operatorPort }: Service): object {
  return { ...(workers > 1 && { workers }), ...(operatorPort !== null && { operatorPort }), url }
}

import { startApp } from '../../src/app.ts'
import { EMBEDDED_DATABASE } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { Child, script } from '../children.ts'
import { serveParent, tellFault } from '../parent.ts'
import { appOptions } from './app-options.ts'
import { startProfile } from './profile.ts'
import { createOn, startEmbedded } from './run-database.ts'

/**
 * The service as in production, in a process of its own, with the embedded PostgreSQL or a database of its own on the server
 * of DATABASE_URL.
 */

export interface ServiceConfig {
  /** Of the embedded PostgreSQL. */
  readonly dataDir: string
  readonly logLevel: string
  readonly operatorToken: string
  readonly caPem: string | null
  /** Processes that share the port, as with `aldis serve --workers`; this one starts the others. */
  readonly workers: number
  /** Let the embedded PostgreSQL count its statements and log some plans. Costs a little, so only while profiling. */
  readonly explain: boolean
}

export interface ServiceReady {
  readonly url: string
  readonly port: number
  readonly postgresPid: number
  readonly databaseUrl: string
}

const config = JSON.parse(process.argv[2] ?? '{}') as ServiceConfig
const log = createLog(config.logLevel)
const { dataDir, explain, workers } = config
const serverUrl = process.env.DATABASE_URL ?? EMBEDDED_DATABASE
const database =
  serverUrl === EMBEDDED_DATABASE || serverUrl === ''
    ? await startEmbedded({ dataDir, explain, log: (line) => log.info(line) })
    : await createOn(serverUrl)
const app = await startApp(appOptions(config, log, { number: 1, databaseUrl: database.url, port: 0 }))
const others = Array.from({ length: workers - 1 }, (_, index) => startOther(index + 2))
await Promise.all(others.map((other) => other.ready()))

function startOther(number: number): Child {
  const other = JSON.stringify({ number, databaseUrl: database.url, port: app.port })
  const program = script('aldis/worker.ts', JSON.stringify(config), other)
  return new Child(`worker ${number}`, program, { onExit: tellFault })
}

let stopProfile: (() => Promise<object>) | null = null
const ready: ServiceReady = {
  url: app.url,
  port: app.port,
  postgresPid: database.postgresPid,
  databaseUrl: database.url,
}
serveParent(
  ready,
  {
    async startProfile() {
      stopProfile = await startProfile()
    },
    stopProfile: () => stopProfile?.(),
  },
  async () => {
    await Promise.all([app.stop(), ...others.map((other) => other.stop())])
    await database.stop()
  },
)

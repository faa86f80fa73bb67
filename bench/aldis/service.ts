import { fileURLToPath } from 'node:url'
import { startApp } from '../../src/app/start.ts'
import { Workers } from '../../src/commands/workers.ts'
import { EMBEDDED_DATABASE } from '../../src/database-url.ts'
import { createLog } from '../../src/log.ts'
import { serveParent, tellFault } from '../parent.ts'
import { appOptions, type ServiceConfig, workersConfig } from './app-options.ts'
import { addPastDays } from './database.ts'
import { startProfile } from './profile.ts'
import { createOn, type RunDatabase, startEmbedded } from './run-database.ts'
import { TurnWatch } from './turn-watch.ts'

/**
 * The service as in production, in a process of its own, with the embedded PostgreSQL or a database of its own on the server
 * of DATABASE_URL.
 */

export interface ServiceReady {
  readonly url: string
  readonly port: number
  /** 0 if another node has made the database. */
  readonly postgresPid: number
  readonly databaseUrl: string
}

const config = JSON.parse(process.argv[2] ?? '{}') as ServiceConfig
const log = createLog(config.logLevel)
const { dataDir, explain, workers, pastDays = 0 } = config
const serverUrl = process.env.DATABASE_URL ?? EMBEDDED_DATABASE
const database = await openDatabase()
if (pastDays > 0) await addPastDays(database.url, pastDays)
const service = workers === 1 ? await startApp(appOptions(config, log, database.url)) : await startWorkers()

async function openDatabase(): Promise<RunDatabase> {
  if (config.databaseUrl !== null)
    return { url: config.databaseUrl, postgresPid: 0, stop: async () => undefined }
  return serverUrl === EMBEDDED_DATABASE || serverUrl === ''
    ? await startEmbedded({ dataDir, explain, log: (line) => log.info(line) })
    : await createOn(serverUrl)
}

async function startWorkers(): Promise<{ url: string; port: number; stop(): Promise<unknown> }> {
  const all = new Workers({
    program: fileURLToPath(new URL('worker.ts', import.meta.url)),
    config: workersConfig(config, database.url),
    databaseUrl: database.url,
    nodeName: config.nodeName,
    log,
    fail: tellFault,
  })
  return { ...(await all.start()), stop: () => all.stop() }
}

let stopProfile: (() => Promise<object>) | null = null
let turns: TurnWatch | null = null
const ready: ServiceReady = {
  url: service.url,
  port: service.port,
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
    async watchTurns(profiled) {
      turns = new TurnWatch()
      if (profiled === 'profiled') await turns.profile()
    },
    longestTurn: () => turns?.longest(),
    memory: () => process.memoryUsage(),
  },
  async () => {
    await service.stop()
    await database.stop()
  },
)

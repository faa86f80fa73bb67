import { startApp } from '../../src/app.ts'
import { EMBEDDED_DATABASE } from '../../src/config.ts'
import { hashToken } from '../../src/domain/tokens.ts'
import { createLog } from '../../src/log.ts'
import { serveParent } from '../parent.ts'
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
const { dataDir, explain } = config
const serverUrl = process.env.DATABASE_URL ?? EMBEDDED_DATABASE
const database =
  serverUrl === EMBEDDED_DATABASE || serverUrl === ''
    ? await startEmbedded({ dataDir, explain, log: (line) => log.info(line) })
    : await createOn(serverUrl)

const app = await startApp({
  connectionString: database.url,
  databasePoolSize: 10,
  databasePrepared: true,
  databaseStatementTimeoutMs: 30_000,
  allowUnsafeDurability: false,
  httpHost: '127.0.0.1',
  httpPort: 0,
  baseUrl: null,
  secretKey: Buffer.alloc(32, 1),
  operatorTokenHashes: [hashToken(config.operatorToken)],
  nodeName: 'bench',
  retentionDays: 90,
  drainTimeoutMs: 20_000,
  callbackPolicy: {
    allowCidrs: [],
    allowHosts: [],
    allowLoopback: true,
    allowUnresolvable: false,
    ownOrigins: [],
  },
  webhookCaPem: config.caPem ?? undefined,
  dnsServers: [],
  log,
  linkTimings: { backoffMs: 100 },
})

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
    await app.stop()
    await database.stop()
  },
)

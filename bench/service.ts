import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { startApp } from '../src/app.ts'
import { hashToken } from '../src/domain/tokens.ts'
import { createLog } from '../src/log.ts'
import { startEmbeddedPostgres } from '../src/postgres/embedded-server.ts'
import { serveParent } from './parent.ts'
import { startProfile } from './profile.ts'

/** The service as in production, with its embedded PostgreSQL, in a process of its own. */

export interface ServiceConfig {
  readonly dataDir: string
  readonly logLevel: string
  readonly operatorToken: string
  readonly caPem: string | null
  /** Let PostgreSQL count its statements and log some plans. Costs a little, so only while profiling. */
  readonly explain: boolean
}

export interface ServiceReady {
  readonly url: string
  readonly port: number
  readonly postgresPid: number
  readonly databaseUrl: string
}

/** One statement in fifty has its plan, with what it really did, in postgres.log; so has every wait for a lock. */
const EXPLAIN_SETTINGS = [
  `shared_preload_libraries = 'pg_stat_statements', 'auto_explain'`,
  'auto_explain.log_min_duration = 0',
  'auto_explain.sample_rate = 0.02',
  'auto_explain.log_analyze = on',
  'auto_explain.log_buffers = on',
  'auto_explain.log_parameter_max_length = 0',
  // Anything slow, without its values, and who waited for whose lock.
  'log_min_duration_statement = 500',
  'log_parameter_max_length = 0',
  'log_lock_waits = on',
  `deadlock_timeout = '200ms'`,
]

const config = JSON.parse(process.argv[2] ?? '{}') as ServiceConfig
const log = createLog(config.logLevel)
const postgresOptions = { dataDir: config.dataDir, log: (line: string) => log.info(line) }

let postgres = await startEmbeddedPostgres(postgresOptions)
if (config.explain) {
  const client = new pg.Client({ connectionString: postgres.localConnectionString })
  await client.connect()
  for (const setting of EXPLAIN_SETTINGS) await client.query(`alter system set ${setting}`)
  await client.end()
  await postgres.stop()
  postgres = await startEmbeddedPostgres(postgresOptions)
}

const app = await startApp({
  connectionString: postgres.localConnectionString,
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
  postgresPid: Number(
    readFileSync(join(config.dataDir, 'cluster', 'postmaster.pid'), 'latin1').split('\n')[0],
  ),
  databaseUrl: postgres.localConnectionString,
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
    await postgres.stop()
  },
)

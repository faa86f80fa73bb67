import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { AppOptions } from '../../src/app/options.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import { hashToken } from '../../src/domain/credentials.ts'

export interface ServiceConfig {
  /** Folder of the embedded PostgreSQL. */
  readonly dataDir: string
  /** The first node's database, for all other nodes; null: this process makes it. */
  readonly databaseUrl: string | null
  readonly nodeName: string
  readonly logLevel: string
  readonly operatorToken: string
  readonly caPem: string | null
  /** Above 1, this process starts that many workers, as `aldis serve --workers` does; at 1 it is the service. */
  readonly workers: number
  /** Days before today that the tables have partitions for when the service starts; default 0. */
  readonly pastDays?: number
  /** Let the embedded PostgreSQL count its statements and log some plans. Costs a little, so only while profiling. */
  readonly explain: boolean
}

const SECRET_KEY = Buffer.alloc(32, 1)
const DRAIN_TIMEOUT_MS = 20_000

/** The options in which the service differs from production. */
export const CHANGED: Pick<AppOptions, 'callbackPolicy'> = {
  callbackPolicy: {
    allowCidrs: [],
    allowHosts: [],
    allowLoopback: true,
    allowUnresolvable: false,
    ownOrigins: [],
  },
}

export function appOptions(
  { operatorToken, caPem, nodeName }: ServiceConfig,
  log: Logger,
  databaseUrl: string,
): AppOptions {
  return {
    connectionString: databaseUrl,
    databasePoolSize: 10,
    databasePrepared: true,
    databaseStatementTimeoutMs: 30_000,
    allowUnsafeDurability: false,
    httpHost: '127.0.0.1',
    httpPort: 0,
    baseUrl: null,
    secretKey: SECRET_KEY,
    operatorTokenHashes: [hashToken(operatorToken)],
    nodeName,
    retentionDays: 90,
    auditRetentionDays: 400,
    drainTimeoutMs: DRAIN_TIMEOUT_MS,
    ...CHANGED,
    webhookCaPem: caPem ?? undefined,
    dnsServers: [],
    alarmBacklogSeconds: 300,
    log,
  }
}

/** The same for workers, by setting this process's environment, which they read; see worker.ts. */
export function workersConfig(service: ServiceConfig, databaseUrl: string): Config {
  const { operatorToken, caPem, workers, logLevel, dataDir } = service
  Object.assign(process.env, {
    DATABASE_URL: databaseUrl,
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: '0',
    SECRET_KEY: SECRET_KEY.toString('hex'),
    OPERATOR_TOKEN: operatorToken,
    LOG_LEVEL: logLevel,
    WORKERS: String(workers),
    DRAIN_TIMEOUT_MS: String(DRAIN_TIMEOUT_MS),
  })
  if (caPem !== null) {
    const file = join(dataDir, 'authority.pem')
    writeFileSync(file, caPem)
    process.env.WEBHOOK_EXTRA_CA = file
  }
  const loaded = loadConfig()
  if (!loaded.ok) throw new Error(loaded.faults.join('; '))
  return loaded.config
}

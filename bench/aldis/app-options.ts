import type { Logger } from 'pino'
import type { AppOptions } from '../../src/app.ts'
import { hashToken } from '../../src/domain/tokens.ts'
import type { ServiceConfig } from './service.ts'

/** Which of the processes of the service it is. */
export interface WorkerPlace {
  /** From 1. */
  readonly number: number
  readonly databaseUrl: string
  /** 0 takes a free one. */
  readonly port: number
}

/** The service as in production, but for callbacks to this machine. */
export function appOptions(
  { operatorToken, caPem, workers }: ServiceConfig,
  log: Logger,
  { number, databaseUrl, port }: WorkerPlace,
): AppOptions {
  const worker = { number, workers, listensFirst: number === 1, others: async () => [] }
  return {
    connectionString: databaseUrl,
    databasePoolSize: 10,
    databasePrepared: true,
    databaseStatementTimeoutMs: 30_000,
    allowUnsafeDurability: false,
    httpHost: '127.0.0.1',
    httpPort: port,
    baseUrl: null,
    secretKey: Buffer.alloc(32, 1),
    operatorTokenHashes: [hashToken(operatorToken)],
    nodeName: `bench/${number}`,
    retentionDays: 90,
    drainTimeoutMs: 20_000,
    callbackPolicy: {
      allowCidrs: [],
      allowHosts: [],
      allowLoopback: true,
      allowUnresolvable: false,
      ownOrigins: [],
    },
    webhookCaPem: caPem ?? undefined,
    dnsServers: [],
    log,
    linkTimings: { backoffMs: 100 },
    ...(workers > 1 && { worker }),
  }
}

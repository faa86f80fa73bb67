import type { Logger } from 'pino'
import type { IncomingReceipt } from '../domain/journal/incoming-receipts.ts'
import type { NodeRole } from '../domain/nodes.ts'
import type { CallbackPolicy } from '../domain/webhooks/callback-url.ts'
import type { HttpLimits } from '../http/limits.ts'
import type { Metrics } from '../http/metrics.ts'
import type { LinkTimings } from '../services/links/carrier-link.ts'
import type { NodeLeaseOptions } from '../services/node/node-lease.ts'
import type { HandedReceipt } from '../services/receiving/sibling-receipts.ts'
import type { Collector } from '../services/tracing/span-queue.ts'
import type { TracesOptions } from '../services/tracing/traces.ts'
import type { AlarmTimings } from '../services/upkeep/alarm-watch.ts'

/** This process is one of several that share the ports. Each is a node of its own (ADR 20). */
export interface WorkerOptions {
  /** From 1; the label `worker` of its metrics. */
  readonly number: number
  /** How many there are. */
  readonly workers: number
  /** False when the other workers listen already: this one then listens once it can answer. */
  readonly listensFirst: boolean
  readonly siblings: Siblings
}

/** The other workers. Each method resolves with the answers that come in time. None rejects. */
export interface Siblings {
  readonly metrics: () => Promise<readonly Metrics[]>
  /** Makes them read the changed configuration. */
  readonly refresh: () => Promise<unknown>
  /** What became of these receipts at each worker. */
  readonly receipts: (receipts: readonly IncomingReceipt[]) => Promise<readonly (readonly HandedReceipt[])[]>
}

/** Where traces go, and the share of all messages that have one, from 0 to 1. */
export type TracesSettings = Collector & Pick<TracesOptions, 'share'>

export interface AppOptions {
  readonly connectionString: string
  readonly databasePoolSize: number
  readonly databasePrepared: boolean
  readonly databaseStatementTimeoutMs: number
  /** A standby for lists, look-ups and statistics. Undefined: the primary answers them. */
  readonly databaseReplicaUrl?: string | undefined
  /** How long a read waits for it to catch up. */
  readonly databaseReplicaMaxLagMs?: number
  readonly allowUnsafeDurability: boolean
  readonly httpHost: string
  readonly httpPort: number
  /** Where operators are served, apart from customers. Undefined: at the same port. */
  readonly operatorPort?: number | undefined
  /** Undefined: `httpHost`. */
  readonly operatorHost?: string | undefined
  /** Stop every carrier in the database before anything is bound. */
  readonly carriersStopped?: boolean
  readonly baseUrl: string | null
  /** Serve the console and the API reference. Default: true. */
  readonly console?: boolean
  /** Serve `/cgi-bin/sendsms`. Default: false. */
  readonly cgiSendsms?: boolean
  /** Master key, 32 bytes. */
  readonly secretKey: Buffer
  /** Opens secrets that were sealed with another master key, while the key is being changed. */
  readonly previousSecretKey?: Buffer | undefined
  /** SHA-256 of each, hex. */
  readonly operatorTokenHashes: readonly string[]
  /** Unique among the nodes of a database. A node takes the place of an earlier one with its name at once. */
  readonly nodeName: string
  /** Default: all. */
  readonly nodeRole?: NodeRole
  readonly worker?: WorkerOptions
  readonly retentionDays: number
  readonly auditRetentionDays: number
  readonly drainTimeoutMs: number
  readonly callbackPolicy: CallbackPolicy
  readonly webhookCaPem?: string | undefined
  readonly dnsServers: readonly string[]
  /** Is told of alarms. Undefined: nobody is, and nothing looks for them. */
  readonly alarmWebhookUrl?: string | undefined
  /** Signs these webhooks. */
  readonly alarmWebhookSecret?: string | undefined
  /** A message that waits for longer is an alarm. */
  readonly alarmBacklogSeconds: number
  readonly alarmTimings?: AlarmTimings
  readonly log: Logger
  /** This node must stop, see `NodeLease`. */
  readonly onBarred?: NodeLeaseOptions['onBarred']
  readonly ambiguityWaitMs?: number
  /** Longest wait of a request for a configuration that is not stale, see `DirectoryService.fresh`. */
  readonly freshWaitMs?: number
  readonly linkTimings?: LinkTimings
  readonly heartbeatMs?: number
  readonly leaseMs?: number
  readonly webhookProbeMs?: number
  /** For a whole attempt. */
  readonly webhookTimeoutMs?: number
  readonly webhookConnectTimeoutMs?: number
  /** Events in memory. */
  readonly webhooksHeld?: number
  readonly qualityMs?: number
  /** Clock of the quality watch, Unix milliseconds. */
  readonly qualityClock?: () => number
  readonly statisticsMs?: number
  readonly limitsMs?: number
  /** Undefined: no traces. */
  readonly traces?: TracesSettings | undefined
  readonly httpLimits?: HttpLimits
}

/** Shares of drainTimeoutMs for stopping the parts, one after the other. An unbind takes its share twice. */
export const DRAIN = { requests: 0.2, submits: 0.3, unbinds: 0.1, outcomes: 0.1, webhooks: 0.1, records: 0.1 }

/** A listener could not listen. `code` is the system's error code. */
export class ListenError extends Error {
  readonly code: string | undefined
  readonly listener: 'http' | 'operators'

  constructor(listener: 'http' | 'operators', cause: NodeJS.ErrnoException) {
    super(cause.message, { cause })
    this.code = cause.code
    this.listener = listener
  }
}

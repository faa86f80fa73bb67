import type { FastifyInstance } from 'fastify'
import type { AlarmCondition } from '../../../domain/alarms.ts'
import type { Backlog } from '../../../domain/backlog.ts'
import type { Directory } from '../../../domain/configuration/directory.ts'
import type { Operator } from '../../../domain/credentials.ts'
import type { LinkSummary } from '../../../domain/nodes.ts'
import type { SecretKeys } from '../../../domain/secrets.ts'
import type { CallbackChecker } from '../../../domain/webhooks/callback-url.ts'
import type { WaitsOfNode } from '../../../operations/explain-waits.ts'
import type { Changed } from '../../../operations/manage/audited-changes.ts'
import type { MessageReads } from '../../../operations/read-messages.ts'
import type { OwnReport } from '../../../operations/read-nodes.ts'
import type { TestAlarms, TestEvents } from '../../../operations/send-tests.ts'
import type { Database, Queryable, Transaction } from '../../../store/database.ts'
import type { ConsoleSessions } from '../../console-sessions.ts'

/** The quality watch of this node: its clock (Unix ms), and how it learns which carriers are out of use. */
interface QualityWatching {
  nowMs(): number
  refresh(): Promise<void>
}

/** A request of an operator. */
export interface OperatorRequest {
  readonly operator: Operator | null
  readonly ip: string
  readonly routeOptions: { readonly schema?: object }
}

/**
 * What the routes use. `change` is the only way to write, and it writes the audit log too, except for work that reports that
 * it changed nothing, or nothing that another call of the request has not recorded.
 */
export interface AdminDeps {
  /** Runs the work of a request in a transaction, and records in the same transaction what it changed. */
  readonly change: <T>(
    request: OperatorRequest,
    work: (transaction: Transaction) => Promise<Changed<T>>,
  ) => Promise<T>
  /** For requests that only read: however long they take, they take no connection from the message path. */
  readonly reads: Database
  /** For lists, look-ups and statistics of what is at rest: perhaps a read replica, and never for what decides. */
  readonly records: Queryable
  readonly directory: {
    current(): Directory
    fresh(): Directory | Promise<Directory | null>
    refresh(): Promise<void>
  }
  /** `deriveKey(masterKey, 'secrets')`. */
  readonly secretKey: SecretKeys
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly guard: CallbackChecker
  readonly testEvents: TestEvents
  readonly messages: MessageReads
  /** Reads which countries the pumping guards of plans have paused. Absent where this node runs no carrier links. */
  readonly refreshPauses?: () => Promise<void>
  /** Absent where this node runs no carrier links. */
  readonly quality?: QualityWatching
  /** Absent where this node runs no carrier links. */
  readonly linkSummary?: (carrierId: number) => LinkSummary | null
  /** What waits, where and why. Also absent then. */
  readonly backlog?: { read(): Promise<Backlog> }
  /** What the carrier did that SMPP does not allow, by kind, since this node started. Also absent then. */
  readonly carrierAnomalies?: (carrierId: number) => Readonly<Record<string, number>>
  /** What this node could do with the carrier in a route now. Absent where this node runs no carrier links. */
  readonly carrierCondition?: WaitsOfNode['carrierCondition']
  /** Also absent then. */
  readonly heldCause?: WaitsOfNode['heldCause']
  /** What is wrong now, as alarms. Also absent then. */
  readonly readAlarms?: () => Promise<readonly AlarmCondition[]>
  /** Null where nobody is told of alarms. Also absent where this node runs no carrier links. */
  readonly testAlarms?: Pick<TestAlarms, 'send'> | null
  /** This node and its binds, for those who look at all nodes. Absent where it runs none. */
  readonly ownReport?: OwnReport
}

export interface AdminOptions extends Omit<AdminDeps, 'change'> {
  /** Absent where there is no console. */
  readonly sessions?: ConsoleSessions | undefined
  readonly db: Database
  /** SHA-256 of each token of OPERATOR_TOKEN, hex. */
  readonly operatorTokenHashes: readonly string[]
}

/** Where the routes below `/admin/v1` are added. */
export type AdminScope = FastifyInstance

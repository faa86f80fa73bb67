import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Backlog } from '../../../domain/backlog.ts'
import type { CallbackChecker } from '../../../domain/callback-url.ts'
import type { Directory } from '../../../domain/directory.ts'
import type { CarrierCondition } from '../../../domain/routing.ts'
import type { SecretKeys } from '../../../domain/secrets.ts'
import type { MessageReads } from '../../../operations/read-messages.ts'
import type { TestEvents } from '../../../operations/send-test-event.ts'
import type { Database } from '../../../store/database.ts'

/** The state of a carrier's link on this node. */
interface CarrierLinkStatus {
  readonly state: string
  /** ISO 8601; since when. */
  readonly since: string | null
  readonly lastError: string | null
  readonly unanswered: number
  readonly links: {
    readonly number: number
    readonly bind: string
    readonly state: string
    readonly boundSince: string | null
    readonly lastClose: string | null
    readonly unanswered: number
  }[]
}

/** The quality watch of this node: its clock (Unix ms), and how it learns which carriers are out of use. */
interface QualityWatching {
  nowMs(): number
  refresh(): Promise<void>
}

export interface AdminDeps {
  readonly db: Database
  /** For requests that only read: however long they take, they take no connection from the message path. */
  readonly reads: Database
  readonly directory: { current(): Directory; refresh(): Promise<void> }
  /** `deriveKey(masterKey, 'secrets')`. */
  readonly secretKey: SecretKeys
  /** SHA-256 of each operator token, hex. */
  readonly operatorTokenHashes: readonly string[]
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly guard: CallbackChecker
  readonly testEvents: TestEvents
  readonly messages: MessageReads
  /** Absent where this node runs no carrier links. */
  readonly quality?: QualityWatching
  /** Absent where this node runs no carrier links. */
  readonly linkStatus?: (carrierId: number) => CarrierLinkStatus | null
  /** What waits, where and why. Also absent then. */
  readonly backlog?: { read(): Promise<Backlog> }
  /** What the carrier did that SMPP does not allow, by kind, since this node started. Also absent then. */
  readonly carrierAnomalies?: (carrierId: number) => Readonly<Record<string, number>>
  /** What this node could do with the carrier in a route now. Absent where this node runs no carrier links. */
  readonly carrierCondition?: (carrierId: number, routeId: number) => CarrierCondition
}

export type AdminScope = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

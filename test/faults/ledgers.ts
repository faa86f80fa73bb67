/**
 * What four witnesses recorded in one run: the load, the carriers, the receivers, and the service itself at the end.
 * All times are milliseconds of the harness's own monotonic clock, which no fault touches.
 */

/** Ranks of docs/message-states.md: a message's rank never falls. */
const STATUS_RANKS = { QUEUED: 0, SENT: 1, UNKNOWN: 2, DELIVERED: 3, FAILED: 3 } as const
type Status = keyof typeof STATUS_RANKS

export function rankOf(status: string): number {
  return STATUS_RANKS[status as Status] ?? Number.NaN
}

/** One request of the load. A request with an idempotency key is repeated until it is answered. */
export interface Answer {
  readonly node: number
  readonly sentAtMs: number
  readonly answeredAtMs: number
  /** null: no answer came. */
  readonly status: number | null
  readonly msgId: string | null
  /** Why no answer came. `refused`: no connection, so the service never got the request. */
  readonly failure: 'refused' | 'reset' | 'timeout' | null
}

export interface LoadEntry {
  readonly n: number
  readonly plan: number
  readonly segments: number
  readonly hasKey: boolean
  /** Its events are pushed, because it or its account has a callback URL. */
  readonly isPushed: boolean
  readonly answers: Answer[]
}

/** The final outcome that a carrier reports for a message. */
export type ReceiptState = 'DELIVRD' | 'UNDELIV'

/** One submit_sm that a carrier took. */
export interface Submit {
  readonly n: number
  readonly segment: number
  readonly session: number
  readonly atMs: number
  /** When submit_sm_resp was handed to the connection; null: never. */
  answeredAtMs: number | null
  readonly state: ReceiptState
  /** When the service acknowledged its receipt with ESME_ROK for the first time. */
  receiptAcknowledgedAtMs: number | null
}

export interface Session {
  readonly carrier: string
  readonly boundAtMs: number
  readonly window: number
  endedAtMs: number | null
  /** Ended by an unbind from the service. */
  isOrderly: boolean
}

/** One inbound message, of one part or several. `k` is in its text. */
export interface Inbound {
  readonly k: number
  readonly offeredAtMs: number
  /** When the last part was acknowledged with ESME_ROK; null: some never was. */
  acknowledgedAtMs: number | null
}

/** One webhook request. */
export interface Webhook {
  readonly eventId: string
  readonly msgId: string
  readonly sequence: number
  /** null: an inbound message. */
  readonly status: string | null
  readonly begunAtMs: number
  /** A digest of the body. */
  readonly digest: string
  /** When its answer was written; null: never. */
  answeredAtMs: number | null
  isAccepted: boolean
}

export interface FeedItem {
  readonly plan: number
  readonly eventId: string
  readonly msgId: string
  readonly sequence: number
  readonly status: string | null
  /** The number of the inbound message; null: it is none. */
  readonly k: number | null
  readonly digest: string
  readonly atMs: number
}

/** A look-up after the service had reported at least this status. */
export interface LookUp {
  readonly msgId: string
  readonly node: number
  readonly atMs: number
  readonly atLeast: string
  readonly httpStatus: number
  readonly status: string | null
}

export interface RecordedMessage {
  readonly msgId: string
  readonly plan: number
  /** The number in its text. */
  readonly n: number
  readonly status: string
  readonly errorCode: string
  readonly segments: number
}

/** What the operator sees of a message with a segment that the carrier got twice. */
export interface RecordedCopy {
  readonly n: number
  readonly isFlagged: boolean
}

export interface ServiceRecord {
  readonly messages: readonly RecordedMessage[]
  readonly inbound: readonly { readonly msgId: string; readonly k: number }[]
  readonly copies: readonly RecordedCopy[]
}

/** Findings that a kind of fault excuses, besides what it breaks. */
export interface Excuses {
  /** A node stood still or died: as many messages as the windows hold may be submitted again. */
  readonly copies?: boolean
  /** An answer of a receiver, or its record, may be lost: events come again. */
  readonly repeats?: boolean
  /** PDUs that a node had written to a carrier may be lost on the way. */
  readonly swallows?: boolean
  /** A node ended in order, so all its requests must be answered. */
  readonly drains?: boolean
}

export interface FaultEntry {
  readonly kind: string
  readonly node: number | null
  /** When the harness began to make it. */
  readonly begunMs: number
  /** When it was in force: of a node, when that was killed or stopped. */
  readonly startMs: number
  /** When the harness had undone all it had changed. */
  readonly endMs: number
  readonly excuses: Excuses
  /** A node whose work others have to take over from `startMs` on. */
  readonly killedNode: number | null
  /** When the database could begin to give that work to others; absent: at `startMs`. */
  readonly freeMs?: number | undefined
  /** Nodes that take requests afterwards. */
  readonly nodes: readonly number[]
}

export interface Ledgers {
  readonly load: readonly LoadEntry[]
  readonly submits: readonly Submit[]
  readonly sessions: readonly Session[]
  readonly inbound: readonly Inbound[]
  readonly webhooks: readonly Webhook[]
  readonly feed: readonly FeedItem[]
  readonly lookUps: readonly LookUp[]
  readonly record: ServiceRecord
  readonly faults: readonly FaultEntry[]
  readonly plans: readonly { readonly keepsDoubtful: boolean }[]
}

/** Every segment carries the whole mark, by which the carrier identifies the message. */
export function markOf(n: number): string {
  return `<${n}>`
}

export function numberIn(text: string): number {
  return Number(/<(\d+)>/.exec(text)?.[1] ?? Number.NaN)
}

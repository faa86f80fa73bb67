import type { BindPdu } from '../smpp/pdu.ts'
import type { CloseReason } from '../smpp/session-handlers.ts'
import { firstMessageNumber, type IdForm } from './message-ids.ts'
import { EARLY_RECEIPT_LEAD_MS, LATE_RECEIPT_DELAY_MS, RECEIPT_DELAY_MS } from './outcomes.ts'
import type { SubmitPdu } from './submissions.ts'

interface Credential {
  readonly systemId: string
  /** Any password when left out. */
  readonly password?: string
}

export interface Bind {
  readonly systemId: string
  readonly mode: BindPdu['command']
  /** A bind that injects MO messages. */
  readonly isHandset: boolean
  readonly remoteAddress: string | undefined
}

/** What a simulator may be told; everything but the port has a default. Times are in milliseconds. */
export interface SimulatorOptions {
  /** 0 for any free one. */
  readonly port: number
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Who may bind; anybody when empty, the default. */
  readonly credentials?: readonly Credential[]
  /** Binds of this system_id are handsets, whatever their password. Default `handset`. */
  readonly handsetSystemId?: string
  /** Fixed, or the ends of a range from which each message draws its own. Default 50 to 300. */
  readonly receiptDelayMs?: number | readonly [least: number, most: number]
  /** Of recipients ending in 1010. Default 30,000. */
  readonly lateReceiptDelayMs?: number
  /** From the receipt to the submit response of recipients ending in 1008. Default 50. */
  readonly earlyReceiptLeadMs?: number
  /** Form of message ids in submit_sm_resp (default decimal) and in receipts (default: the same). */
  readonly messageIds?: IdForm
  readonly receiptIds?: IdForm
  /** Default: derived from the clock, so that no two starts share ids. */
  readonly firstMessageNumber?: number
  /** Submits accepted in any second; more are answered ESME_RTHROTTLED. Default: no limit. */
  readonly throughput?: number
  /** deliver_sm without an answer at once, on each bind. Default 100. */
  readonly deliverWindow?: number
  /** Before an unanswered deliver_sm is sent again. Default 30,000. */
  readonly deliverTimeoutMs?: number
  /** Before a deliver_sm that was refused for now is sent again (default 1,000), and how often at most (300). */
  readonly retryDelayMs?: number
  readonly deliverAttempts?: number
  /** deliver_sm kept for each system_id; the oldest goes when there are more. Default 100,000. */
  readonly keepLimit?: number
  /** Receipts whose time has not come; more submits are answered ESME_RMSGQFUL. Default 1,000,000. */
  readonly scheduleLimit?: number
  /** Unanswered requests of one ESME above which its socket is not read. Default 1,000. */
  readonly inboundLimit?: number
  /** Silence before an enquire_link. Default 30,000. */
  readonly enquireLinkIntervalMs?: number
  /** Each step of an orderly end: for what is in flight, then for unbind_resp. Default 1,000. */
  readonly stopTimeoutMs?: number
  /** Keep the last 1,000,000 accepted submits in `submissions`. Default false. */
  readonly recordSubmissions?: boolean
  /** Like Math.random, the default. */
  readonly random?: () => number
  /** After each accepted submit, before its answer; must not throw. `messageId` is the answer's. */
  readonly onSubmit?: (pdu: SubmitPdu, messageId: string) => void
  readonly onBind?: (bind: Bind) => void
  readonly onUnbind?: (bind: Bind, reason: CloseReason) => void
}

type Optional = 'throughput' | 'onSubmit' | 'onBind' | 'onUnbind' | 'receiptDelayMs'

export type SimulatorSettings = Required<Omit<SimulatorOptions, Optional>> &
  Pick<SimulatorOptions, Optional> & { readonly receiptDelayRangeMs: readonly [least: number, most: number] }

/** The options with every default filled in. */
export function simulatorSettings(options: SimulatorOptions, nowMs: number): SimulatorSettings {
  const delayMs = options.receiptDelayMs ?? RECEIPT_DELAY_MS
  const messageIds = options.messageIds ?? 'decimal'
  return {
    host: '127.0.0.1',
    credentials: [],
    handsetSystemId: 'handset',
    lateReceiptDelayMs: LATE_RECEIPT_DELAY_MS,
    earlyReceiptLeadMs: EARLY_RECEIPT_LEAD_MS,
    firstMessageNumber: firstMessageNumber(nowMs),
    deliverWindow: 100,
    deliverTimeoutMs: 30_000,
    retryDelayMs: 1_000,
    deliverAttempts: 300,
    keepLimit: 100_000,
    scheduleLimit: 1_000_000,
    inboundLimit: 1_000,
    enquireLinkIntervalMs: 30_000,
    stopTimeoutMs: 1_000,
    recordSubmissions: false,
    random: Math.random,
    ...options,
    messageIds,
    receiptIds: options.receiptIds ?? messageIds,
    receiptDelayRangeMs: typeof delayMs === 'number' ? [delayMs, delayMs] : delayMs,
  }
}

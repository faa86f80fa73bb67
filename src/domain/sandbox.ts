import type { ReceiptState } from './carriers/statuses.ts'
import type { Status } from './messages/messages.ts'
import type { Encoding } from './text/segments.ts'

/**
 * Sandbox plans send over the route of this name. Its only carrier has the same name, and is the simulator inside each node
 * (docs/adr/0027-sandbox-plans.md). No other route, plan or rule can name either.
 */
export const SANDBOX = 'sandbox'

/** Whether this carrier, or this route, is that of the sandbox plans. */
export function isSandbox({ name }: { readonly name: string }): boolean {
  return name === SANDBOX
}

/** Messages that each node submits to its simulator in a second, of all sandbox plans. */
export const SANDBOX_MESSAGES_PER_SECOND = 100
/** Limit of the messages of a sandbox plan for which no other is set. */
export const SANDBOX_RATE_LIMIT = { messagesPerSecond: 20, burst: 100 } as const

/** What the simulator does with a message, by the last digits of its recipient. */
export interface SandboxOutcome {
  /** Null: any that no other outcome names. */
  readonly lastDigits: string | null
  readonly summary: string
  /** The status that the message gets; SENT if no receipt comes. */
  readonly status: Status
  /** How often the simulator refuses a submit of the message, and with which command_status; null: it does not. */
  readonly refusal: { readonly commandStatus: string; readonly attempts: number | null } | null
  /** In the order in which they are sent. */
  readonly receipts: readonly { readonly state: ReceiptState; readonly error: string }[]
  /** From the submit to the first receipt. Null without receipts. */
  readonly receiptDelayMs: { readonly least: number; readonly most: number } | null
}

/** A message as a handset sends it. */
export interface HandsetMessage {
  /** E.164. */
  readonly from: string
  readonly to: string
  readonly body: string
}

/** How the simulator sent it: each part is a deliver_sm. */
export interface HandsetSubmission {
  readonly encoding: Encoding
  readonly parts: number
}

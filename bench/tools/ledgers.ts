/**
 * What each tool knows of every message, written as lines of fields and joined by the message's number. Times are
 * microseconds of one clock (CLOCK_MONOTONIC), 0 for what did not happen.
 */

export interface LoadEntry {
  readonly number: number
  /** When the request was due; with a bounded number of messages, when it was sent. */
  readonly dueUs: number
  readonly latencyUs: number
  /** 0: never answered. */
  readonly status: number
  readonly msgId: string | null
}

export interface ReceiverEntry {
  readonly number: number
  /** The number of times each webhook came. */
  readonly sent: number
  readonly delivered: number
  readonly sentUs: number
  readonly deliveredUs: number
  readonly msgId: string | null
}

export interface CarrierEntry {
  readonly number: number
  readonly submits: number
  readonly submittedUs: number
  readonly receiptUs: number
  readonly acknowledgedUs: number
}

export interface Ledgers {
  readonly load: readonly LoadEntry[]
  readonly receiver: readonly ReceiverEntry[]
  readonly carrier: readonly CarrierEntry[]
}

/** Microseconds of CLOCK_MONOTONIC, as messages.c has them. */
export function nowUs(): number {
  return Number(process.hrtime.bigint() / 1_000n)
}

export function parseLoadLedger(text: string): LoadEntry[] {
  return linesOf(text, 5).map(([number, dueUs, latencyUs, status, msgId]) => ({
    number: Number(number),
    dueUs: Number(dueUs),
    latencyUs: Number(latencyUs),
    status: Number(status),
    msgId: idOf(msgId!),
  }))
}

export function parseReceiverLedger(text: string): ReceiverEntry[] {
  return linesOf(text, 6).map(([number, sent, delivered, sentUs, deliveredUs, msgId]) => ({
    number: Number(number),
    sent: Number(sent),
    delivered: Number(delivered),
    sentUs: Number(sentUs),
    deliveredUs: Number(deliveredUs),
    msgId: idOf(msgId!),
  }))
}

export function parseCarrierLedger(text: string): CarrierEntry[] {
  return linesOf(text, 5).map(([number, submits, submittedUs, receiptUs, acknowledgedUs]) => ({
    number: Number(number),
    submits: Number(submits),
    submittedUs: Number(submittedUs),
    receiptUs: Number(receiptUs),
    acknowledgedUs: Number(acknowledgedUs),
  }))
}

/** The line of one message, as the tools written in C print it. */
export function ledgerLine(fields: readonly (number | string | null)[]): string {
  return `${fields.map((field) => field ?? '-').join(' ')}\n`
}

function idOf(field: string): string | null {
  return field === '-' ? null : field
}

/** @throws Error when a line has another number of fields: a truncated ledger must not count as a shorter one. */
function linesOf(text: string, fields: number): string[][] {
  const lines = text.split('\n')
  if (lines.pop() !== '') throw new Error('a ledger is cut off')
  return lines.map((line) => {
    const parts = line.split(' ')
    if (parts.length !== fields) throw new Error(`a ledger has a line of ${parts.length} fields`)
    return parts
  })
}

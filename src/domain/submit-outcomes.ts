import { BoundedMap } from '../collections/bounded-map.ts'
import { fromSubmitStatus } from './error-codes.ts'

/** What a submit_sm_resp means for the message, by its command_status (SMPP 3.4 §5.1.3), and when to retry. */

/**
 * - accepted: the carrier has it
 * - throttled: slow down; never fails a message, no attempt consumed
 * - retry: try until validity is over
 * - limited-retry: three tries in all
 * - rebind: the link is at fault; bind again, no attempt consumed
 * - permanent: the message has failed
 */
export type SubmitOutcome = 'accepted' | 'throttled' | 'retry' | 'limited-retry' | 'rebind' | 'permanent'

const OUTCOMES = new Map<number, SubmitOutcome>([
  [0x00, 'accepted'], // ESME_ROK
  [0x04, 'rebind'], // ESME_RINVBNDSTS
  [0x05, 'rebind'], // ESME_RALYBND
  [0x08, 'retry'], // ESME_RSYSERR
  [0x0d, 'rebind'], // ESME_RBINDFAIL
  [0x0e, 'rebind'], // ESME_RINVPASWD
  [0x0f, 'rebind'], // ESME_RINVSYSID
  [0x14, 'retry'], // ESME_RMSGQFUL
  [0x45, 'limited-retry'], // ESME_RSUBMITFAIL
  [0x53, 'rebind'], // ESME_RINVSYSTYP
  [0x58, 'throttled'], // ESME_RTHROTTLED
  [0x64, 'retry'], // ESME_RX_T_APPN
  [0xfe, 'limited-retry'], // ESME_RDELIVERYFAILURE
  [0xff, 'limited-retry'], // ESME_RUNKNOWNERR
])

/** Reserved for SMSC vendors (SMPP 3.4 §5.1.3). */
const VENDOR_FIRST = 0x400
const VENDOR_LAST = 0x4ff

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const DELAYS_MS: readonly number[] = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS]

/** Tries in all of a message whose outcome is limited-retry. */
export const LIMITED_TRIES = 3

/** Time from acceptance until a message that no carrier took fails: the longest, and the one of a plan that sets none. */
export const VALIDITY_MS = 24 * 60 * MINUTE_MS

/** Classifies a command_status; a carrier's own table, when given, is asked first. */
export function submitOutcome(
  commandStatus: number,
  overrides?: ReadonlyMap<number, SubmitOutcome>,
): SubmitOutcome {
  const vendor = commandStatus >= VENDOR_FIRST && commandStatus <= VENDOR_LAST
  const known = overrides?.get(commandStatus) ?? OUTCOMES.get(commandStatus)
  return known ?? (vendor ? 'limited-retry' : 'permanent')
}

/** Wait after the `attempt`-th failed try (1 is the first): 5 s, 30 s, 2 min, then 10 min; `jitter` 0..1 gives -20..+20 %. */
export function retryDelayMs(attempt: number, jitter: number): number {
  const step = Math.min(Math.max(attempt, 1), DELAYS_MS.length) - 1
  return Math.round((DELAYS_MS[step] as number) * (0.8 + 0.4 * jitter))
}

/** Doublings of the wait after an attempt without an answer. */
const MOST_DOUBLINGS = 6

/**
 * Wait after an attempt without an answer, before the message is sent again: `firstMs`, doubled for each attempt before,
 * up to 64 times `firstMs`. A carrier that takes messages and never answers delivers one 17 times within its validity,
 * not 600 times.
 */
export function ambiguityWaitMs(firstMs: number, attemptsBefore: number): number {
  return firstMs * 2 ** Math.min(attemptsBefore, MOST_DOUBLINGS)
}

/**
 * Wait before the next try of a message whose `attempt`-th try had the outcome `kind`. Null when the message has failed:
 * three tries are used up, or the next would come after its validity, of which `leftMs` are left.
 */
export function nextTryMs(
  kind: 'retry' | 'limited-retry',
  { attempt, leftMs, jitter }: { attempt: number; leftMs: number; jitter: number },
): number | null {
  if (kind === 'limited-retry' && attempt >= LIMITED_TRIES) return null
  const delayMs = retryDelayMs(attempt, jitter)
  return delayMs < leftMs ? delayMs : null
}

/** How the dispatch of a message ends, once none of its PDUs is in flight. */
export type SubmissionEnd =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly errorCode: string; readonly commandStatus: number }
  | { readonly kind: 'retry'; readonly limited: boolean; readonly commandStatus: number }
  /** A PDU got no answer: the carrier may have it. */
  | { readonly kind: 'ambiguous' }
  /** PDUs are to be sent (again) as soon as the carrier takes them; no attempt is consumed. */
  | { readonly kind: 'unfinished' }

/**
 * Which PDUs of a message are to be sent, in flight and accepted, and what their answers amount to. Each has one segment, or
 * all of them in a `message_payload`.
 */
export class SubmissionProgress {
  /** Bit n: the carrier has accepted PDU n. */
  accepted: bigint
  readonly #pending: number[] = []
  #underWay = 0
  #failure: { commandStatus: number } | null = null
  #retry: { limited: boolean; commandStatus: number } | null = null
  #ambiguous = false
  readonly #all: bigint
  readonly #outcomes: ReadonlyMap<number, SubmitOutcome> | undefined

  /** `outcomes`: the carrier's own table. */
  constructor(total: number, accepted: bigint, outcomes?: ReadonlyMap<number, SubmitOutcome>) {
    this.accepted = accepted
    this.#all = (1n << BigInt(total)) - 1n
    this.#outcomes = outcomes
    for (let pdu = 0; pdu < total; pdu += 1)
      if ((accepted & (1n << BigInt(pdu))) === 0n) this.#pending.push(pdu)
  }

  /** The next PDU to send; null while there is none, because all are sent or one has already spoilt the attempt. */
  get next(): number | null {
    if (this.#failure !== null || this.#retry !== null || this.#ambiguous) return null
    return this.#pending[0] ?? null
  }

  /** The PDU that `next` returned is in flight. */
  sent(): void {
    this.#pending.shift()
    this.#underWay += 1
  }

  /** An answer came. Returns what kind of answer it was. */
  answered(pdu: number, commandStatus: number): SubmitOutcome {
    this.#underWay -= 1
    const kind = submitOutcome(commandStatus, this.#outcomes)
    if (kind === 'accepted') this.accepted |= 1n << BigInt(pdu)
    else if (kind === 'throttled' || kind === 'rebind') this.#pending.unshift(pdu)
    else if (kind === 'permanent') this.#failure ??= { commandStatus }
    else this.#retry ??= { limited: kind === 'limited-retry', commandStatus }
    return kind
  }

  /** The last answer blamed the session but was the message's own fault: it counts as a refusal for now. */
  refusedItself(commandStatus: number): void {
    this.#retry ??= { limited: true, commandStatus }
  }

  /** The PDU that `next` returned would be too long: counts as if the carrier had refused it for good. */
  unsendable(commandStatus: number): void {
    this.#failure ??= { commandStatus }
  }

  get isInFlight(): boolean {
    return this.#underWay > 0
  }

  /** No PDU is in flight, and no answer has ended the attempt. */
  get isIdle(): boolean {
    return this.#underWay === 0 && this.#failure === null && this.#retry === null && !this.#ambiguous
  }

  /** The carrier has accepted all of it. */
  get isComplete(): boolean {
    return this.accepted === this.#all
  }

  /** A PDU turns out to have been accepted earlier: it need not be sent. */
  acceptedEarlier(pdu: number): void {
    this.accepted |= 1n << BigInt(pdu)
    const index = this.#pending.indexOf(pdu)
    if (index >= 0) this.#pending.splice(index, 1)
  }

  /** A PDU's answer will not come. */
  lost(): void {
    this.#underWay -= 1
    this.#ambiguous = true
  }

  /** Null while an answer is awaited, or `next` is to be sent. */
  get end(): SubmissionEnd | null {
    if (this.#underWay > 0) return null
    // Also when an answer that was given up came after all, while others were awaited.
    if (this.isComplete) return { kind: 'sent' }
    if (this.#failure !== null) {
      const { commandStatus } = this.#failure
      return { kind: 'failed', errorCode: fromSubmitStatus(commandStatus), commandStatus }
    }
    if (this.#ambiguous) return { kind: 'ambiguous' }
    if (this.#retry !== null) return { kind: 'retry', ...this.#retry }
    return { kind: 'unfinished' }
  }
}

/** Recipients we are backing off from, each with the end of its back-off in milliseconds. */
export class BackOffs extends BoundedMap<string, number> {
  /** Milliseconds left; 0 when there is no back-off or it is over. */
  leftMs(key: string, nowMs: number): number {
    if (this.size === 0) return 0
    const untilMs = this.get(key)
    if (untilMs === undefined) return 0
    if (untilMs > nowMs) return untilMs - nowMs
    this.delete(key)
    return 0
  }
}

/** Binds that one message may cost before such an answer is taken as the message's own fault. */
const MOST_REBINDS = 3
/** Messages that are counted; the one whose answer came first makes room. */
const MAX_MESSAGES = 1_000

/**
 * Which messages were answered with a status that blames the session, and in how many sessions. A carrier that means
 * something else by it may answer one message like this every time. Without this count, that message would rebind
 * everybody's link until its validity is over.
 */
export class RebindCounts {
  readonly #seen: BoundedMap<string, { count: number; session: object | null }>

  constructor(most: number = MAX_MESSAGES) {
    this.#seen = new BoundedMap(most)
  }

  /** Records such an answer. False when the message got one in three other sessions before: the fault is not the link's. */
  blamesLink(msgId: string, session: object | null): boolean {
    const before = this.#seen.get(msgId)
    // An answer to another of its segments.
    if (before !== undefined && before.session === session) return true
    const count = before?.count ?? 0
    if (count >= MOST_REBINDS) return false
    this.#seen.set(msgId, { count: count + 1, session })
    return true
  }

  /** Its submission is over. */
  delete(msgId: string): void {
    if (this.#seen.size > 0) this.#seen.delete(msgId)
  }
}

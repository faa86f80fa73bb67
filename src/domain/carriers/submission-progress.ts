import { lowBits } from '../../collections/bits.ts'
import { type ErrorOutcome, type RefusalOutcome, type SubmitOutcome, submitOutcome } from './statuses.ts'

/** How an attempt to submit a message ends, once none of its PDUs is in flight. */
export type AttemptEnd =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused'; readonly refusal: SubmitRefusal }
  /** A PDU got no answer: the carrier may have it. */
  | { readonly kind: 'ambiguous' }
  /** PDUs are to be sent (again) as soon as the carrier takes them; no attempt is consumed. */
  | { readonly kind: 'unfinished' }

/** The answer that spoilt an attempt, and the PDU that it answered. */
export interface SubmitRefusal {
  readonly outcome: RefusalOutcome
  readonly commandStatus: number
  readonly pdu: number
}

/**
 * Which PDUs of a message are to be sent, in flight and accepted, and what their answers amount to. Each has one segment, or
 * all of them in a `message_payload`.
 */
export class SubmissionProgress {
  /** Bit n: the carrier has accepted PDU n. */
  acceptedPduBits: bigint
  readonly #pending: number[] = []
  #inFlight = 0
  #refusal: SubmitRefusal | null = null
  #ambiguous = false
  readonly #all: bigint
  readonly #outcomes: ReadonlyMap<number, ErrorOutcome> | undefined

  /** `outcomes`: the carrier's own table. */
  constructor(total: number, accepted: bigint, outcomes?: ReadonlyMap<number, ErrorOutcome>) {
    this.acceptedPduBits = accepted
    this.#all = lowBits(total)
    this.#outcomes = outcomes
    for (let pdu = 0; pdu < total; pdu += 1)
      if ((accepted & (1n << BigInt(pdu))) === 0n) this.#pending.push(pdu)
  }

  /** The next PDU to send; null while there is none, because all are sent or one has already spoilt the attempt. */
  get next(): number | null {
    if (this.#refusal !== null || this.#ambiguous) return null
    return this.#pending[0] ?? null
  }

  /** The PDU that `next` returned is in flight. */
  sent(): void {
    this.#pending.shift()
    this.#inFlight += 1
  }

  /** A PDU was answered. Returns what the answer means. */
  answered(pdu: number, commandStatus: number): SubmitOutcome {
    this.#inFlight -= 1
    const outcome = submitOutcome(commandStatus, this.#outcomes)
    if (outcome === 'accepted') this.acceptedPduBits |= 1n << BigInt(pdu)
    else if (outcome === 'throttled' || outcome === 'rebind') this.#pending.unshift(pdu)
    else this.#refuse({ outcome, commandStatus, pdu })
    return outcome
  }

  /** The last answer blamed the session, but the message is at fault: the answer counts as limited-retry. */
  foundAtFault(pdu: number, commandStatus: number): void {
    this.#refuse({ outcome: 'limited-retry', commandStatus, pdu })
  }

  /** The PDU that `next` returned would be too long: counts as if the carrier had refused it for good. */
  unsendable(pdu: number, commandStatus: number): void {
    this.#refuse({ outcome: 'permanent', commandStatus, pdu })
  }

  /** The first refusal counts, but one for good more than any other. */
  #refuse(refusal: SubmitRefusal): void {
    const isPermanent = this.#refusal?.outcome === 'permanent'
    if (this.#refusal === null || (!isPermanent && refusal.outcome === 'permanent')) this.#refusal = refusal
  }

  get isInFlight(): boolean {
    return this.#inFlight > 0
  }

  /** No PDU is in flight, and no answer has ended the attempt. */
  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#refusal === null && !this.#ambiguous
  }

  /** The carrier has accepted all of it. */
  get isComplete(): boolean {
    return this.acceptedPduBits === this.#all
  }

  /** A PDU turns out to have been accepted earlier: it need not be sent. */
  acceptedEarlier(pdu: number): void {
    this.acceptedPduBits |= 1n << BigInt(pdu)
    const index = this.#pending.indexOf(pdu)
    if (index >= 0) this.#pending.splice(index, 1)
  }

  /** A PDU's answer is no longer awaited. */
  unanswered(): void {
    this.#inFlight -= 1
    this.#ambiguous = true
  }

  /** A PDU got no answer, also if another one was refused for good. */
  get isUnanswered(): boolean {
    return this.#ambiguous
  }

  /** Null while an answer is awaited, or `next` is to be sent. */
  get end(): AttemptEnd | null {
    if (this.#inFlight > 0) return null
    // Also true when an answer came late, after it was given up, while others were awaited.
    if (this.isComplete) return { kind: 'sent' }
    const refusal = this.#refusal
    if (this.#ambiguous && refusal?.outcome !== 'permanent') return { kind: 'ambiguous' }
    return refusal === null ? { kind: 'unfinished' } : { kind: 'refused', refusal }
  }
}

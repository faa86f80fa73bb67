import { fromSubmitStatus } from './error-codes.ts'
import { type SubmitOutcome, submitOutcome } from './submit-outcomes.ts'

/** How the submission of a message ends, once none of its segments is in flight. */
export type SubmissionEnd =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly errorCode: string; readonly commandStatus: number }
  | { readonly kind: 'retry'; readonly limited: boolean; readonly commandStatus: number }
  /** A segment got no answer: the carrier may have it. */
  | { readonly kind: 'ambiguous' }
  /** Segments are to be sent (again) as soon as the carrier takes them; no attempt is consumed. */
  | { readonly kind: 'unfinished' }

/** Which segments of a message are to be sent, in flight and accepted, and what their answers amount to. */
export class SubmissionProgress {
  /** Bit n: the carrier has accepted segment n. */
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
    for (let segment = 0; segment < total; segment += 1)
      if ((accepted & (1n << BigInt(segment))) === 0n) this.#pending.push(segment)
  }

  /** The next segment to send; null while there is none, because all are sent or one has already spoilt the attempt. */
  get next(): number | null {
    if (this.#failure !== null || this.#retry !== null || this.#ambiguous) return null
    return this.#pending[0] ?? null
  }

  /** The segment that `next` returned is in flight. */
  sent(): void {
    this.#pending.shift()
    this.#underWay += 1
  }

  /** An answer came. Returns what kind of answer it was. */
  answered(segment: number, commandStatus: number): SubmitOutcome {
    this.#underWay -= 1
    const { kind } = submitOutcome(commandStatus, this.#outcomes)
    if (kind === 'accepted') this.accepted |= 1n << BigInt(segment)
    else if (kind === 'throttled' || kind === 'rebind') this.#pending.unshift(segment)
    else if (kind === 'permanent') this.#failure ??= { commandStatus }
    else this.#retry ??= { limited: kind === 'limited-retry', commandStatus }
    return kind
  }

  /** The last answer blamed the session but was the message's own fault: it counts as a refusal for now. */
  refusedItself(commandStatus: number): void {
    this.#retry ??= { limited: true, commandStatus }
  }

  /** The segment that `next` returned fits no PDU: counts as if the carrier had refused it for good. */
  unsendable(commandStatus: number): void {
    this.#failure ??= { commandStatus }
  }

  /** No segment is in flight, and no answer has ended the attempt. */
  get isIdle(): boolean {
    return this.#underWay === 0 && this.#failure === null && this.#retry === null && !this.#ambiguous
  }

  /** The carrier has accepted all of it. */
  get isComplete(): boolean {
    return this.accepted === this.#all
  }

  /** A segment turns out to have been accepted earlier: it need not be sent. */
  acceptedEarlier(segment: number): void {
    this.accepted |= 1n << BigInt(segment)
    const index = this.#pending.indexOf(segment)
    if (index >= 0) this.#pending.splice(index, 1)
  }

  /** A segment's answer will not come. */
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
      return { kind: 'failed', errorCode: fromSubmitStatus(commandStatus).errorCode, commandStatus }
    }
    if (this.#ambiguous) return { kind: 'ambiguous' }
    if (this.#retry !== null) return { kind: 'retry', ...this.#retry }
    return { kind: 'unfinished' }
  }
}

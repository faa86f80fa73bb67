import { STATUSES } from '../smpp/statuses.ts'

/**
 * Switches for tests, to be set at any time; all off at first. They hold for every connection.
 *
 *   simulator.faults.holdReceipts = true
 *   simulator.faults.answerNextSubmits(STATUSES.ESME_RSYSERR, 3)
 */
export class Faults {
  /** Every bind is answered with this status. */
  refuseBindsWith: number | null = null
  /** Binds get no answer. */
  ignoreBinds = false
  /**
   * Counts down with each accepted submit; at 0 the connection that brought it is dropped and this is null again. The
   * answer to the last one is lost, perhaps those just before it too: the ESME cannot know whether it was taken.
   */
  dropAfterSubmits: number | null = null
  /** Submits are accepted, their receipts sent, but they get no answer. */
  swallowSubmitResponses = false
  #holdReceipts = false
  #stopReading = false
  #nextStatus: number = STATUSES.ESME_ROK
  #nextCount = 0
  readonly #release: { readonly receipts: () => void; readonly reading: () => void }

  constructor(release: { readonly receipts: () => void; readonly reading: () => void }) {
    this.#release = release
  }

  /** Receipts wait until this is false again. */
  get holdReceipts(): boolean {
    return this.#holdReceipts
  }

  set holdReceipts(held: boolean) {
    this.#holdReceipts = held
    if (!held) this.#release.receipts()
  }

  /**
   * Requests stay unlooked-at until this is false again. The sockets themselves are no longer read, and so enquire_link no
   * longer answered, once `inboundLimit` requests wait.
   */
  get stopReading(): boolean {
    return this.#stopReading
  }

  set stopReading(stopped: boolean) {
    this.#stopReading = stopped
    if (!stopped) this.#release.reading()
  }

  /** The next `count` submits are answered with `status` and not accepted. */
  answerNextSubmits(status: number, count: number): void {
    this.#nextStatus = status
    this.#nextCount = count
  }

  /** For the next submit: the status to refuse it with, or ESME_ROK. */
  takeSubmitStatus(): number {
    if (this.#nextCount === 0) return STATUSES.ESME_ROK
    this.#nextCount -= 1
    return this.#nextStatus
  }

  /** Counts an accepted submit; true when the connection is to be dropped. */
  takeDrop(): boolean {
    if (this.dropAfterSubmits === null) return false
    this.dropAfterSubmits -= 1
    if (this.dropAfterSubmits > 0) return false
    this.dropAfterSubmits = null
    return true
  }

  /** Everything off. */
  clear(): void {
    this.refuseBindsWith = null
    this.ignoreBinds = false
    this.dropAfterSubmits = null
    this.swallowSubmitResponses = false
    this.#nextCount = 0
    this.holdReceipts = false
    this.stopReading = false
  }
}

import { type IncomingReceipt, isIntermediate } from '../../domain/journal/incoming-receipts.ts'
import { Batcher } from '../../operations/batches.ts'
import type { ReceiptMatcher } from '../messages/receipt-matcher.ts'
import type { ReceiptItem, Recorder } from '../messages/recorder.ts'

/** What became of a receipt at another worker. `unknown`: no message there has its id. */
export type HandedReceipt = 'recorded' | 'refused' | 'unknown'

export interface SiblingReceiptsOptions {
  readonly receiptsHere: Pick<ReceiptMatcher, 'match' | 'isKnown'>
  readonly recorder: Pick<Recorder, 'addReceipt'>
  /** Asks the other workers. Resolves with the answers that come in time. Absent: there are no other workers. */
  readonly ask?:
    | ((receipts: readonly IncomingReceipt[]) => Promise<readonly (readonly HandedReceipt[])[]>)
    | undefined
}

/** Receipts that wait to be handed over. With more than this, they go through the tables. */
const MOST_WAITING = 5_000
/** Intermediate ones, so that a flood of them leaves room for final ones. */
const MOST_WITH_INTERMEDIATE = MOST_WAITING / 2
const MAX_BATCH = 500

/**
 * Receipts that come over one worker's bind, for messages that another worker has in progress. The workers of one parent hand
 * them to each other. Through the tables, where they are parked until the message has its record, they cost four times as
 * much. A receipt is answered when its owner has committed it.
 */
export class SiblingReceipts {
  readonly #options: SiblingReceiptsOptions
  readonly #handOvers: Batcher<IncomingReceipt, HandedReceipt>

  constructor(options: SiblingReceiptsOptions) {
    this.#options = options
    this.#handOvers = new Batcher({
      write: (receipts) => this.#ask(receipts),
      maxBatch: MAX_BATCH,
      maxInFlight: 4,
    })
  }

  /**
   * Hands a receipt that came over a bind of this process to the other workers, and records it if they do not know its message.
   * Returns false if it is not handed over.
   */
  handOver(item: ReceiptItem): boolean {
    const { ask, receiptsHere, recorder } = this.#options
    const { receipt, done } = item
    if (ask === undefined || receipt.untranslated || receiptsHere.isKnown(receipt)) return false
    if (this.#handOvers.waiting >= (isIntermediate(receipt) ? MOST_WITH_INTERMEDIATE : MOST_WAITING))
      return false
    void this.#handOvers.add(receipt).then((answer) => {
      if (answer === 'unknown') recorder.addReceipt(item)
      else done?.(answer === 'recorded')
    })
    return true
  }

  /** Takes receipts that another worker received. Resolves when those of messages in progress here are committed. */
  take(receipts: readonly IncomingReceipt[]): Promise<HandedReceipt[]> {
    return Promise.all(receipts.map((receipt) => this.#take(receipt)))
  }

  async #take(receipt: IncomingReceipt): Promise<HandedReceipt> {
    const { receiptsHere, recorder } = this.#options
    // The answer to its submit_sm may have been sent before it, so everything received by now is read first.
    if (!receiptsHere.isKnown(receipt)) await behindPoll()
    const { promise, resolve } = Promise.withResolvers<HandedReceipt>()
    const done = (recorded: boolean) => resolve(recorded ? 'recorded' : 'refused')
    const match = receiptsHere.match(receipt, done)
    if (match === 'unknown') return 'unknown'
    if (match !== 'matched') recorder.addReceipt({ receipt, done })
    return await promise
  }

  /** One worker that has the message is enough, because no two have the same one. */
  async #ask(receipts: readonly IncomingReceipt[]): Promise<readonly HandedReceipt[]> {
    const answers = await this.#options.ask!(receipts)
    return receipts.map(
      (_, index) => answers.map((of) => of[index]).find((answer) => answer !== 'unknown') ?? 'unknown',
    )
  }
}

/** Resolves when the event loop has polled the sockets once more. */
async function behindPoll(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
}

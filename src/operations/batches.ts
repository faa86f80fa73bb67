import { isRowFault } from '../store/database.ts'

interface Waiting<Item, Result> {
  readonly item: Item
  /** By the monotonic clock. */
  readonly sinceMs: number
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** The kinds of batches. */
export const BATCHES = [
  'accept',
  'journal',
  'projection',
  'inbound',
  'facts',
  'receipts',
  'webhook-attempts',
] as const

/** Called for each batch that is written, with its size. */
export type BatchMeter = (batch: (typeof BATCHES)[number], size: number) => void

/** Called for each batch that was written, with the time that it began, by the monotonic clock. */
export type OnWritten = (
  batch: (typeof BATCHES)[number],
  messages: Iterable<{ readonly msgId: string }>,
  sinceMs: number,
) => void

export interface BatcherOptions<Item, Result> {
  /** Writes a batch and returns one result per item, in order. */
  readonly write: (items: readonly Item[]) => Promise<readonly Result[]>
  readonly maxBatch: number
  /** Batches in flight at once. Two keep the database busy while the next one gathers. */
  readonly maxInFlight: number
  /** An item whose batch has not begun by then is rejected. Default: no limit. */
  readonly maxWaitMs?: number | undefined
}

/** The item's batch has not begun in time. */
export class NoTurnError extends Error {
  override readonly name = 'NoTurnError'
}

/**
 * Group commit: items that arrive in one turn of the event loop, or while batches are in flight, are written together. The
 * queue is bounded by the callers, each of which waits for its own item.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>
  #waiting: Waiting<Item, Result>[] = []
  #inFlight = 0
  #scheduled = false
  #expiry: NodeJS.Timeout | null = null

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options
  }

  /** Items waiting to be written. */
  get waiting(): number {
    return this.#waiting.length
  }

  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.#waiting.push({ item, sinceMs: performance.now(), resolve, reject })
    this.#schedule()
    this.#limitWait()
    return promise
  }

  /** Sets a timer for the item that has waited longest. */
  #limitWait(): void {
    const [first] = this.#waiting
    const { maxWaitMs } = this.#options
    if (maxWaitMs === undefined || this.#expiry !== null || first === undefined) return
    this.#expiry = setTimeout(
      () => {
        this.#expiry = null
        const untilMs = performance.now() - maxWaitMs
        const { true: late = [], false: kept = [] } = Object.groupBy(
          this.#waiting,
          ({ sinceMs }) => `${sinceMs <= untilMs}`,
        )
        this.#waiting = kept
        for (const { reject } of late) reject(new NoTurnError(`got no turn within ${maxWaitMs} ms`))
        this.#limitWait()
      },
      Math.max(1, first.sinceMs + maxWaitMs - performance.now()),
    ).unref()
  }

  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= this.#options.maxInFlight || this.#waiting.length === 0) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      void this.#writeNext()
    })
  }

  async #writeNext(): Promise<void> {
    const { maxBatch, write } = this.#options
    const batch = this.#waiting.length <= maxBatch ? this.#waiting : this.#waiting.slice(0, maxBatch)
    this.#waiting = batch === this.#waiting ? [] : this.#waiting.slice(maxBatch)
    if (batch.length === 0) return
    this.#inFlight += 1
    this.#schedule()
    try {
      const results = await write(batch.map((waiting) => waiting.item))
      batch.forEach((waiting, index) => void waiting.resolve(results[index]!))
    } catch (error) {
      for (const waiting of batch) waiting.reject(error)
    } finally {
      this.#inFlight -= 1
      this.#schedule()
    }
  }
}

/**
 * Writes a batch. If the database refuses its content, it is written in halves, so that a single bad row fails alone. Returns
 * for each item, in order, its result or the result of `refused`. A failure that says nothing about the rows (connection
 * lost, no privilege, deadlock) is thrown; some items may be written by then. `isFault`: what counts as a refusal.
 */
export async function writeInHalves<Item, Result>(
  items: readonly Item[],
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
  refused: (item: Item, error: unknown) => Result,
  isFault: (error: unknown) => boolean = isRowFault,
): Promise<readonly Result[]> {
  try {
    return await write(items)
  } catch (error) {
    if (!isFault(error)) throw error
    if (items.length === 1) return [refused(items[0]!, error)]
    const half = items.length >> 1
    const first = await writeInHalves(items.slice(0, half), write, refused, isFault)
    return [...first, ...(await writeInHalves(items.slice(half), write, refused, isFault))]
  }
}

/** Waits until all parts have settled, then throws the first error: no part is in flight when the batch is retried. */
export async function allOver(parts: readonly Promise<void>[]): Promise<void> {
  for (const part of await Promise.allSettled(parts)) if (part.status === 'rejected') throw part.reason
}

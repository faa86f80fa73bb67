import { encodeEntry } from '../../domain/journal/entries.ts'
import type { JournalFact } from '../../domain/journal/message-facts.ts'
import { Batcher } from '../../operations/batches.ts'
import {
  CommitOutcomeUnknownError,
  type Database,
  type Transaction,
  withTransaction,
} from '../../store/database.ts'
import { appendEntry, decideEntry, type Lane } from '../../store/journal.ts'

/** One row of the journal on its way into the lane. */
export interface Entry<Item> {
  /** 0 while the entry has no number. */
  n: number
  items: readonly Item[]
  /** As it was last appended; null: not yet. */
  data: Buffer | null
  /** When its first fact was appended; for an entry in a shared transaction, when it got its number. Monotonic clock. */
  sinceMs: number
  state: 'waiting' | 'appending' | 'written' | 'fenced'
  /** The answer to an append was lost, so the entry may be committed. */
  uncertain: boolean
  /** Null if the entry is appended by itself. */
  readonly transaction: SharedTransaction | null
}

/** A transaction that the entry shares with the statements of its `prepare`. */
interface SharedTransaction {
  /** Resolves to true when all entries before it are committed, to false when the lane is lost. */
  readonly isNext: PromiseWithResolvers<boolean>
  readonly ended: PromiseWithResolvers<Appended>
}

/** `lost`: the lane was taken over, and nothing is stored. `uncertain`: the new owner may have found the entry in it. */
export type Appended = 'committed' | 'lost' | 'uncertain'

/** Runs statements in the transaction of an entry, and returns the entry's facts. Without facts there is no entry. */
export type Prepare<Item> = (tx: Transaction) => Promise<readonly Item[]>

export interface JournalTransactionsOptions<Item extends JournalFact> {
  readonly db: Database
  /** Connections used only for entries. */
  readonly appends: Database
  readonly lane: () => Lane | null
  /** Numbers the entry as soon as there is room in flight, and lets it go on when all entries before it are committed. */
  readonly admit: (entry: Entry<Item>) => void
  /** Appends the entry under its number, with retries. `appendOnce` does it once. Never rejects. */
  readonly append: (
    entry: Entry<Item>,
    lane: Lane,
    appendOnce?: (data: Buffer) => Promise<'written' | 'fenced'>,
  ) => Promise<void>
  /** The state of an entry has changed. */
  readonly onChanged: () => void
  readonly maxWaitMs: number
}

interface Transact<Item> {
  readonly prepare: Prepare<Item>
  readonly lane: Lane | null
}

/** The lane was taken over before the transaction of an entry was committed. */
class LaneLostError extends Error {
  override readonly name = 'LaneLostError'
}

/** Each transaction holds a connection, and locks that other transactions wait for. */
const MOST_TRANSACTIONS = 1

/** Appends entries that share a transaction with other statements (ADR 19). */
export class JournalTransactions<Item extends JournalFact> {
  readonly #options: JournalTransactionsOptions<Item>
  readonly #transactions: Batcher<Transact<Item>, Appended>

  constructor(options: JournalTransactionsOptions<Item>) {
    this.#options = options
    this.#transactions = new Batcher({
      write: async ([transact]) => [await this.#transact(transact!)],
      maxBatch: 1,
      maxInFlight: MOST_TRANSACTIONS,
      maxWaitMs: options.maxWaitMs,
    })
  }

  /** See `JournalWriter.appendWith`. */
  append(prepare: Prepare<Item>): Promise<Appended> {
    return this.#transactions.add({ prepare, lane: this.#options.lane() })
  }

  async #transact({ prepare, lane }: Transact<Item>): Promise<Appended> {
    const { db, lane: current, onChanged } = this.#options
    // A transaction that was meant for an earlier lane must not go into the current one.
    if (lane === null || lane !== current()) return 'lost'
    const transaction: SharedTransaction = { isNext: Promise.withResolvers(), ended: Promise.withResolvers() }
    const given = { n: 0, items: [], data: null, sinceMs: 0, state: 'waiting', uncertain: false } as const
    const entry: Entry<Item> = { ...given, transaction }
    try {
      await withTransaction(db, async (tx) => {
        entry.items = await prepare(tx)
        if (entry.items.length > 0) await this.#appendPrepared(entry, lane, transaction, tx)
      })
      if (entry.n === 0) return 'committed'
      entry.state = 'written'
    } catch (error) {
      if (error instanceof CommitOutcomeUnknownError && entry.n > 0) await this.#findOut(entry, lane, error)
      else if (!(error instanceof LaneLostError)) {
        this.#fillGap(entry, lane)
        throw error
      } else if (entry.n === 0) return 'lost'
      else entry.state = 'fenced'
    }
    if (current() === lane) onChanged()
    return await transaction.ended.promise
  }

  async #appendPrepared(
    entry: Entry<Item>,
    lane: Lane,
    { isNext }: SharedTransaction,
    tx: Transaction,
  ): Promise<void> {
    const data = encodeEntry(entry.items)
    entry.data = data
    if (this.#options.lane() !== lane) throw new LaneLostError()
    this.#options.admit(entry)
    if (!(await isNext.promise)) throw new LaneLostError()
    if ((await appendEntry(tx, lane, entry.n, data)) === 'fenced') throw new LaneLostError()
  }

  /** Asks the database until it says what became of the transaction. Throws `error` if it was not committed. */
  async #findOut(entry: Entry<Item>, lane: Lane, error: unknown): Promise<void> {
    const { append, appends } = this.#options
    entry.uncertain = true
    await append(entry, lane, async (data) => {
      const found = await decideEntry(appends, lane, entry.n, data)
      if (found !== 'void') return found
      entry.items = []
      return 'written'
    })
    if (entry.items.length === 0) throw error
  }

  /**
   * Nothing of the entry is stored. An entry without facts takes its place, because those behind it count only without a gap.
   */
  #fillGap(entry: Entry<Item>, lane: Lane): void {
    entry.items = []
    if (entry.n > 0) void this.#options.append(entry, lane)
  }
}

import { setTimeout as wait } from 'node:timers/promises'
import { encodeEntry, type JournalFact } from '../../domain/journal-entries.ts'
import type { Log } from '../../log.ts'
import { Batcher, type BatchMeter } from '../../operations/batches.ts'
import {
  CommitOutcomeUnknownError,
  type Database,
  isOutcomeUnknown,
  type Transaction,
  withTransaction,
} from '../../store/database.ts'
import { appendEntry, type Lane, MOST_APPENDS, moveLane, openLane, settleEntry } from '../../store/journal.ts'
import { PeriodicTask } from '../node/periodic-task.ts'
import { Gathering } from './gathering.ts'

export interface JournalWriterOptions<Item extends JournalFact> {
  readonly db: Database
  /** Connections for entries alone: transactions with those of `db` wait for these. */
  readonly appends: Database
  /** Told of each entry when it and all before it are committed, in their order. */
  readonly onCommitted: (items: readonly Item[], n: number) => void
  /** Whether somebody waits for the item to be committed. Else it goes with the next one, or `gatherMs` later. */
  readonly isAwaited: (item: Item) => boolean
  /** Whether an item that is certainly not in the journal is given back at once while the database takes nothing. */
  readonly isRetractable: (item: Item) => boolean
  /** These are not in the journal, and will not be. */
  readonly onRetracted: (items: readonly Item[]) => void
  /** The lane was taken over, and these are not in it. `uncertain`: some may be, and its new owner goes on with them. */
  readonly onLost: (items: readonly Item[], uncertain: boolean) => void
  /** Asked when an item goes to the database. False: it is retracted. */
  readonly goes: (item: Item) => boolean
  /** An entry was not appended; it is tried again. */
  readonly onFailed: (error: unknown) => void
  readonly log: Log
  readonly onBatch?: BatchMeter | undefined
  /** Default 4 ms. */
  readonly gatherMs?: number | undefined
  /** Default 10 s. */
  readonly overdueMs?: number | undefined
}

/** Runs statements in the transaction of an entry, and decides on its facts. Where there are none, there is no entry. */
type Prepare<Item> = (tx: Transaction) => Promise<readonly Item[]>

interface Transact<Item> {
  readonly prepare: Prepare<Item>
  readonly lane: Lane | null
}

/** `lost`: the lane was taken over, and nothing is stored. `uncertain`: the new owner may have found the entry in it. */
export type Appended = 'committed' | 'lost' | 'uncertain'

interface Entry<Item> {
  /** 0: it has no number yet. */
  n: number
  items: readonly Item[]
  /** When its first fact was given, or when it got its number, by the monotonic clock. */
  sinceMs: number
  state: 'waiting' | 'appending' | 'written' | 'fenced'
  /** An answer was lost: it may be committed. */
  uncertain: boolean
  /** Null: it has no transaction of its own. */
  readonly transaction: OwnTransaction | null
}

interface OwnTransaction {
  /** Whether all entries before it are committed. False: the lane is lost. */
  readonly isNext: PromiseWithResolvers<boolean>
  readonly ended: PromiseWithResolvers<Appended>
}

/** The lane was taken over before the transaction of an entry was committed. */
class LaneLostError extends Error {
  override readonly name = 'LaneLostError'
}

/** One less than a takeover fences. */
const MOST_IN_FLIGHT = MOST_APPENDS - 1
/** Each holds a connection, and locks that others wait for with theirs. */
const MOST_TRANSACTIONS = 1
/** Facts of one entry: half a megabyte at most, but for very long texts. */
const MOST_FACTS = 1_000
const RETRY_MS = 250
const OVERDUE_MS = 10_000
/** When the oldest fact waits longer, nothing more should be begun. */
const STALLED_MS = 1_000
/** Facts that wait beyond this are no longer taken. */
const MOST_WAITING = 50_000

/**
 * Group commit of facts into this process's lane: one entry for all that comes together, up to three on their way at once.
 * An entry whose answer is lost is appended again under its number until the database says what became of it.
 */
export class JournalWriter<Item extends JournalFact> {
  readonly #options: JournalWriterOptions<Item>
  #lane: Lane | null = null
  /** As which node. */
  #nodeId = 0
  #ended = false
  #last = 0
  #committed = 0
  #waiting: Item[] = []
  #waitingSinceMs = 0
  #isAwaited = false
  #inFlight: Entry<Item>[] = []
  /** They get a number as soon as fewer entries are in flight. */
  #prepared: Entry<Item>[] = []
  readonly #transactions: Batcher<Transact<Item>, Appended>
  readonly #gathering: Gathering
  readonly #watch: PeriodicTask
  #watchedAtMs = performance.now()
  #awakeAtMs = 0
  #failing = false

  constructor(options: JournalWriterOptions<Item>) {
    this.#options = options
    this.#gathering = new Gathering(() => this.#flush(), options.gatherMs)
    this.#transactions = new Batcher({
      write: async ([transact]) => [await this.#transact(transact!)],
      maxBatch: 1,
      maxInFlight: MOST_TRANSACTIONS,
      maxWaitMs: options.overdueMs ?? OVERDUE_MS,
    })
    this.#watch = new PeriodicTask({
      run: async () => this.#findOverdue(),
      intervalMs: RETRY_MS,
      log: options.log,
      failure: 'overdue facts not looked for',
    })
  }

  /** Null while there is none. */
  get lane(): Lane | null {
    return this.#lane
  }

  /** The last entry that is committed with all before it. */
  get committed(): number {
    return this.#committed
  }

  /** Facts that are not committed yet. */
  get pending(): number {
    const entries = [...this.#inFlight, ...this.#prepared]
    return this.#waiting.length + entries.reduce((sum, { items }) => sum + items.length, 0)
  }

  /** The database takes nothing, or too slowly. */
  get isStalled(): boolean {
    if (this.#failing) return true
    const waitingMs = this.#waiting.length > 0 ? this.#waitingSinceMs : Infinity
    const nowMs = performance.now()
    const isAwake = nowMs - this.#watchedAtMs <= STALLED_MS
    return isAwake && nowMs - Math.max(this.#inFlight[0]?.sinceMs ?? waitingMs, this.#awakeAtMs) > STALLED_MS
  }

  /** Whether facts can be given. */
  get isOpen(): boolean {
    return this.#lane !== null && !this.#failing && this.#waiting.length < MOST_WAITING
  }

  /** This process is this node from now on: its lane goes with it, or it begins a new one. Does nothing where it has one. */
  async register(nodeId: number): Promise<void> {
    const { db } = this.#options
    if (this.#ended || (this.#lane !== null && this.#nodeId === nodeId)) return
    const isMoved = this.#lane !== null && (await moveLane(db, this.#lane, nodeId))
    this.#nodeId = nodeId
    if (isMoved) return
    this.lose()
    this.#last = 0
    this.#committed = 0
    const lane = await openLane(db, nodeId)
    // Ended meanwhile: nobody appends to that lane, and it goes with its node.
    if (this.#ended) return
    this.#lane = lane
    this.#watch.start()
  }

  append(item: Item): void {
    if (this.#lane === null) {
      this.#options.onLost([item], false)
      return
    }
    if (this.#waiting.length === 0) this.#waitingSinceMs = performance.now()
    this.#waiting.push(item)
    this.#isAwaited ||= this.#options.isAwaited(item)
    this.#schedule()
  }

  /** Nobody who waits gives more before what was given is committed. */
  hurry(): void {
    if (this.#waiting.length > 0) this.#gathering.hurry()
  }

  /**
   * Appends an entry in one transaction with the statements of `prepare`. It takes its number when `prepare` has resolved,
   * and is appended when all entries before it are committed: its statements stand only where it stands. Resolves when
   * `onCommitted` was told of it, or the lane is lost. Rejects when nothing is stored, with the error of `prepare` or of
   * the database, or because the entries before it are overdue. Its facts are given to `onCommitted` only.
   */
  appendWith(prepare: Prepare<Item>): Promise<Appended> {
    return this.#transactions.add({ prepare, lane: this.#lane })
  }

  async #transact({ prepare, lane }: Transact<Item>): Promise<Appended> {
    // Decided for the lane that there was then: what has been lost with it is nothing to the next.
    if (lane === null || lane !== this.#lane) return 'lost'
    const transaction: OwnTransaction = { isNext: Promise.withResolvers(), ended: Promise.withResolvers() }
    const given = { n: 0, items: [], sinceMs: 0, state: 'waiting', uncertain: false } as const
    const entry: Entry<Item> = { ...given, transaction }
    try {
      await withTransaction(this.#options.db, async (tx) => {
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
    if (this.#lane === lane) this.#settle()
    return await transaction.ended.promise
  }

  async #appendPrepared(
    entry: Entry<Item>,
    lane: Lane,
    { isNext }: OwnTransaction,
    tx: Transaction,
  ): Promise<void> {
    const data = encodeEntry(entry.items)
    if (this.#lane !== lane) throw new LaneLostError()
    this.#prepared.push(entry)
    this.#admit()
    if (!(await isNext.promise)) throw new LaneLostError()
    if ((await appendEntry(tx, lane, entry.n, data)) === 'fenced') throw new LaneLostError()
  }

  /** Numbers what is prepared, as far as there is room in flight. */
  #admit(): void {
    while (this.#prepared.length > 0 && this.#inFlight.length < MOST_IN_FLIGHT) {
      const entry = this.#prepared.shift()!
      this.#last += 1
      entry.n = this.#last
      entry.sinceMs = performance.now()
      this.#inFlight.push(entry)
      this.#options.onBatch?.('journal', entry.items.length)
    }
    const [head] = this.#inFlight
    if (head?.state !== 'waiting') return
    head.state = 'appending'
    head.transaction?.isNext.resolve(true)
  }

  /** Asks until the database says what became of the transaction. Throws `error` where it was not committed. */
  async #findOut(entry: Entry<Item>, lane: Lane, error: unknown): Promise<void> {
    entry.uncertain = true
    await this.#append(entry, lane, async (data) => {
      const found = await settleEntry(this.#options.appends, lane, entry.n, data)
      if (found !== 'void') return found
      entry.items = []
      return 'written'
    })
    if (entry.items.length === 0) throw error
  }

  /** Nothing of it is stored. Those behind it count only when there is an entry in its place. */
  #fillGap(entry: Entry<Item>, lane: Lane): void {
    entry.items = []
    if (entry.n > 0) void this.#append(entry, lane)
  }

  #schedule(): void {
    if (this.#inFlight.length < MOST_IN_FLIGHT && this.#waiting.length > 0)
      this.#gathering.plan(this.#inFlight.length > 0, this.#isAwaited)
  }

  #flush(): void {
    if (this.#lane === null || this.#waiting.length === 0 || this.#inFlight.length >= MOST_IN_FLIGHT) return
    const given = this.#waiting.splice(0, MOST_FACTS)
    const stays = (item: Item) => !this.#options.goes(item)
    const items = given.some(stays) ? this.#retract(given, stays) : given
    if (items.length === 0) return void this.#schedule()
    this.#last += 1
    const begun = { sinceMs: this.#waitingSinceMs, state: 'appending', uncertain: false } as const
    const entry: Entry<Item> = { n: this.#last, items, ...begun, transaction: null }
    this.#isAwaited &&= this.#waiting.length > 0
    this.#gathering.begun(items.length)
    this.#inFlight.push(entry)
    this.#options.onBatch?.('journal', items.length)
    void this.#append(entry, this.#lane)
    this.#schedule()
  }

  /** Never rejects. Tries until the database has answered, or the lane is another's. */
  async #append(
    entry: Entry<Item>,
    lane: Lane,
    attempt = (data: Buffer) => appendEntry(this.#options.appends, lane, entry.n, data),
  ): Promise<void> {
    const { onFailed, log } = this.#options
    let data = encodeEntry(entry.items)
    while (this.#lane === lane) {
      try {
        entry.state = await attempt(data)
        this.#failing = false
        break
      } catch (error) {
        // What is said of a lane that is lost is nothing to the next, which would take no facts for good.
        if (this.#lane !== lane) return
        log.error({ err: error }, 'facts not in the journal yet')
        onFailed(error)
        this.#failing = true
        entry.uncertain ||= isOutcomeUnknown(error)
        if (!entry.uncertain) {
          entry.items = this.#retract(entry.items)
          data = encodeEntry(entry.items)
        }
        this.#waiting = this.#retract(this.#waiting)
        await wait(RETRY_MS)
      }
    }
    if (this.#lane === lane) this.#settle()
  }

  /** Gives back what need not wait for the database; gives the rest. */
  #retract(items: readonly Item[], isRetracted = this.#options.isRetractable): Item[] {
    const { true: retracted = [], false: kept = [] } = Object.groupBy(items, (item) => `${isRetracted(item)}`)
    if (retracted.length > 0) this.#options.onRetracted(retracted)
    return kept
  }

  /** What waits for an entry waits for all before it. */
  #settle(): void {
    for (let head = this.#inFlight[0]; head?.state === 'written'; head = this.#inFlight[0]) {
      this.#inFlight.shift()
      this.#committed = head.n
      this.#options.onCommitted(head.items, head.n)
      head.transaction?.ended.resolve('committed')
    }
    const [head] = this.#inFlight
    // Where the first may have been in the lane, and gone with it since, so may those behind it that are not fenced yet.
    if (head?.state === 'fenced') this.#lose(head.uncertain)
    this.#admit()
    this.#schedule()
  }

  /** The lane is another's, who may have found any of what is in flight in it. */
  lose(): void {
    this.#lose(true)
  }

  #lose(uncertain: boolean): void {
    this.#lane = null
    // The next lane has its own appends to tell.
    this.#failing = false
    this.#endTransactions(uncertain)
    for (const entry of this.#inFlight.splice(0))
      if (entry.transaction === null) this.#options.onLost(entry.items, uncertain)
    this.#options.onLost(this.#waiting.splice(0), false)
  }

  /** Those that wait roll back. */
  #endTransactions(uncertain: boolean): void {
    for (const { state, transaction } of [...this.#inFlight, ...this.#prepared.splice(0)]) {
      transaction?.isNext.resolve(false)
      transaction?.ended.resolve(uncertain && state !== 'waiting' ? 'uncertain' : 'lost')
    }
  }

  /** Once nobody has heard of an entry for long, what has not gone to the database behind it is given up. */
  #findOverdue(): void {
    const nowMs = performance.now()
    // This process stood still: answers may have come that it is about to read.
    if (nowMs - this.#watchedAtMs > STALLED_MS) this.#awakeAtMs = nowMs
    this.#watchedAtMs = nowMs
    const { overdueMs = OVERDUE_MS } = this.#options
    if (!this.#inFlight.some(({ sinceMs }) => nowMs - Math.max(sinceMs, this.#awakeAtMs) >= overdueMs)) return
    for (const { state, transaction } of [...this.#inFlight, ...this.#prepared.splice(0)])
      if (state === 'waiting')
        transaction!.isNext.reject(new Error('a journal entry was not answered in time'))
    this.#waiting = this.#retract(this.#waiting)
  }

  /** The lane is given up: what is not committed by now is tried no more. */
  end(): Lane | null {
    const lane = this.#lane
    this.#ended = true
    void this.#watch.stop()
    this.#lane = null
    this.#endTransactions(true)
    return lane
  }
}

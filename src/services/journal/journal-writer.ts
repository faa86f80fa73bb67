import { setTimeout as wait } from 'node:timers/promises'
import { encodeEntry } from '../../domain/journal/entries.ts'
import type { JournalFact } from '../../domain/journal/message-facts.ts'
import type { BatchMeter } from '../../operations/batches.ts'
import { type Database, isOutcomeUnknown } from '../../store/database.ts'
import { appendEntry, type Lane, MOST_APPENDS, moveLane, openLane } from '../../store/journal.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'
import { Gathering } from './gathering.ts'
import { type Appended, type Entry, JournalTransactions, type Prepare } from './journal-transactions.ts'
import { LaneGaps } from './lane-gaps.ts'

export interface JournalWriterOptions<Item extends JournalFact> extends Pick<NodeParts, 'db' | 'log'> {
  /** Connections used only for entries: a transaction on `db` may itself wait for an entry. */
  readonly appends: Database
  /**
   * Called for each entry in order, once it and all entries before it are committed. `n`: its number in the lane.
   * `sinceMs`: since when it waited.
   */
  readonly onCommitted: (items: readonly Item[], n: number, sinceMs: number) => void
  /** Whether somebody waits for the item to be committed. If not, it goes with the next group, or `gatherMs` later. */
  readonly isAwaited: (item: Item) => boolean
  /** Whether an item that is certainly not in the journal is retracted at once while the database takes nothing. */
  readonly isRetractable: (item: Item) => boolean
  /** These items are not in the journal, and will not be. */
  readonly onRetracted: (items: readonly Item[]) => void
  /** The lane was taken over without these items. `uncertain`: some may be in it after all; the new owner then has them. */
  readonly onLost: (items: readonly Item[], uncertain: boolean) => void
  /** Called just before an item is written. Returns false to have it retracted. */
  readonly mayStore: (item: Item) => boolean
  /** Called when an append has failed. It is retried. */
  readonly onFailed: (error: unknown) => void
  readonly onBatch?: BatchMeter | undefined
  /** Default 4 ms. */
  readonly gatherMs?: number | undefined
  /** Default 10 s. */
  readonly overdueMs?: number | undefined
}

/** Entries whose append is in flight: fewer than a takeover fences, so that this writer cannot get past the fence. */
const MOST_IN_FLIGHT = MOST_APPENDS - 1
/** Facts per entry. At most half a megabyte, except with very long texts. */
const MOST_FACTS = 1_000
const RETRY_MS = 250
const OVERDUE_MS = 10_000
/** When the oldest fact has waited longer than this, nothing more should be begun. */
const STALLED_MS = 1_000
/** No new messages are accepted while this many facts wait. Facts of earlier messages are appended all the same. */
const MOST_WAITING = 50_000

/**
 * Group commit of facts into this process's lane: one entry for all facts that arrive together, at most three entries in
 * flight. An entry whose answer is lost is appended again under its number until the database says what became of it.
 */
export class JournalWriter<Item extends JournalFact> {
  readonly #options: JournalWriterOptions<Item>
  #lane: Lane | null = null
  /** The node that the lane belongs to. */
  #nodeId = 0
  #ended = false
  #last = 0
  #committed = 0
  #waiting: Item[] = []
  #waitingSinceMs = 0
  #isAwaited = false
  #inFlight: Entry<Item>[] = []
  /** Entries in shared transactions that get a number as soon as fewer than `MOST_IN_FLIGHT` are in flight. */
  #prepared: Entry<Item>[] = []
  readonly #transactions: JournalTransactions<Item>
  readonly #gaps: LaneGaps
  #isFilling = false
  readonly #gathering: Gathering
  readonly #watch: PeriodicTask
  #watchedAtMs = performance.now()
  #awakeAtMs = 0
  #failing = false

  constructor(options: JournalWriterOptions<Item>) {
    this.#options = options
    this.#gaps = new LaneGaps(options.db, options.appends)
    this.#gathering = new Gathering(() => this.#flush(), options.gatherMs)
    this.#transactions = new JournalTransactions({
      db: options.db,
      appends: options.appends,
      lane: () => this.#lane,
      admit: (entry) => {
        this.#prepared.push(entry)
        this.#admit()
      },
      append: (entry, lane, appendOnce) => this.#append(entry, lane, appendOnce),
      onChanged: () => this.#reportWritten(),
      maxWaitMs: options.overdueMs ?? OVERDUE_MS,
    })
    this.#watch = new PeriodicTask(options.log, 'overdue facts not looked for', RETRY_MS, async () =>
      this.#findOverdue(),
    )
  }

  /** Null while there is no lane. */
  get lane(): Lane | null {
    return this.#lane
  }

  /** The last entry that is committed together with all entries before it. */
  get committed(): number {
    return this.#committed
  }

  /** Facts that are not committed yet. */
  get pending(): number {
    const entries = [...this.#inFlight, ...this.#prepared]
    return this.#waiting.length + entries.reduce((sum, { items }) => sum + items.length, 0)
  }

  /** The database has refused the last append, or not answered it. */
  get isFailing(): boolean {
    return this.#failing
  }

  /** The same, or an answer takes too long. */
  get isStalled(): boolean {
    if (this.#failing) return true
    const sinceMs = this.#inFlight[0]?.sinceMs ?? (this.#waiting.length > 0 ? this.#waitingSinceMs : Infinity)
    const nowMs = performance.now()
    const isAwake = nowMs - this.#watchedAtMs <= STALLED_MS
    return isAwake && nowMs - Math.max(sinceMs, this.#awakeAtMs) > STALLED_MS
  }

  /** Whether new messages can be accepted. */
  get isOpen(): boolean {
    return this.#lane !== null && !this.#failing && this.#waiting.length < MOST_WAITING
  }

  /** Makes this process that node. It keeps its lane, or opens a new one. Does nothing if it already is that node. */
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
    this.#gaps.laneOpened()
    // The writer ended meanwhile. Nobody appends to the new lane, and it is removed with its node.
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

  /** Starts the next group at once, because no more facts arrive until those appended so far are committed. */
  hurry(): void {
    if (this.#waiting.length > 0) this.#gathering.hurry()
  }

  /**
   * Appends an entry in one transaction with the statements of `prepare`. The entry gets its number when `prepare` has
   * resolved, and is appended when all entries before it are committed, so its statements are stored only if it is. Resolves
   * after `onCommitted`, or when the lane is lost. Rejects when nothing is stored: with the error of `prepare` or of the
   * database, or because the entries before it are overdue. Its facts are passed to `onCommitted` only.
   */
  appendWith(prepare: Prepare<Item>): Promise<Appended> {
    return this.#transactions.append(prepare)
  }

  /** Numbers the prepared entries while there is room in flight. */
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

  #schedule(): void {
    if (this.#inFlight.length < MOST_IN_FLIGHT && this.#waiting.length > 0)
      this.#gathering.plan(this.#inFlight.length > 0, this.#isAwaited)
  }

  #flush(): void {
    if (this.#lane === null || this.#waiting.length === 0 || this.#inFlight.length >= MOST_IN_FLIGHT) return
    const isTooLate = (item: Item) => !this.#options.mayStore(item)
    const items = this.#retract(this.#waiting.splice(0, MOST_FACTS), isTooLate)
    if (items.length === 0) return void this.#schedule()
    this.#last += 1
    const begun = { sinceMs: this.#waitingSinceMs, state: 'appending', uncertain: false } as const
    const entry: Entry<Item> = { n: this.#last, items, data: null, ...begun, transaction: null }
    this.#isAwaited &&= this.#waiting.length > 0
    this.#gathering.groupBegun(items.length)
    this.#inFlight.push(entry)
    this.#options.onBatch?.('journal', items.length)
    void this.#append(entry, this.#lane)
    this.#schedule()
  }

  /** Never rejects. Retries until the database has answered, or another process has the lane. */
  async #append(
    entry: Entry<Item>,
    lane: Lane,
    appendOnce = (data: Buffer) => appendEntry(this.#options.appends, lane, entry.n, data),
  ): Promise<void> {
    const { onFailed, log } = this.#options
    entry.data = encodeEntry(entry.items)
    while (this.#lane === lane) {
      try {
        entry.state = await appendOnce(entry.data)
        this.#failing = false
        break
      } catch (error) {
        // An error of a lost lane says nothing about the next lane, which would stay closed for good.
        if (this.#lane !== lane) return
        log.error({ err: error }, 'facts not in the journal yet')
        onFailed(error)
        this.#failing = true
        entry.uncertain ||= isOutcomeUnknown(error)
        if (!entry.uncertain) {
          entry.items = this.#retract(entry.items)
          entry.data = encodeEntry(entry.items)
        }
        this.#waiting = this.#retract(this.#waiting)
        await wait(RETRY_MS)
      }
    }
    if (this.#lane === lane) this.#reportWritten()
  }

  /** Retracts the items that need not wait for the database. Returns the rest. */
  #retract(items: readonly Item[], isRetracted = this.#options.isRetractable): Item[] {
    const retracted: Item[] = []
    const kept: Item[] = []
    for (const item of items) (isRetracted(item) ? retracted : kept).push(item)
    if (retracted.length > 0) this.#options.onRetracted(retracted)
    return kept
  }

  /** Reports entries in order: one that is written waits for all before it. */
  #reportWritten(): void {
    if (this.#gaps.areSuspected && this.#inFlight[0]?.state === 'written') return void this.#fillGaps()
    for (let head = this.#inFlight[0]; head?.state === 'written'; head = this.#inFlight[0]) {
      this.#inFlight.shift()
      this.#committed = head.n
      this.#gaps.keep(head)
      this.#options.onCommitted(head.items, head.n, head.sinceMs)
      head.transaction?.ended.resolve('committed')
    }
    const [head] = this.#inFlight
    // If the first may have been in the lane when it was taken over, so may those behind it that are not fenced yet.
    if (head?.state === 'fenced') this.lose(head.uncertain)
    this.#admit()
    this.#schedule()
  }

  /** Never rejects. Retries until every entry is found, or another process has the lane. Then reports what is written. */
  async #fillGaps(): Promise<void> {
    const { appends, log, onFailed } = this.#options
    const lane = this.#lane
    if (lane === null || this.#isFilling) return
    this.#isFilling = true
    while (this.#lane === lane && this.#gaps.areSuspected) {
      const answered = this.#inFlight.filter(({ state }) => state === 'written')
      try {
        const filled = await this.#gaps.fill(appends, lane, this.#committed, answered)
        if (this.#lane !== lane) break
        this.#failing = false
        if (filled === null) this.lose()
        else if (filled > 0)
          log.warn(
            { entries: filled },
            'the database had lost journal entries, as after a failover: written again',
          )
      } catch (error) {
        if (this.#lane !== lane) break
        log.error({ err: error }, 'journal not searched for gaps yet')
        onFailed(error)
        this.#failing = true
        await wait(RETRY_MS)
      }
    }
    this.#isFilling = false
    if (this.#lane !== null) this.#reportWritten()
  }

  /** Another process has the lane. `uncertain`: it may have found any entry in flight in it. */
  lose(uncertain = true): void {
    this.#lane = null
    // The next lane reports its own failures.
    this.#failing = false
    this.#endTransactions(uncertain)
    for (const entry of this.#inFlight.splice(0))
      if (entry.transaction === null) this.#options.onLost(entry.items, uncertain)
    this.#options.onLost(this.#waiting.splice(0), false)
  }

  /** Transactions that still wait for their turn roll back. */
  #endTransactions(uncertain: boolean): void {
    for (const { state, transaction } of [...this.#inFlight, ...this.#prepared.splice(0)]) {
      transaction?.isNext.resolve(false)
      transaction?.ended.resolve(uncertain && state !== 'waiting' ? 'uncertain' : 'lost')
    }
  }

  /** When an entry has had no answer for too long, whatever waits behind it and has not gone to the database is given up. */
  #findOverdue(): void {
    const nowMs = performance.now()
    // This process stood still, and may be about to read answers that arrived meanwhile.
    if (nowMs - this.#watchedAtMs > STALLED_MS) this.#awakeAtMs = nowMs
    this.#watchedAtMs = nowMs
    const { overdueMs = OVERDUE_MS } = this.#options
    if (!this.#inFlight.some(({ sinceMs }) => nowMs - Math.max(sinceMs, this.#awakeAtMs) >= overdueMs)) return
    for (const { state, transaction } of [...this.#inFlight, ...this.#prepared.splice(0)])
      if (state === 'waiting')
        transaction!.isNext.reject(new Error('a journal entry was not answered in time'))
    this.#waiting = this.#retract(this.#waiting)
  }

  /** Gives up the lane. Entries not committed by now are not retried. */
  end(): Lane | null {
    const lane = this.#lane
    this.#ended = true
    void this.#watch.stop()
    this.#gaps.end()
    this.#lane = null
    this.#endTransactions(true)
    return lane
  }
}

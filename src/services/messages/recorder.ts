import { setTimeout as wait } from 'node:timers/promises'
import type { Directory } from '../../domain/directory.ts'
import type { WriteEvents } from '../../domain/events.ts'
import type { LaterFact } from '../../domain/journal-entries.ts'
import { highestIdAt } from '../../domain/message-ids.ts'
import type { ChangedMessage } from '../../domain/messages-in-progress.ts'
import type { Log } from '../../log.ts'
import { type BatchMeter, writeInHalves } from '../../operations/batches.ts'
import { type FactAtRest as Fact, recordFacts } from '../../operations/record-facts.ts'
import { noteReceipts, recordReceipts } from '../../operations/record-receipts.ts'
import { type Database, isConflict, ping } from '../../store/database.ts'
import type { MessageKey } from '../../store/messages-at-rest.ts'
import { findParkedReceipts, type ParkedId } from '../../store/parked-receipts.ts'
import type { NotedReceipt, ReceiptRow, SubmissionId } from '../../store/receipts.ts'
import type { IdRules } from './id-rules.ts'
import type { MessagesInProgress } from './messages-in-progress.ts'
import { oneForEachId, type ReceiptItem } from './receipt-items.ts'
import { type Outcome, submissionId } from './recorded-facts.ts'

export interface RecorderOptions {
  readonly db: Database
  readonly directory: () => Directory
  /** What is in memory without a record takes facts itself. */
  readonly inProgress: MessagesInProgress
  readonly idRules: Pick<IdRules, 'read' | 'parkedUnder'>
  /** Of the database, Unix milliseconds. */
  readonly nowMs: () => number
  readonly writeEvents: WriteEvents
  readonly onChanged: (messages: readonly ChangedMessage[]) => void
  readonly onBatch?: BatchMeter
  readonly log: Log
}

interface FactAtRest extends Fact {
  /** Its message has been in progress elsewhere since then, by the monotonic clock. */
  readonly sinceMs?: number
}

const MAX_BATCH = 500
/** Receipts waiting beyond this are refused at once, so that the carrier keeps them (ESME_RX_T_APPN). */
const MAX_RECEIPTS = 20_000
/** Receipts that change nothing and wait to be kept; beyond this they are forgotten, for they hold nothing up. */
const MAX_NOTES = 1_000
const RETRY_MS = 500
const DRAIN_POLL_MS = 10
/** So long an answer waits for a message that another process has in progress. */
const MOST_WAIT_MS = 60_000
const WAIT_MS = 100
/** How far the clock of another node may be ahead. */
const CLOCK_SKEW_MS = 60_000

/**
 * Writes down what the carriers say. A plain message in memory takes it as facts. All others have their records first; then
 * submissions are written, then receipts, in batches and one after the other. So a receipt that arrived after its
 * submit_sm_resp always finds its submission; one that came before it is parked and found again when the submission is
 * written.
 */
export class Recorder {
  readonly #options: RecorderOptions
  /** What carriers have answered, in its order. */
  #facts: FactAtRest[] = []
  /** Recorded, and not yet looked for among the parked receipts. */
  #unparked: SubmissionId[] = []
  #receipts: ReceiptItem[] = []
  #notes: NotedReceipt[] = []
  /** Messages in memory whose records are needed before anything is written of them. */
  #departing = new Set<string>()
  #running: Promise<void> | null = null
  #failing = false
  #ended = false

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Everything that is not yet in the tables. Facts on their way into the journal are not counted. */
  get backlog(): number {
    return this.#facts.length + this.#receipts.length + this.#notes.length
  }

  /** True while the database does not take what is recorded: nothing new should be sent then. */
  get failing(): boolean {
    return this.#failing || this.#options.inProgress.failing
  }

  record(outcome: Outcome): void {
    const { inProgress } = this.#options
    if (inProgress.record(outcome)) return
    for (const fact of outcome.facts) {
      if (fact.kind === 'submitted')
        for (const msgId of inProgress.receipts.namesakes(submissionId(fact))) this.#departing.add(msgId)
      this.#add(outcome, fact)
    }
  }

  /** These have their rows: receipts that were quicker are looked for. */
  recorded(submissions: readonly SubmissionId[]): void {
    this.#unparked.push(...submissions)
    this.#wake()
  }

  /** A receipt was parked: where its message is in progress here, it is recorded, so that they meet. */
  parked({ msg_id, ...id }: ParkedId): void {
    if (msg_id === null) this.#options.inProgress.receipts.parked(id)
    else if (this.#options.inProgress.receipts.waitsFor(msg_id, id)) return
    else if (this.#options.inProgress.has(msg_id)) {
      this.#unparked.push(id)
      this.#writeOf(msg_id)
    }
  }

  receipt(item: ReceiptItem): void {
    const departing = this.#options.inProgress.receipts.receipt(item.row, item.done)
    if (departing === 'taken') return
    for (const msgId of departing) this.#departing.add(msgId)
    if (this.#receipts.length >= MAX_RECEIPTS) {
      item.done?.(false)
      return
    }
    this.#receipts.push(item)
    this.#wake()
  }

  /** Keeps a receipt that changes nothing, for the story of its message. */
  note(row: NotedReceipt): void {
    const departing = this.#options.inProgress.receipts.note(row)
    if (departing === 'taken') return
    for (const msgId of departing) this.#departing.add(msgId)
    if (this.#notes.length >= MAX_NOTES) return
    this.#notes.push(row)
    this.#wake()
  }

  /** Applies receipts out of parked_receipts; resolves when that is recorded, or given up for now. */
  async applyParked(rows: readonly ReceiptRow[]): Promise<void> {
    await Promise.all(rows.map((row) => new Promise((done) => this.receipt({ row, done }))))
  }

  /** Resolves when all that was given so far is written or, after `timeoutMs`, given up for good. */
  async drain(timeoutMs: number): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs
    const isBusy = () =>
      this.backlog > 0 || this.#options.inProgress.pending > 0 || (this.#running !== null && !this.#failing)
    while (isBusy()) {
      const leftMs = deadlineMs - performance.now()
      if (leftMs <= 0) break
      const waitMs = this.#running === null ? Math.min(leftMs, DRAIN_POLL_MS) : leftMs
      const waited = wait(waitMs, undefined, { ref: false })
      await Promise.race([this.#running ?? waited, waited])
    }
    this.#ended = true
  }

  #add({ planId, msgId }: MessageKey, fact: LaterFact): void {
    this.#facts.push({ planId, msgId, fact })
    this.#writeOf(msgId)
  }

  /** Something is to be written of a message, whose record has to be there first. */
  #writeOf(msgId: string): void {
    if (this.#options.inProgress.has(msgId)) this.#departing.add(msgId)
    this.#wake()
  }

  #wake(): void {
    if (this.#running !== null || this.#ended) return
    this.#running = new Promise((resolve) => {
      setImmediate(async () => {
        await this.#run()
        this.#running = null
        resolve()
        if (this.backlog > 0 || this.#unparked.length > 0 || this.#failing) this.#wake()
      })
    })
  }

  async #run(): Promise<void> {
    try {
      // While it fails nothing new comes in that would show whether the database is back.
      if (this.#failing && this.backlog === 0) await ping(this.#options.db)
      await this.#recordFacts()
      await this.#recordReceipts()
      await this.#recordNotes()
      this.#failing = false
      if (this.#facts.some(({ sinceMs }) => sinceMs !== undefined)) await wait(WAIT_MS)
    } catch (error) {
      if (isConflict(error)) return
      this.#failing = true
      this.#options.log.error({ err: error }, 'carrier outcomes not recorded yet')
      // The carriers keep what is not acknowledged; parked ones are in the database anyhow.
      for (const item of this.#receipts.splice(0)) item.done?.(false)
      await wait(RETRY_MS)
    }
  }

  /** What is taken to be written directly after this is of messages that have their records. */
  async #depart(): Promise<void> {
    while (this.#departing.size > 0) {
      const departing = [...this.#departing]
      await this.#options.inProgress.project(departing)
      for (const msgId of departing) this.#departing.delete(msgId)
    }
  }

  /** Every answer that is there, before any receipt: SENT is announced first, however long the queue. */
  async #recordFacts(): Promise<void> {
    await this.#depart()
    for (let left = this.#facts.length; left > 0; ) {
      const facts = this.#nextFacts()
      left -= facts.length
      const written = await writeInHalves(
        facts,
        (part) => this.#addFacts(part),
        (_fact, error) => {
          this.#options.log.error({ err: error }, 'submission refused by the database')
          return false
        },
      )
      const done = new Set(facts)
      this.#facts = this.#facts.filter((fact) => !done.has(fact))
      for (const [index, { fact }] of facts.entries())
        if (written[index] && fact.kind === 'submitted') this.#unparked.push(submissionId(fact))
    }
    if (this.#unparked.length === 0) return
    const parked = await findParkedReceipts(
      this.#options.db,
      this.#unparked.flatMap((id) => this.#options.idRules.parkedUnder(id)),
    )
    this.#unparked = []
    this.#receipts = [...parked.map((row) => ({ row, done: null })), ...this.#receipts]
  }

  /** All that there is of some messages: what is known of one is seen at once, for another node may have its receipt. */
  #nextFacts(): FactAtRest[] {
    const msgIds = new Set(this.#facts.slice(0, MAX_BATCH).map(({ msgId }) => msgId))
    return this.#facts.filter(({ msgId }) => msgIds.has(msgId))
  }

  /** Gives for each whether it is written. What is of a message in progress goes to the end, and waits for its record. */
  async #addFacts(facts: readonly FactAtRest[]): Promise<readonly boolean[]> {
    const { db, directory, writeEvents, onBatch, onChanged, log } = this.#options
    onBatch?.('submissions', facts.length)
    const { changed, elsewhere } = await writeEvents((events) =>
      recordFacts(db, facts, { directory: directory(), events }),
    )
    onChanged(changed)
    if (elsewhere.size === 0) return facts.map(() => true)
    const nowMs = performance.now()
    for (const one of facts) {
      if (!elsewhere.has(one.msgId)) continue
      // Its message is back in the memory of this process. The record gets the fact if the lane is lost before it is committed.
      const onCommitted = (isCommitted: boolean) => {
        if (!isCommitted) this.#add(one, one.fact)
      }
      if (this.#options.inProgress.tell(one.msgId, [one.fact], { onCommitted })) continue
      const { sinceMs = nowMs } = one
      if (nowMs - sinceMs > MOST_WAIT_MS)
        log.error({ err: new Error('another process has held its message too long') }, 'answer not recorded')
      else this.#facts.push({ ...one, sinceMs })
      if (this.#options.inProgress.has(one.msgId)) this.#departing.add(one.msgId)
    }
    return facts.map(({ msgId }) => !elsewhere.has(msgId))
  }

  async #recordReceipts(): Promise<void> {
    await this.#depart()
    if (this.#receipts.length === 0) return
    const items = this.#receipts.slice(0, MAX_BATCH)
    const { first, repeated, dropped } = oneForEachId(items)
    const recorded = await writeInHalves<ReceiptItem, ReceiptItem | null>(
      first,
      (part) => this.#applyReceipts(part),
      (_item, error) => {
        this.#options.log.error({ err: error }, 'receipt refused by the database')
        return null
      },
    )
    this.#receipts = this.#receipts.slice(items.length)
    const waiting = recorded.filter((item) => item !== null)
    // Later receipts of an id follow in a batch of their own when the first was not final.
    this.#receipts.unshift(...waiting, ...repeated)
    for (const { row } of dropped) this.note(row)
    for (const [index, item] of first.entries()) if (recorded[index] === null) item.done?.(true)
    for (const item of dropped) item.done?.(true)
  }

  /** Gives for each null, or what is to be tried again, when its message is on record. */
  async #applyReceipts(items: readonly ReceiptItem[]): Promise<readonly (ReceiptItem | null)[]> {
    const { db, directory, writeEvents, idRules, inProgress, nowMs, onBatch, onChanged } = this.#options
    onBatch?.('receipts', items.length)
    const rows = await idRules.read(items.map(({ row }) => row))
    const about = {
      directory: directory(),
      atMs: nowMs(),
      newestMsgId: highestIdAt(nowMs() + CLOCK_SKEW_MS),
      isHere: (msgId: string, place: number) =>
        items[place]!.hasWaited === undefined &&
        !inProgress.receipts.waitsFor(msgId, rows[place]!) &&
        inProgress.has(msgId),
    }
    const { changed, here } = await writeEvents((events) => recordReceipts(db, rows, { ...about, events }))
    onChanged(changed)
    for (const msgId of here.values()) this.#departing.add(msgId)
    return items.map(({ done }, place) =>
      here.has(place) ? { row: rows[place]!, done, hasWaited: true } : null,
    )
  }

  async #recordNotes(): Promise<void> {
    await this.#depart()
    if (this.#notes.length === 0) return
    const batch = this.#notes.slice()
    const write = async (rows: readonly NotedReceipt[]) => {
      const { db, directory, nowMs } = this.#options
      const newestMsgId = highestIdAt(nowMs() + CLOCK_SKEW_MS)
      const events = { holder: null, buckets: [] }
      await noteReceipts(db, rows, { directory: directory(), events, newestMsgId })
      return rows
    }
    await writeInHalves(batch, write, (row, error) => {
      this.#options.log.error({ err: error }, 'receipt not kept')
      return row
    })
    this.#notes = this.#notes.slice(batch.length)
  }
}

import { setTimeout as wait } from 'node:timers/promises'
import type { WriteEvents } from '../../domain/events.ts'
import { highestIdAt } from '../../domain/identifiers.ts'
import { CLOCK_SKEW_MS } from '../../domain/instants.ts'
import { type IncomingReceipt, isIntermediate } from '../../domain/journal/incoming-receipts.ts'
import type { LaterFact } from '../../domain/journal/message-facts.ts'
import { allOver, type BatchMeter, writeInHalves } from '../../operations/batches.ts'
import { type FactAtRest, recordFacts } from '../../operations/record-facts.ts'
import { plansOfReceipts, recordReceipts } from '../../operations/record-receipts.ts'
import { isAway, isSharded, ServerAwayError } from '../../store/citus.ts'
import { isConflict, ping } from '../../store/database.ts'
import type { MessageKey } from '../../store/messages-at-rest.ts'
import { findParkedReceipts, type ParkedId } from '../../store/parked-receipts.ts'
import type { SubmissionId } from '../../store/receipt-matches.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import type { IdRules } from './id-rules.ts'
import { type MessagesListeners, type OutcomeFacts, submissionId } from './journal-items.ts'
import type { MessagesInProgress } from './messages-in-progress.ts'

export interface RecorderOptions extends NodeParts {
  /** Takes the facts of messages that are in memory without a record. */
  readonly inProgress: MessagesInProgress
  readonly idRules: Pick<IdRules, 'translate' | 'parkedUnder'>
  readonly writeEvents: WriteEvents
  readonly onChanged: MessagesListeners['onChanged']
  readonly onState?: MessagesListeners['onState']
  readonly onBatch?: BatchMeter
}

/** A receipt, and what to do when it is recorded (true) or cannot be (false): send its deliver_sm_resp. */
export interface ReceiptItem {
  readonly receipt: IncomingReceipt
  readonly done: ((committed: boolean) => void) | null
  /** Its message was in progress here, and the receipt has waited for its record. */
  readonly hasWaited?: true
}

interface TranslatedReceipt {
  readonly item: ReceiptItem
  /** With the id as submissions have it, as far as the carrier's rule is known. */
  readonly receipt: IncomingReceipt
}

interface WaitingFact extends FactAtRest {
  /** Since when its message has been in progress in another process, by the monotonic clock. */
  readonly sinceMs?: number
}

const MAX_BATCH = 500
/** When this many receipts wait, more are refused at once, so that the carrier keeps them (ESME_RX_T_APPN). */
const MAX_RECEIPTS = 20_000
/** Those that change nothing are dropped from here on, so that a flood of them leaves room for others. */
const MAX_WITH_INTERMEDIATE = MAX_RECEIPTS / 2
const RETRY_MS = 500
const DRAIN_POLL_MS = 10
/** How long an answer waits for a message that another process has in progress. */
const MOST_WAIT_MS = 60_000
const WAIT_MS = 100

/**
 * Hands what the carriers answer and report to their messages. A plain message in memory takes it as facts, and `Projector`
 * writes its record. The records of all other messages are written first; then submissions, then receipts, in batches one after
 * the other. So a receipt that arrived after its submit_sm_resp always finds its submission. One that came earlier is parked, and
 * found again when the submission is written.
 */
export class Recorder {
  readonly #options: RecorderOptions
  /** Answers of carriers, in the order they came. */
  #facts: WaitingFact[] = []
  /** Recorded submissions whose parked receipts have not been looked up yet. */
  #toLookUp: SubmissionId[] = []
  #receipts: ReceiptItem[] = []
  /** Messages in memory whose records must be written before anything else is written about them. */
  #toProject = new Set<string>()
  #running: Promise<void> | null = null
  #failing = false
  #ended = false

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** How much is not in the tables yet, without facts on their way into the journal. */
  get backlog(): number {
    return this.#facts.length + this.#receipts.length
  }

  /** True while the database takes no answers and receipts. */
  get failing(): boolean {
    return this.#failing || this.#options.inProgress.failing
  }

  /** True also while it is slow to take them: nothing new should be sent then. */
  get isStalled(): boolean {
    return this.#failing || this.#options.inProgress.isStalled
  }

  addOutcome(outcome: OutcomeFacts): void {
    const { inProgress } = this.#options
    if (inProgress.addOutcome(outcome)) return
    for (const fact of outcome.facts) {
      if (fact.kind === 'submitted')
        for (const msgId of inProgress.receipts.urgeNamesakes(submissionId(fact))) this.#toProject.add(msgId)
      this.#add(outcome, fact)
    }
  }

  /** The rows of these submissions are written. Looks up receipts that came before them. */
  lookUpParked(submissions: readonly SubmissionId[]): void {
    this.#toLookUp.push(...submissions)
    this.#wake()
  }

  /** A receipt was parked. If its message is in progress here, the two are matched once it is submitted and has its record. */
  receiptParked({ msgId, ...id }: ParkedId): void {
    if (msgId === null) this.#options.inProgress.receipts.receiptParked(id)
    else if (this.#options.inProgress.receipts.lookUpOnceLeft(msgId, id)) return
    else if (this.#options.inProgress.has(msgId)) {
      this.#toLookUp.push(id)
      this.#writeOf(msgId)
    }
  }

  addReceipt(item: ReceiptItem): void {
    const match = this.#options.inProgress.receipts.match(item.receipt, item.done)
    if (match === 'matched') return
    if (match !== 'unknown') for (const msgId of match.unrecorded) this.#toProject.add(msgId)
    if (this.#receipts.length >= (isIntermediate(item.receipt) ? MAX_WITH_INTERMEDIATE : MAX_RECEIPTS)) {
      item.done?.(false)
      return
    }
    this.#receipts.push(item)
    this.#wake()
  }

  /** Applies receipts from parked_receipts. Resolves when they are recorded, or given up for now. */
  async applyParked(receipts: readonly IncomingReceipt[]): Promise<void> {
    await Promise.all(receipts.map((receipt) => new Promise((done) => this.addReceipt({ receipt, done }))))
  }

  /** Resolves when everything so far is written or, after `timeoutMs`, given up for good. */
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

  /** Something is to be written about a message, whose record must be there first. */
  #writeOf(msgId: string): void {
    if (this.#options.inProgress.has(msgId)) this.#toProject.add(msgId)
    this.#wake()
  }

  #wake(): void {
    if (this.#running !== null || this.#ended) return
    this.#running = new Promise((resolve) => {
      setImmediate(async () => {
        await this.#run()
        this.#running = null
        resolve()
        if (this.backlog > 0 || this.#toLookUp.length > 0 || this.#failing) this.#wake()
      })
    })
  }

  async #run(): Promise<void> {
    try {
      // Without a backlog nothing else would show whether the database is back.
      if (this.#failing && this.backlog === 0) await ping(this.#options.db)
      await this.#recordFacts()
      await this.#recordReceipts()
      this.#failing = false
      if (
        this.#options.inProgress.away.knowsOfAny ||
        this.#facts.some(({ sinceMs }) => sinceMs !== undefined)
      )
        await wait(WAIT_MS)
    } catch (error) {
      // If a server of several is away, only what is for it waits from now on.
      const isOfAway = error instanceof ServerAwayError
      if (isOfAway) await wait(WAIT_MS)
      if (isOfAway || isConflict(error) || (await this.#options.inProgress.away.probeFindsNew())) return
      this.#failing = true
      this.#options.log.error({ err: error }, 'carrier outcomes not recorded yet')
      // The carriers keep unacknowledged receipts, parked ones are in the database anyway, and nothing depends on others.
      for (const item of this.#receipts.splice(0)) item.done?.(false)
      await wait(RETRY_MS)
    }
  }

  /**
   * Whatever is written directly after this belongs to messages that have their records, or whose server is away. What is for
   * the latter is not written; they stay in `#toProject`.
   */
  async #project(): Promise<void> {
    const isHere = (msgId: string) => !this.#isAway(this.#options.inProgress.get(msgId)?.accepted.planId)
    for (let msgIds = [...this.#toProject]; msgIds.length > 0; ) {
      await this.#options.inProgress.project(msgIds).catch((error) => {
        if (!(error instanceof ServerAwayError)) throw error
      })
      for (const msgId of msgIds) if (isHere(msgId)) this.#toProject.delete(msgId)
      msgIds = [...this.#toProject].filter(isHere)
    }
  }

  #isAway(planId: number | undefined): boolean {
    return planId !== undefined && isAway(this.#options.db, planId)
  }

  /** Records every answer before any receipt, so that SENT is announced first, however long the queue. */
  async #recordFacts(): Promise<void> {
    await this.#project()
    for (let left = this.#facts.length; left > 0; ) {
      const facts = this.#nextFacts()
      if (facts.length === 0) break
      left -= facts.length
      const parts = await this.#options.inProgress.away.byServer(facts, ({ planId }) => planId)
      await allOver(parts.map((part) => this.#writeFacts(part)))
    }
    if (this.#toLookUp.length === 0) return
    const { db, idRules } = this.#options
    // More ids may be added during the look-up.
    const ids = this.#toLookUp.splice(0)
    try {
      const parked = await findParkedReceipts(
        db,
        ids.flatMap((id) => idRules.parkedUnder(id)),
      )
      this.#receipts = [...parked.map((receipt) => ({ receipt, done: null })), ...this.#receipts]
    } catch (error) {
      this.#toLookUp.unshift(...ids)
      throw error
    }
  }

  async #writeFacts(facts: readonly WaitingFact[]): Promise<void> {
    const written = await writeInHalves(
      facts,
      (part) => this.#addFacts(part),
      (_fact, error) => {
        if (error instanceof ServerAwayError) throw error
        this.#options.log.error({ err: error }, 'fact refused by the database')
        return false
      },
    )
    const done = new Set(facts)
    this.#facts = this.#facts.filter((fact) => !done.has(fact))
    for (const [index, { fact }] of facts.entries())
      if (written[index] && fact.kind === 'submitted') this.#toLookUp.push(submissionId(fact))
  }

  /** Takes all facts of each message together, so that they become visible at once: another node may have its receipt. */
  #nextFacts(): WaitingFact[] {
    const writable = this.#facts.filter(
      ({ planId, msgId }) => !this.#isAway(planId) && !this.#toProject.has(msgId),
    )
    const msgIds = new Set(writable.slice(0, MAX_BATCH).map(({ msgId }) => msgId))
    return writable.filter(({ msgId }) => msgIds.has(msgId))
  }

  /** Returns for each fact whether it is written. A fact of a message in progress goes to the end, and waits for its record. */
  async #addFacts(facts: readonly WaitingFact[]): Promise<readonly boolean[]> {
    const { db, directory, writeEvents, onBatch, onChanged, onState, log } = this.#options
    onBatch?.('facts', facts.length)
    const elsewhere = await writeEvents(async (holder) => {
      const recorded = await recordFacts(db, facts, { directory: directory(), holder, onState })
      onChanged(recorded.changed, holder.nodeId)
      return recorded.elsewhere
    })
    if (elsewhere.size === 0) return facts.map(() => true)
    const nowMs = performance.now()
    for (const one of facts) {
      if (!elsewhere.has(one.msgId)) continue
      // Its message is back in this process. If the lane is lost before the commit, the fact goes into the record.
      const onCommitted = (isCommitted: boolean) => {
        if (!isCommitted) this.#add(one, one.fact)
      }
      if (this.#options.inProgress.addFacts(one.msgId, [one.fact], { onCommitted })) continue
      const { sinceMs = nowMs } = one
      if (nowMs - sinceMs > MOST_WAIT_MS)
        log.error({ err: new Error('another process has held its message too long') }, 'answer not recorded')
      else this.#facts.push({ ...one, sinceMs })
      if (this.#options.inProgress.has(one.msgId)) this.#toProject.add(one.msgId)
    }
    return facts.map(({ msgId }) => !elsewhere.has(msgId))
  }

  async #recordReceipts(): Promise<void> {
    await this.#project()
    if (this.#receipts.length === 0) return
    const items = nextReceipts(this.#receipts)
    const translated = await this.#translated(items)
    await allOver((await this.#byServer(translated)).map((part) => this.#writeReceipts(part)))
  }

  /** Returns them in the same order. */
  async #translated(items: readonly ReceiptItem[]): Promise<readonly TranslatedReceipt[]> {
    const { idRules, inProgress } = this.#options
    const given = items.map(({ receipt }) => receipt)
    const translate = (part: readonly IncomingReceipt[]) => idRules.translate(part)
    // What the database refuses here is refused again where it is recorded, and logged there.
    const translated = await writeInHalves(given, translate, (receipt) => receipt).catch((error) => {
      if (!inProgress.away.knowsOfAny) throw error
      // Their messages may be on the server that is away: they are parked as they came.
      return given
    })
    return items.map((item, index) => ({ item, receipt: translated[index]! }))
  }

  /** By the servers of their messages, if there are several. */
  async #byServer(
    receipts: readonly TranslatedReceipt[],
  ): Promise<readonly (readonly TranslatedReceipt[])[]> {
    const { db, inProgress } = this.#options
    if (!isSharded(db)) return [receipts]
    const incoming = receipts.map(({ receipt }) => receipt)
    const plans = await plansOfReceipts(db, incoming, this.#newestMsgId)
    const planOf = new Map(receipts.map((receipt, index) => [receipt, plans.get(index) ?? null]))
    return await inProgress.away.byServer(receipts, (receipt) => planOf.get(receipt)!)
  }

  async #writeReceipts(receipts: readonly TranslatedReceipt[]): Promise<void> {
    const recorded = await writeInHalves<TranslatedReceipt, ReceiptItem | boolean>(
      receipts,
      (part) => this.#applyReceipts(part),
      (_receipt, error) => {
        if (error instanceof ServerAwayError) return false
        this.#options.log.error({ err: error }, 'receipt refused by the database')
        // The database would refuse it each time. Unacknowledged, the carrier would send it again for days.
        return true
      },
    )
    const done = new Set(receipts.map(({ item }) => item))
    this.#receipts = this.#receipts.filter((item) => !done.has(item))
    this.#receipts.unshift(...recorded.filter((item) => typeof item !== 'boolean'))
    for (const [index, { item }] of receipts.entries()) {
      const isDone = recorded[index]!
      if (typeof isDone === 'boolean') item.done?.(isDone)
    }
  }

  get #newestMsgId(): string {
    return highestIdAt(this.#options.clock() + CLOCK_SKEW_MS)
  }

  /** Returns for each receipt what `done` gets, or the receipt to retry when its message is recorded. */
  async #applyReceipts(receipts: readonly TranslatedReceipt[]): Promise<readonly (ReceiptItem | boolean)[]> {
    const { db, directory, writeEvents, inProgress, clock, onBatch, onChanged, onState } = this.#options
    onBatch?.('receipts', receipts.length)
    const incoming = receipts.map(({ receipt }) => receipt)
    const about = {
      directory: directory(),
      atMs: clock(),
      newestMsgId: this.#newestMsgId,
      keepOrLookUpLater: (msgId: string, index: number) =>
        receipts[index]!.item.hasWaited === undefined &&
        !inProgress.receipts.lookUpOnceLeft(msgId, incoming[index]!) &&
        inProgress.has(msgId),
    }
    const { here, away } = await writeEvents(async (holder) => {
      const recorded = await recordReceipts(db, incoming, { ...about, holder, onState })
      onChanged(recorded.changed, holder.nodeId)
      return recorded
    })
    for (const msgId of here.values()) this.#toProject.add(msgId)
    return receipts.map(({ item: { done }, receipt }, index) =>
      here.has(index) ? { receipt, done, hasWaited: true } : !away.has(index),
    )
  }
}

/**
 * The receipts of the next batch. A parked one waits until those of its id before it have taken effect: where a carrier has
 * given an id twice, the newest message that is still open gets the receipt.
 */
function nextReceipts(waiting: readonly ReceiptItem[]): readonly ReceiptItem[] {
  const first = waiting.slice(0, MAX_BATCH)
  const ids = new Set<string>()
  const end = first.findIndex(({ receipt }) => {
    const id = `${receipt.carrierId} ${receipt.carrierMessageId}`
    if (receipt.parkedId !== null && ids.has(id)) return true
    ids.add(id)
    return false
  })
  return end === -1 ? first : first.slice(0, end)
}

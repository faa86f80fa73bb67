import { isUnlearned } from '../domain/carrier-message-ids.ts'
import type { Directory } from '../domain/directory.ts'
import type { EventHolder } from '../domain/events.ts'
import { type EventTaken, type FirstFact, isFirst, type JournalFact } from '../domain/journal-entries.ts'
import { MessagesByPlan } from '../domain/messages-by-plan.ts'
import type { ChangedMessage } from '../domain/messages-in-progress.ts'
import {
  addFact,
  begunBy,
  changedMessage,
  type MessageInProgress,
  type StatusEvent,
} from '../domain/messages-in-progress.ts'
import { isPushed } from '../domain/webhook-targets.ts'
import type { Acceptance, AcceptanceJournal, KeptMessage } from '../operations/accept-messages.ts'
import type { BatchMeter } from '../operations/batches.ts'
import { evidenceOf, receiptFact } from '../operations/receipt-facts.ts'
import type { Database, Queryable } from '../store/database.ts'
import { closeLane } from '../store/journal.ts'
import { projectMessages } from '../store/projection.ts'
import type { NotedReceipt, ReceiptRow } from '../store/receipts.ts'
import type { NewCut, Settlement, Submission } from '../store/submissions.ts'
import { type Appended, JournalWriter } from './journal-writer.ts'
import { LostMessages } from './lost-messages.ts'
import { type Live, newLive, Projector } from './projector.ts'
import {
  acceptedItem,
  attemptedFact,
  type JournalItem as Item,
  isPlainReceipt,
  journalItem,
  type LoadedMessage,
  loadedItem,
  type Outcome,
  openSubmissions,
  settledFact,
} from './recorded-facts.ts'
import { SubmittedIds } from './submitted-ids.ts'

export interface MessagesInProgressOptions {
  readonly db: Database
  readonly directory: () => Directory
  /** Of the database, Unix milliseconds. */
  readonly nowMs: () => number
  /** Who delivers the events of the next batch. */
  readonly eventHolder: () => EventHolder
  readonly onChanged: (messages: readonly ChangedMessage[]) => void
  /** Segments of these have their rows now: receipts that came before are looked for. */
  readonly onProjected: (submissions: readonly Submission[]) => void
  /** Not in the journal, whose lane was lost. */
  readonly onReturned: (outcome: Outcome) => void
  readonly onError: (message: string, error: unknown) => void
  readonly onBatch?: BatchMeter | undefined
  readonly ageMs?: number | undefined
  readonly overdueMs?: number | undefined
}

/** Far more than come in the time that one waits for its receipt: beyond, new ones go into the tables at once. */
const MOST_LIVES = 100_000

/**
 * The messages that live in this process: their facts go into the journal, and what follows from them is told when they
 * are committed there. Everything unusual is left to the records: `project` first, then the statements of store/.
 */
export class MessagesInProgress implements AcceptanceJournal {
  readonly #options: MessagesInProgressOptions
  readonly #lives = new Map<string, Live>()
  /** The same, for those who read. */
  readonly #byPlan = new MessagesByPlan()
  readonly #ids = new SubmittedIds()
  readonly #writer: JournalWriter<Item>
  readonly #projector: Projector
  readonly #lostMessages: LostMessages

  constructor(options: MessagesInProgressOptions) {
    this.#options = options
    this.#lostMessages = new LostMessages(options)
    const { db, onError, onBatch, overdueMs, ageMs } = options
    this.#writer = new JournalWriter<Item>({
      db,
      onError: (message, error) => {
        onError(message, error)
        this.#projector.failed(error)
      },
      onBatch,
      overdueMs,
      onCommitted: (items, n) => this.#committed(items, n),
      isRetractable: ({ onAccepted, onRecorded }) => onAccepted !== null || onRecorded !== null,
      onRetracted: (items) => this.#retracted(items),
      onLost: (items, uncertain) => this.#lost(items, uncertain),
      onOverdue: (items) => this.#overdue(items),
    })
    this.#projector = new Projector({
      db,
      onError,
      onBatch,
      ageMs,
      lives: this.#lives,
      lane: () => this.#writer.lane,
      committed: () => this.#writer.committed,
      onProjected: (lives) => this.#projected(lives),
      onFenced: () => this.#writer.lose(),
    })
  }

  get size(): number {
    return this.#lives.size
  }

  get lane(): number | null {
    return this.#writer.lane?.lane ?? null
  }

  get(msgId: string): MessageInProgress | undefined {
    return this.#lives.get(msgId)?.message
  }

  all(planId: number | null): Iterable<MessageInProgress> {
    return this.#byPlan.of(planId)
  }

  isLeaving(msgId: string): boolean {
    return this.#lives.get(msgId)?.leaving ?? false
  }

  /** Whether the message has no record here yet: `project` waits for it. */
  has(msgId: string): boolean {
    return this.#lives.has(msgId) || this.#lostMessages.has(msgId)
  }

  /** Facts that are not committed yet. */
  get pending(): number {
    return this.#writer.pending
  }

  /** Nothing new should be begun: the database takes no facts, or there are too many messages without a record. */
  get failing(): boolean {
    return this.#writer.isStalled || this.#lives.size >= MOST_LIVES
  }

  /** Whether messages can be accepted here. */
  get isOpen(): boolean {
    return this.#writer.isOpen && this.#lives.size < MOST_LIVES
  }

  start(): void {
    this.#projector.start()
  }

  /** This process is this node from now on. */
  async register(nodeId: number): Promise<void> {
    await this.#writer.register(nodeId)
  }

  /** Resolves when these are in the records and not in memory; rejects when records cannot be written now. */
  async project(msgIds: readonly string[]): Promise<void> {
    await this.#projector.leave(msgIds.flatMap((msgId) => this.#lives.get(msgId) ?? []))
    await this.#lostMessages.untilRecorded(msgIds)
  }

  /** The lease is over: what is not under way here is left to whoever owns it next. `isDelivering`: its events are. */
  release(isDelivering: (msgId: string) => boolean): void {
    for (const [msgId, live] of this.#lives) {
      if (!isDelivering(msgId)) live.released = new Set(live.message.events.map(({ sequence }) => sequence))
      this.#projector.urge(live)
    }
  }

  /** Writes everything into the records, and ends the lane; what cannot be is found in the journal by another node. */
  async stop(timeoutMs: number): Promise<void> {
    const late = new Promise((resolve) => setTimeout(resolve, timeoutMs).unref())
    await Promise.race([this.project([...this.#lives.keys()]), late]).catch((error) =>
      this.#options.onError('messages left in the journal', error),
    )
    await this.#projector.stop()
    const { committed } = this.#writer
    const lane = this.#writer.end()
    if (lane === null || this.#lives.size > 0) return
    const { db } = this.#options
    if ((await projectMessages(db, lane, [], committed)) === 'written') await closeLane(db, lane)
  }

  // Facts. Each method says whether the message is here; if not, its record is what counts.

  accept(message: KeptMessage): Promise<Acceptance> {
    const { promise, resolve } = Promise.withResolvers<Acceptance>()
    this.#writer.append(acceptedItem(message, resolve))
    return promise
  }

  async acceptWith(decide: (tx: Queryable) => Promise<readonly KeptMessage[]>): Promise<Acceptance> {
    const { promise, resolve } = Promise.withResolvers<Acceptance>()
    const appended = this.#writer.appendWith(async (tx) =>
      (await decide(tx)).map((message) => acceptedItem(message, resolve)),
    )
    return await Promise.race([promise, appended])
  }

  /**
   * Takes messages out of the records: `take` does so in the transaction that appends them to the journal. Resolves when
   * they are here. Rejects when they are still in the records.
   */
  load(holder: number, take: (tx: Queryable) => Promise<readonly LoadedMessage[]>): Promise<Appended> {
    return this.#writer.appendWith(async (tx) => (await take(tx)).map((one) => loadedItem(one, holder)))
  }

  /** It is about to be sent; `onCommitted` is told when that is committed, or that its lane was lost before. */
  begin(msgId: string, onCommitted: (begun: boolean) => void): boolean {
    const live = this.#usable(msgId)
    if (live === null) return false
    this.#append(live, { kind: 'begun', atMs: this.#options.nowMs() }, null, { onCommitted })
    return true
  }

  /** Before the segments of that cut are given: a receipt of one of them counts from then on. */
  startOver(newCut: NewCut): boolean {
    const live = this.#usable(newCut.msg_id)
    if (live === null) return false
    this.#append(live, { kind: 'started-over', atMs: this.#options.nowMs(), cut: newCut.cut }, { newCut })
    return true
  }

  submitted(submission: Submission): boolean {
    const live = this.#usable(submission.msg_id)
    if (live === null) return false
    const { carrier_id: carrierId, carrier_message_id: carrierMessageId, segment, cut } = submission
    this.#append(live, { kind: 'submitted', carrierId, carrierMessageId, segment, cut }, { submission })
    for (const special of this.#ids.add(live, submission)) this.#projector.urge(special)
    const carrier = this.#options.directory().carrierById(carrierId)
    // Its receipt may be written under another id: the records have what it takes to find out.
    if (carrier && isUnlearned(carrier)) {
      this.#ids.addUnlearned(live, carrierId)
      this.#projector.urge(live)
    }
    return true
  }

  settle(settlement: Settlement): boolean {
    const { attempt } = settlement
    const live = this.#usable(settlement.msg_id)
    if (live === null) return false
    if (attempt !== null) this.#append(live, attemptedFact(attempt))
    this.#append(live, settledFact(settlement, this.#options.nowMs()), { settlement })
    return true
  }

  /**
   * A receipt of a segment that is known here. Otherwise the messages whose records have to be written before it can be
   * matched with one; most often none.
   */
  receipt(row: ReceiptRow, onRecorded: ((recorded: boolean) => void) | null): 'taken' | readonly string[] {
    if (row.unread) return Array.from(this.#ids.unlearned(row.carrier_id), ({ message }) => message.msgId)
    const known = row.parked_id === null ? this.#ids.find(row) : this.#ids.of(row)
    if (known === undefined) return []
    if (!isPlainReceipt(row, known)) return known.map((each) => each.live.message.msgId)
    const { directory, nowMs } = this.#options
    const [{ live, bits: segments, cut }] = known
    const of = { message: live.message, segments, cut }
    const fact = receiptFact(row, of, { directory: directory(), atMs: nowMs() })
    this.#append(live, fact, null, { onRecorded })
    return 'taken'
  }

  /** The messages here that have this id of a carrier. */
  namesakes(id: Pick<Submission, 'carrier_id' | 'carrier_message_id'>): string[] {
    return (this.#ids.of(id) ?? []).map(({ live }) => live.message.msgId)
  }

  /** A receipt waits among the parked ones: its message, where it is here, is recorded, so that they meet. */
  receiptParked(id: Pick<Submission, 'carrier_id' | 'carrier_message_id'>): void {
    for (const { live } of this.#ids.find(id) ?? []) this.#projector.urge(live)
  }

  /** A receipt that changes nothing, like `receipt`. */
  note(row: NotedReceipt): 'taken' | readonly string[] {
    const known = this.#ids.find(row)
    if (known === undefined) return []
    const [{ live }] = known
    if (known.length > 1 || live.leaving) return known.map((each) => each.live.message.msgId)
    this.#append(live, { kind: 'noted', evidence: evidenceOf(row) })
    return 'taken'
  }

  /** An event's first attempt was answered 2xx; `onCommitted` as of `begin`. */
  eventTaken(msgId: string, taken: EventTaken, onCommitted: Item['onCommitted'] = null): boolean {
    const live = this.#usable(msgId)
    if (live === null) return false
    this.#append(live, taken, null, { onCommitted })
    return true
  }

  #usable(msgId: string): Live | null {
    const live = this.#lives.get(msgId)
    return live === undefined || live.leaving ? null : live
  }

  #append(
    live: Live,
    fact: JournalFact['fact'],
    outcome: Outcome | null = null,
    waiting: Partial<Pick<Item, 'onRecorded' | 'onCommitted'>> = {},
  ): void {
    live.pending += 1
    const { message, holder } = live
    this.#writer.append(journalItem(message.msgId, fact, { ...waiting, live, holder, outcome }))
  }

  // What follows.

  #committed(items: readonly Item[], n: number): void {
    const changed: ChangedMessage[] = []
    const { holder } = this.#options.eventHolder()
    for (const item of items) {
      const { fact, live } = item
      if (isFirst(fact)) this.#begin(item, fact, n)
      else if (live !== null) {
        live.pending -= 1
        const event = addFact(live.message, fact)
        if (event !== null) changed.push(this.#announce(live, event, holder))
        item.onRecorded?.(true)
        item.onCommitted?.(true)
        this.#projector.changed(live)
      }
    }
    if (changed.length > 0) this.#options.onChanged(changed)
  }

  #begin({ msgId, holder, refused, onAccepted }: Item, first: FirstFact, n: number): void {
    // It is, or will be, FAILED by its record.
    if (refused) return
    const message = begunBy(msgId, first)
    this.#byPlan.add(message)
    this.#lives.set(msgId, newLive(message, { holder, entry: n }))
    onAccepted?.('committed')
  }

  #announce(live: Live, event: StatusEvent, holder: number | null): ChangedMessage {
    const { message } = live
    const { sequence } = event
    const { callbackUrl, planId } = message.accepted
    live.delivers ||= isPushed(callbackUrl, this.#options.directory().planById(planId))
    if (!live.delivers) live.unpushed = sequence
    // Behind one that waits in the records it waits there too; and so it does where its record will name another holder.
    const held = live.delivers && holder === live.holder && live.released === null
    if (live.delivers && !held) {
      live.released ??= new Set()
      live.released.add(sequence)
      this.#projector.urge(live)
    }
    return changedMessage(message, event, held)
  }

  #projected(lives: readonly Live[]): void {
    for (const live of lives) {
      const { message, gone } = live
      this.#lives.delete(message.msgId)
      this.#byPlan.delete(message.msgId)
      this.#ids.remove(live)
      gone?.resolve()
    }
    const open = lives.flatMap(({ message }) => openSubmissions(message))
    if (open.length > 0) this.#options.onProjected(open)
  }

  #overdue(items: readonly Item[]): void {
    for (const item of items) {
      if (item.onAccepted === null) continue
      item.refused = true
      item.onAccepted('overdue')
    }
  }

  #retracted(items: readonly Item[]): void {
    for (const { live, onAccepted, onRecorded } of items) {
      onAccepted?.('retracted')
      onRecorded?.(false)
      if (live === null) continue
      live.pending -= 1
      this.#projector.changed(live)
    }
  }

  #lost(items: readonly Item[], uncertain: boolean): void {
    for (const [msgId, { message, gone }] of this.#lives) {
      this.#lostMessages.add(msgId, message.accepted.planId)
      gone?.resolve()
    }
    // In the turn in which the lane is gone: who reads finds them in that lane from now on.
    this.#lives.clear()
    this.#byPlan.clear()
    this.#ids.clear()
    this.#projector.reset()
    for (const { outcome, onAccepted, onRecorded, onCommitted } of items) {
      onCommitted?.(false)
      onAccepted?.(uncertain ? 'uncertain' : 'lost')
      onRecorded?.(false)
      if (outcome !== null) this.#options.onReturned(outcome)
    }
  }
}

import { setTimeout as wait } from 'node:timers/promises'
import {
  type EventTaken,
  type FirstFact,
  isFirst,
  type JournalFact,
} from '../../domain/journal/message-facts.ts'
import {
  addFact,
  type ChangedMessage,
  changedMessage,
  enteredBy,
  type MessageInProgress,
  type StatusEvent,
} from '../../domain/journal/messages-in-progress.ts'
import { isPushed } from '../../domain/webhooks/targets.ts'
import type { BatchMeter, OnWritten } from '../../operations/batches.ts'
import type { Acceptance, AcceptanceJournal, KeptMessage } from '../../operations/sends/accept-messages.ts'
import type { Database, Transaction } from '../../store/database.ts'
import type { LoadedMessage } from '../../store/messages-at-rest.ts'
import { endLane } from '../../store/projection.ts'
import { writeRecords } from '../../store/records.ts'
import { JournalWriter } from '../journal/journal-writer.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { AwayServers } from './away-servers.ts'
import {
  acceptedItem,
  awaitedReceipts,
  type JournalItem as Item,
  isNews,
  journalItem,
  loadedItem,
  loseItems,
  type MessagesListeners,
  NOBODY,
  type OutcomeFacts,
  renewedItem,
  type Waiting,
} from './journal-items.ts'
import { type Live, Lives, newLive, reenter } from './lives.ts'
import { LostMessages } from './lost-messages.ts'
import { Projector, projectionOf } from './projector.ts'
import { ReceiptMatcher } from './receipt-matcher.ts'

export interface MessagesInProgressOptions extends NodeParts {
  /** Connections used only for journal entries. Default: `db`. */
  readonly appends?: Database | undefined
  readonly onBatch?: BatchMeter | undefined
  readonly onWritten?: OnWritten | undefined
  readonly ageMs?: number | undefined
  readonly overdueMs?: number | undefined
  /** Bytes of messages in memory. */
  readonly mostBytes?: number | undefined
}

type Take = (
  tx: Transaction,
  lane: number,
  isHere: (msgId: string) => boolean,
) => Promise<readonly LoadedMessage[]>

const POLL_MS = 10

/**
 * The messages that live in this process. Their facts go into the journal, and the consequences are announced once the facts
 * are committed. Exceptions are left to the records: `project` first, then the statements of store/.
 */
export class MessagesInProgress implements AcceptanceJournal {
  readonly #options: MessagesInProgressOptions
  readonly #lives: Lives
  readonly receipts: ReceiptMatcher
  readonly away: AwayServers
  readonly #writer: JournalWriter<Item>
  readonly #projector: Projector
  readonly #lostMessages: LostMessages
  #listeners = NOBODY

  constructor(options: MessagesInProgressOptions) {
    this.#options = options
    const { db, appends = db, directory, nowMs, log, onBatch, onWritten, overdueMs, ageMs } = options
    this.#lives = new Lives(options.mostBytes)
    this.#lostMessages = new LostMessages({ db, log })
    this.receipts = new ReceiptMatcher({
      directory,
      nowMs,
      lives: this.#lives,
      append: (live, fact, waiting) => this.#append(live, fact, waiting),
      urge: (live) => this.#projector.urge(live),
    })
    this.#writer = new JournalWriter<Item>({
      db,
      appends,
      log,
      onFailed: (error) => this.#projector.failed(error),
      onBatch,
      overdueMs,
      onCommitted: (items, n, sinceMs) => {
        this.#committed(items, n)
        onWritten?.('journal', items, sinceMs)
      },
      isAwaited: ({ fact, onCommitted }) => fact.kind !== 'event-taken' || onCommitted !== null,
      isRetractable: ({ fact, onAccepted, onCommitted }) =>
        onAccepted !== null || (fact.kind === 'receipt' && onCommitted !== null),
      onRetracted: (items) => this.#retracted(items),
      onLost: (items, uncertain) => this.#lost(items, uncertain),
      mayStore: ({ mayStore }) => mayStore?.() ?? true,
    })
    this.away = new AwayServers({ db, log, onBack: () => this.#projector.wake() })
    this.#projector = new Projector({
      db,
      away: this.away,
      log,
      onBatch,
      onWritten,
      ageMs,
      lives: this.#lives,
      lane: () => this.#writer.lane,
      committed: () => this.#writer.committed,
      onProjected: (lives) => this.#projected(lives),
      renew: (lives) => this.#renew(lives),
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
    return this.#lives.of(planId)
  }

  isLeaving(msgId: string): boolean {
    return this.#lives.get(msgId)?.leaving ?? false
  }

  /** Whether the message is here or in a lane that was lost, and may have no record yet. `project` waits for the record. */
  has(msgId: string): boolean {
    return this.get(msgId) !== undefined || this.#lostMessages.has(msgId)
  }

  /** Facts that are not committed yet. */
  get pending(): number {
    return this.#writer.pending + this.#lives.deferred
  }

  /** The database takes no facts. */
  get failing(): boolean {
    return this.#writer.isFailing
  }

  /** The database takes no facts, or is slow to, so nothing new should be begun. */
  get isStalled(): boolean {
    return this.#writer.isStalled
  }

  /** Whether messages of this plan can be accepted here. While their server is away, they get half of the memory. */
  takes(planId: number): boolean {
    const hasRoom = this.away.has(planId) ? this.#lives.excessBytes <= 0 : !this.#lives.isFull
    return this.#writer.isOpen && hasRoom
  }

  /** Whether many more messages may be loaded from the records. */
  get hasRoom(): boolean {
    return this.#lives.hasRoom
  }

  heardBy(listeners: Partial<MessagesListeners>): void {
    this.#listeners = { ...this.#listeners, ...listeners }
  }

  /** From now on this process is the node with this id. */
  async register(nodeId: number): Promise<void> {
    await this.#writer.register(nodeId)
    if (this.lane !== null) this.#projector.start()
  }

  /**
   * Resolves when these messages are in the records, and only those being submitted stay in memory. Rejects when records
   * cannot be written now.
   */
  async project(msgIds: readonly string[]): Promise<void> {
    await this.#projector.project(msgIds.flatMap((msgId) => this.#lives.get(msgId) ?? []))
    await this.#lostMessages.untilRecorded(msgIds)
  }

  /** The lease is over. Messages not in flight here are left to their next owner, and so are all events. */
  release(): void {
    for (const live of this.#lives.values()) {
      live.inRecords = new Set(live.message.events.map(({ sequence }) => sequence))
      this.#projector.urge(live)
    }
  }

  /** Writes everything into the records and ends the lane. Another node finds the rest in the journal. */
  async stop(timeoutMs: number): Promise<void> {
    const late = wait(timeoutMs, true, { ref: false })
    await Promise.race([this.project(this.#lives.msgIds()), late]).catch((error) =>
      this.#options.log.error({ err: error }, 'messages left in the journal'),
    )
    await this.away.stop()
    await this.#projector.stop()
    // Facts deferred until a message had begun anew reach the journal only now.
    for (let isOver = false; !isOver && this.pending > 0; )
      isOver = await Promise.race([late, wait(POLL_MS, false)])
    const { committed } = this.#writer
    const lane = this.#writer.end()
    if (lane !== null && this.#lives.size === 0) await endLane(this.#options.db, lane, committed)
  }

  // Facts. Each method returns whether the message is here; if not, its record is what counts.

  accept(message: KeptMessage): Promise<Acceptance> {
    const { promise, resolve } = Promise.withResolvers<Acceptance>()
    this.#writer.append(acceptedItem(message, resolve))
    return promise
  }

  async acceptWith(decide: (tx: Transaction) => Promise<readonly KeptMessage[]>): Promise<Acceptance> {
    const { promise, resolve } = Promise.withResolvers<Acceptance>()
    const appended = this.#writer.appendWith(async (tx) => {
      const messages = await decide(tx)
      if (messages.length === 0) resolve('committed')
      return messages.map((message) => acceptedItem(message, resolve))
    })
    return await Promise.race([promise, appended])
  }

  /**
   * Loads messages from the records. `take` does this for a lane, in the transaction that appends them to it, and skips
   * messages that are here: the caller must ask again whether their records are written. Resolves to the messages that are
   * here afterwards. Rejects when they are still in the records.
   */
  async load(owner: number, take: Take): Promise<MessageInProgress[]> {
    let loaded: readonly LoadedMessage[] = []
    await this.#writer.appendWith(async (tx) => {
      loaded = this.lane === null ? [] : await take(tx, this.lane, (msgId) => this.get(msgId) !== undefined)
      return loaded.map((one) => loadedItem(one, owner))
    })
    return loaded.flatMap(({ msgId }) => this.get(msgId) ?? [])
  }

  /** Writes the records of these messages, which stay here, and appends the messages again in their current state. */
  async #renew(lives: readonly Live[]): Promise<void> {
    await this.#writer.appendWith(async (tx) => {
      if (this.lane !== null)
        await writeRecords(tx, lives.filter(isNews).map(projectionOf), this.lane, { stays: true })
      return lives.map(renewedItem)
    })
  }

  /** The message is about to be sent. `onCommitted` gets true once that is committed, false if its lane was lost before. */
  begin(msgId: string, onCommitted: (begun: boolean) => void): boolean {
    return this.addFacts(msgId, [{ kind: 'begun', atMs: this.#options.nowMs() }], { onCommitted })
  }

  /** Commits the facts added so far as soon as possible, because no more arrive until then. */
  hurry(): void {
    this.#writer.hurry()
  }

  addOutcome(outcome: OutcomeFacts): boolean {
    return this.addFacts(outcome.msgId, outcome.facts, { outcome })
  }

  /** An event's first attempt was answered 2xx. `onCommitted` works as in `begin`. */
  eventTaken(msgId: string, taken: EventTaken, onCommitted: Item['onCommitted'] = null): boolean {
    const live = this.#lives.usable(msgId)
    // An event that is recorded is delivered from its row.
    const isHere = live?.message.events.some(({ sequence }) => sequence === taken.sequence) === true
    if (live === null || !isHere || live.deferred !== null) return false
    this.#append(live, taken, { onCommitted })
    return true
  }

  /** Returns false if the message is not here. `waiting`: who waits for the last of these facts, or gets it back. */
  addFacts(msgId: string, facts: readonly JournalFact['fact'][], waiting?: Partial<Waiting>): boolean {
    const live = this.#lives.usable(msgId)
    if (live === null) return false
    for (const fact of facts) {
      this.#append(live, fact, fact === facts.at(-1) ? waiting : undefined)
      if (fact.kind === 'submitted') this.receipts.expect(live, fact)
    }
    return true
  }

  /**
   * Calls `appended` when all facts added to the message so far are appended: at once, or when its record is written. Not if
   * its lane is lost before that: then the message leaves memory, and may even be back.
   */
  whenAppended(msgId: string, appended: () => void): void {
    const live = this.#lives.get(msgId)
    if (live === undefined || live.deferred === null) appended()
    else live.deferred.push(() => this.#lives.get(msgId) === live && appended())
  }

  #append(live: Live, fact: JournalFact['fact'], waiting?: Partial<Waiting>): void {
    live.pending += 1
    const { msgId } = live.message
    const item = journalItem(msgId, fact, { live, owner: live.owner }, waiting)
    if (live.deferred === null) this.#writer.append(item)
    else
      live.deferred.push(() => {
        if (this.#lives.get(msgId) === live) this.#writer.append(item)
        else for (const given of loseItems([item], false)) this.#listeners.onOutcomeLost(given)
      })
  }

  // Consequences of committed facts.

  #committed(items: readonly Item[], n: number): void {
    const changed: ChangedMessage[] = []
    const { nodeId: holder } = this.#listeners.eventHolder()
    for (const item of items) {
      const { fact, live } = item
      if (isFirst(fact)) this.#enter(item, fact, n)
      else if (live !== null) {
        live.pending -= 1
        if (fact.kind === 'postponed') this.#projector.postponed(live)
        const { message } = live
        const before = message.state
        const event = addFact(message, fact)
        if (message.state !== before) this.#listeners.onState({ message, before, after: message.state, fact })
        if (event !== null) changed.push(this.#announce(live, event, holder))
        item.onCommitted?.(true)
        this.#projector.changed(live)
      }
    }
    // Carriers are answered first: a full window is idle until then.
    for (const { onAccepted } of items) onAccepted?.('committed')
    if (changed.length > 0) this.#listeners.onChanged(changed, holder)
  }

  #enter({ msgId, owner, live }: Item, first: FirstFact, n: number): void {
    const entered = enteredBy(msgId, first)
    this.#lives.add(live === null ? newLive(entered, { owner, entry: n }) : reenter(live, entered, n))
  }

  #announce(live: Live, event: StatusEvent, holder: number | null): ChangedMessage {
    const { message } = live
    const { sequence } = event
    const { callbackUrl, planId } = message.accepted
    live.delivers ||= isPushed(callbackUrl, this.#options.directory().planById(planId), event)
    if (!live.delivers) live.unpushed = sequence
    // A new event waits in the records if one before it does, or if its record will name another holder.
    const held = live.delivers && holder === live.owner && live.inRecords === null
    if (live.delivers && !held) {
      live.inRecords ??= new Set()
      live.inRecords.add(sequence)
      this.#projector.urge(live)
    }
    return changedMessage(message, event, held)
  }

  #projected(lives: readonly Live[]): void {
    for (const live of lives) {
      this.#lives.delete(live)
      this.receipts.left(live)
      live.awaitedRecord?.resolve()
    }
    this.#listeners.onLeft(lives.map(({ message }) => message.msgId))
    const open = lives.flatMap(({ message, parked }) => [...awaitedReceipts(message), ...parked])
    if (open.length > 0) this.#listeners.onProjected(open)
  }

  #retracted(items: readonly Item[]): void {
    for (const { live, onAccepted, onCommitted } of items) {
      onAccepted?.('retracted')
      onCommitted?.(false)
      if (live === null) continue
      live.pending -= 1
      this.#projector.changed(live)
    }
  }

  #lost(items: readonly Item[], uncertain: boolean): void {
    const left = this.#lives.msgIds()
    for (const { message, awaitedRecord } of this.#lives.values()) {
      this.#lostMessages.add(message.msgId, message.accepted.planId)
      awaitedRecord?.resolve()
    }
    // Cleared in the same turn in which the lane is lost: from now on readers find these messages in that lane.
    this.#lives.clear()
    this.receipts.clear()
    this.#projector.reset()
    this.#listeners.onLeft(left)
    for (const outcome of loseItems(items, uncertain)) this.#listeners.onOutcomeLost(outcome)
  }
}

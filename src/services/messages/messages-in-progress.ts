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
import { isAway } from '../../store/citus.ts'
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
  isAwaited,
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
import { LostMessages } from './lost-messages.ts'
import { newlyOwned, type OwnedMessage, OwnedMessages, reenter } from './owned-messages.ts'
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
  isInMemory: (msgId: string) => boolean,
) => Promise<readonly LoadedMessage[]>

const POLL_MS = 10

/**
 * The messages that live in this process. Their facts go into the journal, and the consequences are announced once the facts
 * are committed. Exceptions are left to the records: `project` first, then the statements of store/.
 */
export class MessagesInProgress implements AcceptanceJournal {
  readonly #options: MessagesInProgressOptions
  readonly #ownedMessages: OwnedMessages
  readonly receipts: ReceiptMatcher
  readonly away: AwayServers
  readonly #writer: JournalWriter<Item>
  readonly #projector: Projector
  readonly #lostMessages: LostMessages
  #listeners = NOBODY

  constructor(options: MessagesInProgressOptions) {
    this.#options = options
    const { db, appends = db, directory, clock, log, onBatch, onWritten, overdueMs, ageMs } = options
    this.#ownedMessages = new OwnedMessages(options.mostBytes)
    this.#lostMessages = new LostMessages({ db, log })
    this.receipts = new ReceiptMatcher({
      directory,
      clock,
      ownedMessages: this.#ownedMessages,
      append: (owned, fact, waiting) => this.#append(owned, fact, waiting),
      urge: (owned) => this.#projector.urge(owned),
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
      isAwaited,
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
      ownedMessages: this.#ownedMessages,
      lane: () => this.#writer.lane,
      committed: () => this.#writer.committed,
      onProjected: (ownedMessages) => this.#projected(ownedMessages),
      renew: (ownedMessages, unrecorded) => this.#renew(ownedMessages, unrecorded),
      onFenced: () => this.#writer.lose(),
    })
  }

  get size(): number {
    return this.#ownedMessages.size
  }

  get lane(): number | null {
    return this.#writer.lane?.lane ?? null
  }

  get(msgId: string): MessageInProgress | undefined {
    return this.#ownedMessages.get(msgId)?.message
  }

  all(planId: number | null): Iterable<MessageInProgress> {
    return this.#ownedMessages.of(planId)
  }

  isLeaving(msgId: string): boolean {
    return this.#ownedMessages.get(msgId)?.leaving ?? false
  }

  /** Whether the message is here or in a lane that was lost, and may have no record yet. `project` waits for the record. */
  has(msgId: string): boolean {
    return this.get(msgId) !== undefined || this.#lostMessages.has(msgId)
  }

  /** Facts that are not committed yet. */
  get pending(): number {
    return this.#writer.pending + this.#ownedMessages.deferred
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
    const { excessBytes, isFull } = this.#ownedMessages
    return this.#writer.isOpen && (isAway(this.#options.db, planId) ? excessBytes <= 0 : !isFull)
  }

  /** Whether many more messages may be loaded from the records. */
  get hasRoom(): boolean {
    return this.#ownedMessages.hasRoom
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
    await this.#projector.project(msgIds.flatMap((msgId) => this.#ownedMessages.get(msgId) ?? []))
    await this.#lostMessages.untilRecorded(msgIds)
  }

  /** The lease is over. Messages not in flight here are left to their next owner, and so are all events. */
  release(): void {
    for (const owned of this.#ownedMessages.values()) {
      owned.inRecords = new Set(owned.message.events.map(({ sequence }) => sequence))
      this.#projector.urge(owned)
    }
  }

  /** Writes everything into the records and ends the lane. Another node finds the rest in the journal. */
  async stop(timeoutMs: number): Promise<void> {
    const late = wait(timeoutMs, true, { ref: false })
    await Promise.race([this.project(this.#ownedMessages.msgIds()), late]).catch((error) =>
      this.#options.log.error({ err: error }, 'messages left in the journal'),
    )
    await this.away.stop()
    await this.#projector.stop()
    // Facts deferred until a message had begun anew reach the journal only now.
    for (let isOver = false; !isOver && this.pending > 0; )
      isOver = await Promise.race([late, wait(POLL_MS, false)])
    const { committed } = this.#writer
    const lane = this.#writer.end()
    if (lane !== null && this.#ownedMessages.size === 0) await endLane(this.#options.db, lane, committed)
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
  async load(ownerNodeId: number, take: Take): Promise<MessageInProgress[]> {
    let loaded: readonly LoadedMessage[] = []
    await this.#writer.appendWith(async (tx) => {
      loaded = this.lane === null ? [] : await take(tx, this.lane, (msgId) => this.get(msgId) !== undefined)
      return loaded.map((one) => loadedItem(one, ownerNodeId))
    })
    return loaded.flatMap(({ msgId }) => this.get(msgId) ?? [])
  }

  /** Writes the records of these messages except `unrecorded`, and appends all again in their current state. They stay here. */
  async #renew(ownedMessages: readonly OwnedMessage[], unrecorded: ReadonlySet<OwnedMessage>): Promise<void> {
    await this.#writer.appendWith(async (tx) => {
      const recorded = ownedMessages.filter((owned) => isNews(owned) && !unrecorded.has(owned))
      if (this.lane !== null) await writeRecords(tx, recorded.map(projectionOf), this.lane, { stays: true })
      return ownedMessages.map((owned) => renewedItem(owned, !unrecorded.has(owned)))
    })
  }

  /** The message is about to be sent. `onCommitted` gets true once that is committed, false if its lane was lost before. */
  addBegun(msgId: string, onCommitted: (begun: boolean) => void): boolean {
    return this.addFacts(msgId, [{ kind: 'begun', atMs: this.#options.clock() }], { onCommitted })
  }

  /** Commits the facts added so far as soon as possible, because no more arrive until then. */
  hurry(): void {
    this.#writer.hurry()
  }

  addOutcome(outcome: OutcomeFacts): boolean {
    return this.addFacts(outcome.msgId, outcome.facts, { outcome })
  }

  /** An event's first attempt was answered 2xx. `onCommitted` works as in `addBegun`. A recorded event is delivered from its row. */
  eventTaken(msgId: string, taken: EventTaken, onCommitted: Item['onCommitted'] = null): boolean {
    const owned = this.#ownedMessages.usable(msgId)
    const isHere = owned?.message.events.some(({ sequence }) => sequence === taken.sequence) === true
    if (owned === null || !isHere || owned.deferred !== null) return false
    this.#append(owned, taken, { onCommitted })
    return true
  }

  /** Returns false if the message is not here. `waiting`: who waits for the last of these facts, or gets it back. */
  addFacts(msgId: string, facts: readonly JournalFact['fact'][], waiting?: Partial<Waiting>): boolean {
    const owned = this.#ownedMessages.usable(msgId)
    if (owned === null) return false
    for (const fact of facts) {
      this.#append(owned, fact, fact === facts.at(-1) ? waiting : undefined)
      if (fact.kind === 'submitted') this.receipts.expect(owned, fact)
    }
    return true
  }

  /**
   * Calls `appended` when all facts added to the message so far are appended: at once, or when its record is written. Not if
   * its lane is lost before that: then the message leaves memory, and may even be back.
   */
  whenAppended(msgId: string, appended: () => void): void {
    const owned = this.#ownedMessages.get(msgId)
    if (owned === undefined || owned.deferred === null) appended()
    else owned.deferred.push(() => this.#ownedMessages.get(msgId) === owned && appended())
  }

  #append(owned: OwnedMessage, fact: JournalFact['fact'], waiting?: Partial<Waiting>): void {
    owned.pending += 1
    const { msgId } = owned.message
    const item = journalItem(msgId, fact, { owned, ownerNodeId: owned.ownerNodeId }, waiting)
    if (owned.deferred === null) this.#writer.append(item)
    else
      owned.deferred.push(() => {
        if (this.#ownedMessages.get(msgId) === owned) this.#writer.append(item)
        else for (const given of loseItems([item], false)) this.#listeners.onOutcomeLost(given)
      })
  }

  // Consequences of committed facts.

  #committed(items: readonly Item[], n: number): void {
    const changed: ChangedMessage[] = []
    const { nodeId: holder } = this.#listeners.eventHolder()
    for (const item of items) {
      const { fact, owned } = item
      if (isFirst(fact)) this.#enter(item, fact, n)
      else if (owned !== null) {
        owned.pending -= 1
        if (fact.kind === 'postponed') this.#projector.postponed(owned)
        const { message } = owned
        const before = message.state
        const event = addFact(message, fact)
        if (message.state !== before) this.#listeners.onState({ message, before, after: message.state, fact })
        if (event !== null) changed.push(this.#announce(owned, event, holder))
        item.onCommitted?.(true)
        this.#projector.changed(owned)
      }
    }
    // Carriers are answered first: a full window is idle until then.
    for (const { onAccepted } of items) onAccepted?.('committed')
    if (changed.length > 0) this.#listeners.onChanged(changed, holder)
  }

  #enter({ msgId, ownerNodeId, owned }: Item, first: FirstFact, n: number): void {
    const entered = enteredBy(msgId, first)
    if (owned === null) this.#ownedMessages.add(newlyOwned(entered, { ownerNodeId, entry: n }))
    else this.#ownedMessages.add(reenter(owned, entered, n))
    this.#projector.entered()
  }

  #announce(owned: OwnedMessage, event: StatusEvent, holder: number | null): ChangedMessage {
    const { message } = owned
    const { sequence } = event
    const { callbackUrl, planId } = message.accepted
    owned.delivers ||= isPushed(callbackUrl, this.#options.directory().planById(planId), event)
    if (!owned.delivers) owned.unpushed = sequence
    // A new event waits in the records if one before it does, or if its record will name another holder.
    const held = owned.delivers && holder === owned.ownerNodeId && owned.inRecords === null
    if (owned.delivers && !held) {
      owned.inRecords ??= new Set()
      owned.inRecords.add(sequence)
      this.#projector.urge(owned)
    }
    return changedMessage(message, event, held)
  }

  #projected(ownedMessages: readonly OwnedMessage[]): void {
    for (const owned of ownedMessages) {
      this.#ownedMessages.drop(owned)
      this.receipts.left(owned)
      owned.awaitedRecord?.resolve()
    }
    this.#listeners.onLeft(ownedMessages.map(({ message }) => message.msgId))
    const open = ownedMessages.flatMap(({ message, parked }) => [...awaitedReceipts(message), ...parked])
    if (open.length > 0) this.#listeners.onProjected(open)
  }

  #retracted(items: readonly Item[]): void {
    for (const { owned, onAccepted, onCommitted } of items) {
      onAccepted?.('retracted')
      onCommitted?.(false)
      if (owned === null) continue
      owned.pending -= 1
      this.#projector.changed(owned)
    }
  }

  #lost(items: readonly Item[], uncertain: boolean): void {
    const left = this.#ownedMessages.msgIds()
    for (const { message, awaitedRecord } of this.#ownedMessages.values()) {
      this.#lostMessages.add(message.msgId, message.accepted.planId)
      awaitedRecord?.resolve()
    }
    // Cleared in the same turn in which the lane is lost: from now on readers find these messages in that lane.
    this.#ownedMessages.clear()
    this.receipts.clear()
    this.#projector.reset()
    this.#listeners.onLeft(left)
    for (const outcome of loseItems(items, uncertain)) this.#listeners.onOutcomeLost(outcome)
  }
}

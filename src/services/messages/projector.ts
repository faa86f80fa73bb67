import { setTimeout as wait } from 'node:timers/promises'
import { SlotMap } from '../../collections/slot-map.ts'
import type { StatusEvent } from '../../domain/journal/messages-in-progress.ts'
import { hasEnded } from '../../domain/messages/messages.ts'
import { type BatchMeter, type OnWritten, writeInHalves } from '../../operations/batches.ts'
import { isAway, isSharded, mayBeCommitted, ServerAwayError } from '../../store/citus.ts'
import type { Lane } from '../../store/journal.ts'
import { projectMessages } from '../../store/projection.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'
import type { AwayServers } from './away-servers.ts'
import { isAsAccepted } from './journal-items.ts'
import { bytesOf, isBeingSubmitted, type OwnedMessage, type OwnedMessages } from './owned-messages.ts'

export interface ProjectorOptions extends Pick<NodeParts, 'db' | 'log'> {
  readonly ownedMessages: Pick<OwnedMessages, 'values' | 'excessBytes'>
  readonly lane: () => Lane | null
  /** The last committed entry. */
  readonly committed: () => number
  readonly away: Pick<AwayServers, 'byServer' | 'hasFailed' | 'probe'>
  /** The records of these messages are committed, and the messages have left memory. */
  readonly onProjected: (ownedMessages: readonly OwnedMessage[]) => void
  /**
   * Writes the records of these messages, except `unrecorded`, and begins them all anew in the journal. If it rejects, nothing was
   * written.
   */
  readonly renew: (
    ownedMessages: readonly OwnedMessage[],
    unrecorded: ReadonlySet<OwnedMessage>,
  ) => Promise<unknown>
  /** The lane was taken over. */
  readonly onFenced: () => void
  readonly onBatch?: BatchMeter | undefined
  readonly onWritten?: OnWritten | undefined
  /** How long after its entry was committed a message gets its record, even while it is being submitted. Default 10 s. */
  readonly ageMs?: number | undefined
  /** Time between rounds. Default 50 ms. */
  readonly roundMs?: number | undefined
  /** Wait before a message that the database refused is retried. Default 60 s. */
  readonly refusedMs?: number | undefined
}

const AGE_MS = 10_000
/** A round costs a transaction of ten statements, however few messages it writes. */
const ROUND_MS = 50
/** While no message is in memory. The first one to enter ends the pause. */
const EMPTY_MS = 1_000
const RETRY_MS = 500
const REFUSED_MS = 60_000
const MAX_BATCH = 500
const NOT_RECORDED = 'messages not recorded yet'

/**
 * Writes messages into the records, with the facts that `Recorder` and others have added to them: soon when they are done,
 * otherwise when somebody asks for them or they have waited long.
 * A message still to be submitted then stays in memory and begins anew in a later entry, so that the earlier entries can be
 * cut.
 */
export class Projector {
  readonly #options: ProjectorOptions
  readonly #done = new SlotMap<string, OwnedMessage>()
  readonly #urgent = new SlotMap<string, OwnedMessage>()
  /** Messages whose content the database refused, and when they are retried. The log names each refusal. */
  readonly #refused = new Map<OwnedMessage, number>()
  /** Messages that may be written: an answer was lost, and a server went away. Nothing is added to them until they are. */
  readonly #uncertain = new Set<OwnedMessage>()
  readonly #task: PeriodicTask
  #failure = Promise.withResolvers<never>()
  #stopped = false

  constructor(options: ProjectorOptions) {
    this.#options = options
    this.#failure.promise.catch(() => undefined)
    this.#task = new PeriodicTask(
      options.log,
      NOT_RECORDED,
      () => this.#pauseMs(),
      () => this.#run(),
    )
  }

  start(): void {
    if (!this.#stopped) this.#task.start()
  }

  /** A message is in memory now. */
  entered(): void {
    this.#task.hasten(this.#roundMs)
  }

  changed(owned: OwnedMessage): void {
    if (owned.leaving || owned.pending > 0) return
    if (this.#urgent.has(owned.message.msgId)) this.#task.wake()
    else if (isDone(owned)) this.#done.set(owned.message.msgId, owned)
  }

  /** A server with records is back. */
  wake(): void {
    this.#task.wake()
  }

  /** The message is submitted later, from its record. */
  postponed(owned: OwnedMessage): void {
    owned.postponed = true
    this.urge(owned)
  }

  /**
   * The message is projected as soon as its facts are committed and it is not being submitted any more. While it is, it is
   * renewed, but only if `project` waits for its record or it is old.
   */
  urge(owned: OwnedMessage): void {
    if (owned.leaving) return
    this.#urgent.set(owned.message.msgId, owned)
    this.#task.wake()
  }

  /**
   * Resolves when these messages have their records, except those the database refuses. Of the recorded ones, only those
   * still to be submitted stay in memory. Rejects when records cannot be written now; when only some cannot, because their
   * server is away, after the others are written.
   */
  async project(ownedMessages: readonly OwnedMessage[]): Promise<void> {
    const isAnyAway = ownedMessages.some((owned) => this.#isAway(owned))
    const accepted = ownedMessages.filter((owned) => !this.#isRefused(owned) && !this.#isAway(owned))
    if (accepted.length > 0) await this.#projectThem(accepted)
    if (isAnyAway) throw new ServerAwayError()
  }

  async #projectThem(accepted: readonly OwnedMessage[]): Promise<void> {
    const written = accepted.map((owned) => {
      owned.awaitedRecord ??= Promise.withResolvers()
      this.urge(owned)
      return owned.awaitedRecord.promise
    })
    await Promise.race([Promise.all(written), this.#failure.promise])
  }

  /** The database does not take the records, or the facts that must be committed first. */
  failed(error: unknown): void {
    const failure = this.#failure
    this.#failure = Promise.withResolvers()
    this.#failure.promise.catch(() => undefined)
    failure.reject(error)
  }

  /** The messages in memory were given up. */
  reset(): void {
    this.#done.clear()
    this.#urgent.clear()
    this.#refused.clear()
    this.#uncertain.clear()
  }

  /** Messages that the database does not take now stay in the journal. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#task.stop()
  }

  get #roundMs(): number {
    return this.#options.roundMs ?? ROUND_MS
  }

  #pauseMs(): number {
    const isEmpty = this.#options.ownedMessages.values().next().done === true
    return isEmpty ? Math.max(this.#roundMs, EMPTY_MS) : this.#roundMs
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    // Messages that change in this turn are written together.
    await new Promise((resolve) => setImmediate(resolve))
    for (;;) {
      const leaving = this.#next()
      if (leaving.length > 0) {
        const parts = await this.#options.away.byServer(leaving, ({ message }) => message.accepted.planId)
        await Promise.all(parts.map((part) => this.#write(part)))
      }
      // Chosen in the same turn in which their facts begin to be deferred.
      const staying = this.#nextStaying()
      if (staying.length > 0) await this.#renew(staying)
      if (leaving.length < MAX_BATCH && staying.length < MAX_BATCH) return
    }
  }

  #next(): OwnedMessage[] {
    const batch: OwnedMessage[] = []
    let { excessBytes } = this.#options.ownedMessages
    const take = (owned: OwnedMessage) => {
      owned.leaving = true
      batch.push(owned)
      excessBytes -= bytesOf(owned.message.accepted)
      this.#urgent.delete(owned.message.msgId)
      this.#done.delete(owned.message.msgId)
    }
    for (const owned of this.#uncertain) if (batch.length < MAX_BATCH && !this.#isAway(owned)) take(owned)
    for (const from of [this.#urgent, this.#done])
      for (const owned of from.values()) if (batch.length < MAX_BATCH && this.#isFree(owned)) take(owned)
    const oldSinceMs = this.#oldSinceMs()
    for (const owned of this.#options.ownedMessages.values()) {
      if (batch.length >= MAX_BATCH || (owned.sinceMs > oldSinceMs && excessBytes <= 0)) break
      if (this.#isFree(owned)) take(owned)
    }
    return batch
  }

  /** Messages still to be submitted whose record somebody needs, or which keep old entries in the journal. */
  #nextStaying(): OwnedMessage[] {
    const needed = this.#urgent.values().filter((owned) => this.#isNeeded(owned))
    const oldSinceMs = this.#oldSinceMs()
    const old: OwnedMessage[] = []
    for (const owned of this.#options.ownedMessages.values()) {
      if (owned.sinceMs > oldSinceMs) break
      if (isBeingSubmitted(owned) && this.#isWritable(owned)) old.push(owned)
    }
    return [...new Set([...needed, ...old].slice(0, MAX_BATCH))]
  }

  /** A message that has been here since this time, or longer, is old. */
  #oldSinceMs(): number {
    return performance.now() - (this.#options.ageMs ?? AGE_MS)
  }

  #isFree(owned: OwnedMessage): boolean {
    return !isBeingSubmitted(owned) && this.#isWritable(owned)
  }

  #isNeeded(owned: OwnedMessage): boolean {
    return owned.awaitedRecord !== null && isBeingSubmitted(owned) && this.#isWritable(owned)
  }

  #isWritable(owned: OwnedMessage): boolean {
    return !owned.leaving && owned.pending === 0 && !this.#isRefused(owned) && !this.#isAway(owned)
  }

  #isAway({ message }: OwnedMessage): boolean {
    return isAway(this.#options.db, message.accepted.planId)
  }

  #isRefused(owned: OwnedMessage): boolean {
    return (this.#refused.get(owned) ?? 0) > performance.now()
  }

  /** Retries until the messages are written, another process has the lane, a server is away, or the projector stops. */
  async #write(batch: readonly OwnedMessage[]): Promise<void> {
    const { log, onBatch, onFenced, onProjected, onWritten, lane } = this.#options
    onBatch?.('projection', batch.length)
    const sinceMs = performance.now()
    const held = lane()
    for (const owned of batch) this.#refused.delete(owned)
    let isUncertain = false
    for (let isWritten = false; !isWritten; ) {
      // The owner of a lost lane records its messages, even if this process has opened another lane by now.
      if (held === null || lane() !== held) return
      try {
        // A retry with the same messages writes them once, even if the answer to the first try was lost.
        isWritten = (await this.#projectBatch(held, batch)) === 'written'
        if (!isWritten && lane() === held) onFenced()
      } catch (error) {
        log.error({ err: error }, NOT_RECORDED)
        isUncertain ||= mayBeCommitted(error)
        const isAnyAway = await this.#options.away.hasFailed(batch[0]!.message.accepted.planId, error)
        if (isAnyAway) return this.#putBack(batch, isUncertain)
        this.failed(error)
        if (this.#stopped) return
        await wait(RETRY_MS)
      }
    }
    for (const owned of batch) this.#uncertain.delete(owned)
    const refused = new Set(batch.filter((owned) => this.#refused.has(owned)))
    onProjected(batch.filter((owned) => !refused.has(owned)))
    if (onWritten !== undefined)
      onWritten(
        'projection',
        batch.map(({ message }) => message),
        sinceMs,
      )
    for (const owned of refused) this.#stay(owned)
  }

  /**
   * Those whose server is there are written next. The others wait here. News of them goes into the journal, unless they may be
   * written already.
   */
  #putBack(batch: readonly OwnedMessage[], isUncertain: boolean): void {
    for (const owned of batch) {
      if (isUncertain) this.#uncertain.add(owned)
      if (this.#uncertain.has(owned)) continue
      owned.leaving = false
      this.#urgent.set(owned.message.msgId, owned)
    }
    this.#rejectAway()
    this.#task.wake()
  }

  /** Those who wait for records that a server away has. */
  #rejectAway(): void {
    for (const owned of [...this.#urgent.values(), ...this.#uncertain].filter((one) => this.#isAway(one))) {
      owned.awaitedRecord?.reject(new ServerAwayError())
      owned.awaitedRecord = null
    }
  }

  /**
   * Facts that arrive meanwhile are deferred, so that they follow the entry with which the messages begin anew. Of several servers,
   * one that hangs may hold up this entry and the journal, so messages that only wait for their turn begin anew without a record.
   */
  async #renew(batch: readonly OwnedMessage[]): Promise<void> {
    const { db, onBatch, log, renew } = this.#options
    const unrecorded = new Set(
      isSharded(db) ? batch.filter((owned) => owned.awaitedRecord === null && isAsAccepted(owned)) : [],
    )
    onBatch?.('projection', batch.length)
    for (const owned of batch) owned.deferred = []
    let failed = false
    try {
      await writeInHalves(
        batch,
        async (part) => {
          await renew(part, unrecorded)
          return part.map(() => null)
        },
        (owned, error) => this.#refuse(owned, error),
      )
      for (const owned of batch) if (!unrecorded.has(owned)) this.#stay(owned)
    } catch (error) {
      failed = true
      log.error({ err: error }, NOT_RECORDED)
      if (await this.#options.away.probe()) this.#rejectAway()
      else this.failed(error)
    }
    for (const owned of batch) {
      const deferred = owned.deferred ?? []
      owned.deferred = null
      for (const append of deferred) append()
    }
    if (failed && !this.#stopped) await wait(RETRY_MS)
  }

  /** The message stays in memory. New facts go into the journal, and into its record when that is next written. */
  #stay(owned: OwnedMessage): void {
    owned.leaving = false
    owned.awaitedRecord?.resolve()
    owned.awaitedRecord = null
  }

  /** If the database refuses one message for its content, the others are written. That one stays here and in the journal. */
  async #projectBatch(lane: Lane, batch: readonly OwnedMessage[]): Promise<'written' | 'fenced'> {
    const outcomes = await writeInHalves(
      batch,
      async (part) => {
        const cut = this.#cut(part)
        const outcome = await projectMessages(this.#options.db, lane, part.map(projectionOf), cut)
        return part.map(() => outcome)
      },
      (owned, error) => {
        this.#refuse(owned, error)
        return 'written'
      },
    )
    return outcomes.includes('fenced') ? 'fenced' : 'written'
  }

  #refuse(owned: OwnedMessage, error: unknown): null {
    if (error instanceof ServerAwayError) throw error
    this.#options.log.error({ err: error }, 'message refused by the database: its record is not written')
    this.#refused.set(owned, performance.now() + (this.#options.refusedMs ?? REFUSED_MS))
    return null
  }

  /** The last entry before the first message that is neither recorded nor in this batch. */
  #cut(batch: readonly OwnedMessage[]): number {
    const written = new Set(batch)
    for (const owned of this.#options.ownedMessages.values()) if (!written.has(owned)) return owned.entry - 1
    return this.#options.committed()
  }
}

/** Nothing more is expected of the message: it has ended, and its receiver has taken all events. */
function isDone({ message: { state, events }, delivers, unpushed }: OwnedMessage): boolean {
  const isToldOf = ({ taken, sequence }: StatusEvent) => taken !== null || sequence <= unpushed
  return state.dispatch === null && hasEnded(state.status) && (!delivers || events.every(isToldOf))
}

/** The owner's node is the holder of those events that wait in memory: from there they are delivered. */
export function projectionOf({ message, ownerNodeId, delivers, unpushed, inRecords }: OwnedMessage) {
  return { message, holder: ownerNodeId, delivers, unpushed, ...(inRecords !== null && { inRecords }) }
}

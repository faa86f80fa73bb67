import { setTimeout as wait } from 'node:timers/promises'
import type { StatusEvent } from '../../domain/messages-in-progress.ts'
import type { Log } from '../../log.ts'
import { type BatchMeter, writeInHalves } from '../../operations/batches.ts'
import { SlotMap } from '../../slot-map.ts'
import type { Database } from '../../store/database.ts'
import type { Lane } from '../../store/journal.ts'
import { projectMessages } from '../../store/projection.ts'
import { PeriodicTask } from '../node/periodic-task.ts'
import { bytesOf, isOpen, type Live, type Lives } from './lives.ts'

export interface ProjectorOptions {
  readonly db: Database
  readonly lives: Pick<Lives, 'values' | 'excessBytes'>
  readonly lane: () => Lane | null
  /** The last entry that is committed. */
  readonly committed: () => number
  /** They have left memory; their records are committed. */
  readonly onProjected: (lives: readonly Live[]) => void
  /** Records these, and has them begin anew in the journal. Rejects where they are as before. */
  readonly renew: (lives: readonly Live[]) => Promise<unknown>
  /** The lane was taken over. */
  readonly onFenced: () => void
  readonly log: Log
  readonly onBatch?: BatchMeter | undefined
  /** So long a message waits here for its receipt. Default 10 s. */
  readonly ageMs?: number | undefined
  /** From one round to the next. Default 50 ms. */
  readonly roundMs?: number | undefined
  /** So long one stays here that the database refuses, before it is tried again. Default 60 s. */
  readonly refusedMs?: number | undefined
}

const AGE_MS = 10_000
/** A round costs a transaction of ten statements, however few messages it has. */
const ROUND_MS = 50
const RETRY_MS = 500
const REFUSED_MS = 60_000
const MAX_BATCH = 500
const NOT_RECORDED = 'messages not recorded yet'

/**
 * Writes messages into the records: those that are done soon, the others when they are asked for or have waited long. What
 * is still to be submitted goes on in memory then, and in a later entry of the journal, so that the earlier ones can go.
 */
export class Projector {
  readonly #options: ProjectorOptions
  readonly #done = new SlotMap<string, Live>()
  readonly #urgent = new SlotMap<string, Live>()
  /** When those are tried again that the database refused for what is in them, which the operator is told of. */
  readonly #refused = new Map<Live, number>()
  readonly #task: PeriodicTask
  #failure = Promise.withResolvers<never>()
  #stopped = false

  constructor(options: ProjectorOptions) {
    this.#options = options
    this.#failure.promise.catch(() => undefined)
    this.#task = new PeriodicTask({
      run: () => this.#run(),
      intervalMs: options.roundMs ?? ROUND_MS,
      log: options.log,
      failure: NOT_RECORDED,
    })
  }

  start(): void {
    if (!this.#stopped) this.#task.start()
  }

  /** The message has changed. */
  changed(live: Live): void {
    if (live.leaving || live.pending > 0) return
    if (this.#urgent.has(live.message.msgId)) this.#task.wake()
    else if (isDone(live)) this.#done.set(live.message.msgId, live)
  }

  /** It is submitted later. */
  postponed(live: Live): void {
    live.postponed = true
    this.urge(live)
  }

  /** It is to leave memory as soon as what is said of it is committed. */
  urge(live: Live): void {
    if (live.leaving) return
    this.#urgent.set(live.message.msgId, live)
    this.#task.wake()
  }

  /**
   * Resolves when these have their records, but for what the database refuses; rejects when records cannot be written now.
   * Only those that are to be submitted are in memory then.
   */
  async leave(lives: readonly Live[]): Promise<void> {
    const accepted = lives.filter((live) => !this.#isRefused(live))
    if (accepted.length === 0) return
    const gone = accepted.map((live) => {
      live.gone ??= Promise.withResolvers()
      this.urge(live)
      return live.gone.promise
    })
    await Promise.race([Promise.all(gone), this.#failure.promise])
  }

  /** The database does not take what messages wait for to leave. */
  failed(error: unknown): void {
    const failure = this.#failure
    this.#failure = Promise.withResolvers()
    this.#failure.promise.catch(() => undefined)
    failure.reject(error)
  }

  /** Memory was given up. */
  reset(): void {
    this.#done.clear()
    this.#urgent.clear()
    this.#refused.clear()
  }

  /** What the database does not take now stays in the journal. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#task.stop()
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    // What comes together in this turn is written together.
    await new Promise((resolve) => setImmediate(resolve))
    for (;;) {
      const leaving = this.#next()
      if (leaving.length > 0) await this.#write(leaving)
      // Chosen in the turn in which their facts begin to wait.
      const staying = this.#nextStaying()
      if (staying.length > 0) await this.#renew(staying)
      if (leaving.length < MAX_BATCH && staying.length < MAX_BATCH) return
    }
  }

  #next(): Live[] {
    const batch: Live[] = []
    let { excessBytes } = this.#options.lives
    const take = (live: Live) => {
      live.leaving = true
      batch.push(live)
      excessBytes -= bytesOf(live.message.accepted)
      this.#urgent.delete(live.message.msgId)
      this.#done.delete(live.message.msgId)
    }
    for (const from of [this.#urgent, this.#done])
      for (const live of from.values()) if (batch.length < MAX_BATCH && this.#isFree(live)) take(live)
    const oldMs = this.#oldMs()
    for (const live of this.#options.lives.values()) {
      if (batch.length >= MAX_BATCH || (live.sinceMs > oldMs && excessBytes <= 0)) break
      if (this.#isFree(live)) take(live)
    }
    return batch
  }

  /** Those still to be submitted that somebody needs a record of, or for which the journal is kept. */
  #nextStaying(): Live[] {
    const needed = this.#urgent.values().filter((live) => this.#isNeeded(live))
    const oldMs = this.#oldMs()
    const old: Live[] = []
    for (const live of this.#options.lives.values()) {
      if (live.sinceMs > oldMs) break
      if (isOpen(live) && this.#isWritable(live)) old.push(live)
    }
    return [...new Set([...needed, ...old].slice(0, MAX_BATCH))]
  }

  /** What is here since then, or for longer, is old. */
  #oldMs(): number {
    return performance.now() - (this.#options.ageMs ?? AGE_MS)
  }

  #isFree(live: Live): boolean {
    return !isOpen(live) && this.#isWritable(live)
  }

  #isNeeded(live: Live): boolean {
    return live.gone !== null && isOpen(live) && this.#isWritable(live)
  }

  #isWritable(live: Live): boolean {
    return !live.leaving && live.pending === 0 && !this.#isRefused(live)
  }

  #isRefused(live: Live): boolean {
    return (this.#refused.get(live) ?? 0) > performance.now()
  }

  /** Tries until they are written, the lane is another's, or nobody waits any more. */
  async #write(batch: readonly Live[]): Promise<void> {
    const { log, onBatch, onFenced, onProjected, lane } = this.#options
    onBatch?.('projection', batch.length)
    const held = lane()
    for (const live of batch) this.#refused.delete(live)
    for (let isWritten = false; !isWritten; ) {
      // Of a lane that is another's they are recorded by that one, also where this process has its next lane by now.
      if (held === null || lane() !== held) return
      try {
        // Repeated with the same messages it writes them once, also where the answer to the first try was lost.
        isWritten = (await this.#project(held, batch)) === 'written'
        if (!isWritten && lane() === held) onFenced()
      } catch (error) {
        log.error({ err: error }, NOT_RECORDED)
        this.failed(error)
        if (this.#stopped) return
        await wait(RETRY_MS)
      }
    }
    const refused = new Set(batch.filter((live) => this.#refused.has(live)))
    onProjected(batch.filter((live) => !refused.has(live)))
    for (const live of refused) this.#stay(live)
  }

  /** What happens to them meanwhile comes behind what they begin anew with. */
  async #renew(batch: readonly Live[]): Promise<void> {
    const { onBatch, log, renew } = this.#options
    onBatch?.('projection', batch.length)
    for (const live of batch) live.deferred = []
    let failed = false
    try {
      await writeInHalves(
        batch,
        async (part) => {
          await renew(part)
          return part.map(() => null)
        },
        (live, error) => this.#refuse(live, error),
      )
      for (const live of batch) this.#stay(live)
    } catch (error) {
      failed = true
      log.error({ err: error }, NOT_RECORDED)
      this.failed(error)
    }
    for (const live of batch) {
      const deferred = live.deferred ?? []
      live.deferred = null
      for (const append of deferred) append()
    }
    if (failed && !this.#stopped) await wait(RETRY_MS)
  }

  /** It lives on: what is learned of it is in the journal, and in its record once that is written. */
  #stay(live: Live): void {
    live.leaving = false
    live.gone?.resolve()
    live.gone = null
  }

  /** Where the database refuses one for what is in it, the others are written, and it stays here and in the journal. */
  async #project(lane: Lane, batch: readonly Live[]): Promise<'written' | 'fenced'> {
    const outcomes = await writeInHalves(
      batch,
      async (part) => {
        const cut = this.#cut(part)
        const outcome = await projectMessages(this.#options.db, lane, part.map(projectionOf), cut)
        return part.map(() => outcome)
      },
      (live, error) => {
        this.#refuse(live, error)
        return 'written'
      },
    )
    return outcomes.includes('fenced') ? 'fenced' : 'written'
  }

  #refuse(live: Live, error: unknown): null {
    this.#options.log.error({ err: error }, 'message refused by the database: its record is not written')
    this.#refused.set(live, performance.now() + (this.#options.refusedMs ?? REFUSED_MS))
    return null
  }

  /** The journal is needed from the first message on that is neither recorded nor of this batch. */
  #cut(batch: readonly Live[]): number {
    const written = new Set(batch)
    for (const live of this.#options.lives.values()) if (!written.has(live)) return live.entry - 1
    return this.#options.committed()
  }
}

/** Nothing more is expected of it: it has ended, and its receiver has taken all events. */
function isDone({ message: { state, events }, delivers, unpushed }: Live): boolean {
  const hasEnded = state.submission === null && state.status !== 'QUEUED' && state.status !== 'SENT'
  const isToldOf = ({ taken, sequence }: StatusEvent) => taken !== null || sequence <= unpushed
  return hasEnded && (!delivers || events.every(isToldOf))
}

export function projectionOf({ message, holder, delivers, unpushed, released }: Live) {
  return { message, holder, delivers, unpushed, ...(released !== null && { released }) }
}

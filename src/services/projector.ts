import type { MessageInProgress, StatusEvent } from '../domain/messages-in-progress.ts'
import type { BatchMeter } from '../operations/batches.ts'
import { type Database, isRowFault } from '../store/database.ts'
import type { Lane } from '../store/journal.ts'
import { projectMessages } from '../store/projection.ts'

/** A message in this process's memory that has no record yet. */
export interface Live {
  readonly message: MessageInProgress
  /** The node that accepted it: this process, or what it was before its lease was lost. */
  readonly holder: number
  /** The entry that has its acceptance. */
  readonly entry: number
  /** When that was committed, by the monotonic clock. */
  readonly sinceMs: number
  /** Facts of it that are not committed yet. */
  pending: number
  /** It is being written: from now on its record is what counts. */
  leaving: boolean
  /** Its events go to a URL. */
  delivers: boolean
  /** The last event that was pushed nowhere: there was no URL; 0: none. */
  unpushed: number
  /** Events that are not in memory for delivery; null: all that are not taken are. */
  released: Set<number> | null
  /** Under what ids its segments are known here. */
  readonly ids: string[]
  /** Somebody waits for its record. */
  gone: PromiseWithResolvers<void> | null
}

/** A message that has just been accepted, by this entry. */
export function newLive(message: MessageInProgress, by: Pick<Live, 'holder' | 'entry'>): Live {
  return {
    ...by,
    message,
    sinceMs: performance.now(),
    pending: 0,
    leaving: false,
    delivers: false,
    unpushed: 0,
    released: null,
    ids: [],
    gone: null,
  }
}

export interface ProjectorOptions {
  readonly db: Database
  /** In the order in which they were accepted. */
  readonly lives: Map<string, Live>
  readonly lane: () => Lane | null
  /** The last entry that is committed. */
  readonly committed: () => number
  /** They have left memory; their records are committed. */
  readonly onProjected: (lives: readonly Live[]) => void
  /** The lane was taken over. */
  readonly onFenced: () => void
  readonly onError: (message: string, error: unknown) => void
  readonly onBatch?: BatchMeter | undefined
  /** So long a message waits here for its receipt. Default 10 s. */
  readonly ageMs?: number | undefined
  /** So long one stays here that the database refuses, before it is tried again. Default 60 s. */
  readonly refusedMs?: number | undefined
}

const AGE_MS = 10_000
const ROUND_MS = 200
const RETRY_MS = 500
const REFUSED_MS = 60_000
const MAX_BATCH = 500

/** Writes messages into the records: those that are done soon, the others when they are asked for or have waited long. */
export class Projector {
  readonly #options: ProjectorOptions
  readonly #done = new Set<Live>()
  readonly #urgent = new Set<Live>()
  /** When those are tried again that the database refused for what is in them, which the operator is told of. */
  readonly #refused = new Map<Live, number>()
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  #failure = Promise.withResolvers<never>()
  #stopped = false

  constructor(options: ProjectorOptions) {
    this.#options = options
    this.#failure.promise.catch(() => undefined)
  }

  start(): void {
    this.#timer = setInterval(() => this.#wake(), ROUND_MS)
  }

  /** The message has changed. */
  changed(live: Live): void {
    if (live.leaving || live.pending > 0) return
    if (this.#urgent.has(live)) this.#wake()
    else if (isDone(live)) this.#done.add(live)
  }

  /** It is to leave memory as soon as what is said of it is committed. */
  urge(live: Live): void {
    if (live.leaving) return
    this.#urgent.add(live)
    this.#wake()
  }

  /** Resolves when none of these is in memory, but what the database refuses; rejects when records cannot be written now. */
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
    if (this.#timer !== null) clearInterval(this.#timer)
    await this.#running
  }

  #wake(): void {
    if (this.#running !== null || this.#stopped) return
    this.#running = this.#run().finally(() => {
      this.#running = null
      if (this.#urgent.values().some((live) => this.#isFree(live))) this.#wake()
    })
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    // What comes together in this turn is written together.
    await new Promise((resolve) => setImmediate(resolve))
    for (let batch = this.#next(); batch.length > 0; batch = this.#next()) await this.#write(batch)
  }

  #next(): Live[] {
    const batch: Live[] = []
    const take = (live: Live) => {
      live.leaving = true
      batch.push(live)
      this.#urgent.delete(live)
      this.#done.delete(live)
    }
    for (const from of [this.#urgent, this.#done])
      for (const live of from) if (batch.length < MAX_BATCH && this.#isFree(live)) take(live)
    const old = performance.now() - (this.#options.ageMs ?? AGE_MS)
    for (const live of this.#options.lives.values()) {
      if (batch.length >= MAX_BATCH || live.sinceMs > old) break
      if (this.#isFree(live)) take(live)
    }
    return batch
  }

  #isFree(live: Live): boolean {
    return !live.leaving && live.pending === 0 && !this.#isRefused(live)
  }

  #isRefused(live: Live): boolean {
    return (this.#refused.get(live) ?? 0) > performance.now()
  }

  /** Tries until they are written, the lane is another's, or nobody waits any more. */
  async #write(batch: readonly Live[]): Promise<void> {
    const { onError, onBatch, onFenced, onProjected, lane } = this.#options
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
        onError('messages not recorded yet', error)
        this.failed(error)
        if (this.#stopped) return
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
    const refused = new Set(batch.filter((live) => this.#refused.has(live)))
    onProjected(batch.filter((live) => !refused.has(live)))
    for (const live of refused) this.#stay(live)
  }

  /** It lives on: what is learned of it is in the journal, and in its record once that is written. */
  #stay(live: Live): void {
    live.leaving = false
    live.gone?.resolve()
    live.gone = null
  }

  /** Where the database refuses one for what is in it, the others are written, and it stays here and in the journal. */
  async #project(lane: Lane, batch: readonly Live[]): Promise<'written' | 'fenced'> {
    try {
      return await projectMessages(this.#options.db, lane, batch.map(projectionOf), this.#cut(batch))
    } catch (error) {
      if (!isRowFault(error)) throw error
      if (batch.length === 1) {
        this.#options.onError('message refused by the database: it has no record', error)
        this.#refused.set(batch[0]!, performance.now() + (this.#options.refusedMs ?? REFUSED_MS))
        return 'written'
      }
      const half = batch.length >> 1
      const first = await this.#project(lane, batch.slice(0, half))
      return first === 'fenced' ? first : await this.#project(lane, batch.slice(half))
    }
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

function projectionOf({ message, holder, delivers, unpushed, released }: Live) {
  return { message, holder, delivers, unpushed, ...(released !== null && { released }) }
}

import { decodeEntry, isFirst, type JournalFact } from '../domain/journal-entries.ts'
import { MessagesByPlan } from '../domain/messages-by-plan.ts'
import { addFact, begunBy, type MessageInProgress } from '../domain/messages-in-progress.ts'
import type { OtherMessages } from '../operations/read-messages.ts'
import type { Queryable } from '../store/database.ts'
import { type LaneBounds, type LaneNews, readLanes } from '../store/followed-lanes.ts'
import { findAtRest } from '../store/projection.ts'

export interface LaneFollowerOptions {
  readonly db: Queryable
  /** The lane of this process, which is not read: it knows better. Null: it has none. */
  readonly ownLane: () => number | null
  readonly onError: (message: string, error: unknown) => void
  /** What is read of a lane at once. */
  readonly bounds?: LaneBounds
  /** When so many messages are followed, those that have a record by now are forgotten. */
  readonly manyMessages?: number
}

/** A lane as far as it was read. */
interface FollowedLane {
  /** The last entry read; NO_FURTHER: it has ended, or cannot be read. */
  n: number
  /** Whose acceptance is in which entry, in order. */
  acceptances: { readonly n: number; readonly msgId: string }[]
}

const NO_FURTHER = Number.MAX_SAFE_INTEGER
/** Some 1,000 facts: about 5 ms of work. */
const BOUNDS: LaneBounds = { entries: 256, octets: 64 * 1024 }
const MANY_MESSAGES = 20_000
/** Looked for among the records in one statement. */
const BATCH = 1_000

/**
 * What the lanes of the other processes say: their messages in progress, built from the same facts as theirs. Read on only
 * when somebody asks. It keeps as many as the others have in progress, which they bound, and of each what answers need.
 */
export class LaneFollower implements OtherMessages {
  readonly #options: LaneFollowerOptions
  readonly #lanes = new Map<number, FollowedLane>()
  /** Of all lanes. */
  readonly #messages = new MessagesByPlan()
  #many: number
  /** The catch-up that began last, and the one that begins after it. */
  #running: Promise<void> | null = null
  #next: Promise<void> | null = null

  constructor(options: LaneFollowerOptions) {
    this.#options = options
    this.#many = options.manyMessages ?? MANY_MESSAGES
  }

  /**
   * Resolves when everything that is committed in the other lanes now is known here, or is in the records. Whoever asks
   * while one is under way shares the next: what is under way may have read before. Rejects when the database does.
   */
  catchUp(): Promise<void> {
    this.#next ??= this.#readAfter(this.#running)
    return this.#next
  }

  get(msgId: string): MessageInProgress | undefined {
    return this.#messages.get(msgId)
  }

  all(planId: number | null): Iterable<MessageInProgress> {
    return this.#messages.of(planId)
  }

  get size(): number {
    return this.#messages.size
  }

  forget(msgIds: Iterable<string>): void {
    for (const msgId of msgIds) this.#messages.delete(msgId)
  }

  async #readAfter(running: Promise<void> | null): Promise<void> {
    await running?.catch(() => undefined)
    this.#running = this.#next
    this.#next = null
    await this.#readOn()
  }

  async #readOn(): Promise<void> {
    const { db, ownLane, bounds = BOUNDS } = this.#options
    for (let isWhole = false; !isWhole; ) {
      const positions = [...this.#lanes].map(([lane, { n }]) => ({ lane, n }))
      const news = await readLanes(db, positions, ownLane(), bounds)
      this.#dropGone(news)
      for (const lane of news) this.#follow(lane)
      isWhole = !news.some((lane) => isFull(lane, bounds))
    }
    if (this.size >= this.#many) await this.#forgetRecorded()
  }

  #dropGone(news: readonly LaneNews[]): void {
    const there = new Set(news.map(({ lane }) => lane))
    for (const [lane, followed] of this.#lanes) {
      if (there.has(lane)) continue
      this.#drop(followed, NO_FURTHER)
      this.#lanes.delete(lane)
    }
  }

  /** What was accepted up to this entry is in the records. */
  #drop(followed: FollowedLane, upTo: number): void {
    const { acceptances } = followed
    const found = acceptances.findIndex(({ n }) => n > upTo)
    const gone = acceptances.splice(0, found < 0 ? acceptances.length : found)
    this.forget(gone.map(({ msgId }) => msgId))
  }

  #follow({ lane, cut, entries }: LaneNews): void {
    const followed = this.#lanes.get(lane) ?? { n: cut, acceptances: [] }
    this.#lanes.set(lane, followed)
    this.#drop(followed, cut)
    for (const { n, data } of entries) {
      const isFence = data.length === 0
      const facts = isFence ? null : this.#decode(lane, data)
      followed.n = facts === null ? NO_FURTHER : n
      // What is known of its messages grows old from here on: their records are the better answer.
      if (facts === null && !isFence) this.#drop(followed, NO_FURTHER)
      if (facts === null) return
      for (const fact of facts) this.#learn(followed, fact)
    }
  }

  /** Facts of messages that were accepted elsewhere, or are recorded, are not for here. */
  #learn({ n, acceptances }: FollowedLane, { msgId, fact }: JournalFact): void {
    if (isFirst(fact)) {
      this.#messages.add(begunBy(msgId, fact))
      acceptances.push({ n, msgId })
      return
    }
    const message = this.#messages.get(msgId)
    // What no answer shows is not kept: attempts, webhooks, receipts.
    if (message === undefined || fact.kind === 'attempted' || fact.kind === 'event-taken') return
    if (fact.kind === 'noted') return
    addFact(message, fact)
    message.events.length = 0
    message.receipts.length = 0
  }

  /** Null: written by a version that is newer than this one. Said once: nothing more of the lane is read. */
  #decode(lane: number, data: Buffer): JournalFact[] | null {
    try {
      return decodeEntry(data)
    } catch (error) {
      this.#options.onError(
        `journal lane ${lane} cannot be read: its messages are answered from the records`,
        error,
      )
      return null
    }
  }

  async #forgetRecorded(): Promise<void> {
    const keys = [...this.all(null)].map(({ msgId, accepted }) => ({ planId: accepted.planId, msgId }))
    for (let from = 0; from < keys.length; from += BATCH)
      this.forget(await findAtRest(this.#options.db, keys.slice(from, from + BATCH)))
    this.#many = Math.max(this.#options.manyMessages ?? MANY_MESSAGES, 2 * this.size)
  }
}

function isFull({ entries }: LaneNews, bounds: LaneBounds): boolean {
  const octets = entries.reduce((sum, { data }) => sum + data.length, 0)
  return entries.length >= bounds.entries || octets >= bounds.octets
}

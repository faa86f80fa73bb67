import { decodeEntry } from '../../domain/journal/entries.ts'
import { isFirst, type JournalFact } from '../../domain/journal/message-facts.ts'
import {
  addFact,
  enteredBy,
  type MessageInProgress,
  MessagesByPlan,
} from '../../domain/journal/messages-in-progress.ts'
import type { Log } from '../../log.ts'
import { isInProgress, keyOf, type OtherMessages } from '../../operations/read-messages.ts'
import type { Queryable } from '../../store/database.ts'
import { type LaneBounds, type LaneNews, readLanes } from '../../store/followed-lanes.ts'
import { findRecorded } from '../../store/projection.ts'
import { SharedRun } from '../loops/shared-run.ts'

export interface LaneFollowerOptions {
  readonly db: Queryable
  /** The lane of this process, which is not followed: its memory is newer. Null: it has none. */
  readonly ownLane: () => number | null
  readonly log: Log
  /** How much of a lane is read at once. */
  readonly bounds?: LaneBounds
  /** When this many messages are followed, those no longer in progress are dropped. */
  readonly manyMessages?: number
}

/** A lane, and how far it was read. */
interface FollowedLane {
  /** The last entry read; NO_FURTHER: the lane has ended, or cannot be read. */
  n: number
  readonly messages: MessagesByPlan
  /** By message, the entry it begins with, in the order of entries. */
  readonly entries: Map<string, number>
}

const NO_FURTHER = Number.MAX_SAFE_INTEGER
/** About 1,000 facts, or 5 ms of work. */
const BOUNDS: LaneBounds = { entries: 256, octets: 64 * 1024 }
const MANY_MESSAGES = 20_000
/** Messages looked up in the records by one statement. */
const BATCH = 1_000

/**
 * The messages that other processes have in progress, built from the same facts in their lanes. Lanes are read only when
 * somebody asks. Memory is bounded because the others bound their messages in progress; of each, only what answers need is
 * kept.
 */
export class LaneFollower implements OtherMessages {
  readonly #options: LaneFollowerOptions
  readonly #lanes = new Map<number, FollowedLane>()
  #many: number
  readonly #catchUps = new SharedRun(() => this.#readOn())

  constructor(options: LaneFollowerOptions) {
    this.#options = options
    this.#many = options.manyMessages ?? MANY_MESSAGES
  }

  /** Resolves when everything now committed in the other lanes is known here, or is in the records. */
  catchUp(): Promise<void> {
    return this.#catchUps.ask()
  }

  get(msgId: string, lane: number | null): MessageInProgress | undefined {
    if (lane !== null) return this.#lanes.get(lane)?.messages.get(msgId)
    for (const { messages } of this.#lanes.values()) {
      const message = messages.get(msgId)
      if (message !== undefined) return message
    }
    return undefined
  }

  all(planId: number | null): Iterable<MessageInProgress>[] {
    return Array.from(this.#lanes.values(), ({ messages }) => messages.of(planId))
  }

  get size(): number {
    return this.#lanes.values().reduce((sum, { messages }) => sum + messages.size, 0)
  }

  drop(messages: Iterable<MessageInProgress>): void {
    for (const message of messages)
      for (const followed of this.#lanes.values())
        if (followed.messages.get(message.msgId) === message) drop(followed, message.msgId)
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
    if (this.size >= this.#many) await this.#dropRecorded()
  }

  #dropGone(news: readonly LaneNews[]): void {
    const there = new Set(news.map(({ lane }) => lane))
    for (const lane of this.#lanes.keys()) {
      if (!there.has(lane)) this.#lanes.delete(lane)
    }
  }

  #follow({ lane, cut, entries }: LaneNews): void {
    const followed = this.#lanes.get(lane) ?? {
      n: cut,
      messages: new MessagesByPlan((message) => message),
      entries: new Map(),
    }
    this.#lanes.set(lane, followed)
    dropUpTo(followed, cut)
    for (const { n, data } of entries) {
      const isFence = data.length === 0
      const facts = isFence ? null : this.#decode(lane, data)
      followed.n = facts === null ? NO_FURTHER : n
      // From here on the messages of this lane would only grow stale, so their records are the better answer.
      if (facts === null && !isFence) dropUpTo(followed, NO_FURTHER)
      if (facts === null) return
      for (const fact of facts) this.#learn(followed, fact)
    }
  }

  /** Skips facts of messages that began in another lane or are at rest. A lane may load one of its messages again. */
  #learn({ n, messages, entries }: FollowedLane, { msgId, fact }: JournalFact): void {
    if (isFirst(fact)) {
      messages.add(enteredBy(msgId, fact))
      entries.delete(msgId)
      entries.set(msgId, n)
      return
    }
    const message = messages.get(msgId)
    // Attempts, webhooks and receipts are not kept, because no answer shows them.
    if (message === undefined || fact.kind === 'attempted' || fact.kind === 'event-taken') return
    if (fact.kind === 'noted') return
    addFact(message, fact)
    message.events.length = 0
    message.receipts.length = 0
  }

  /** Null if a newer version wrote it. Logged once, because nothing more of that lane is read. */
  #decode(lane: number, data: Buffer): JournalFact[] | null {
    try {
      return decodeEntry(data)
    } catch (error) {
      this.#options.log.error(
        { err: error },
        `journal lane ${lane} cannot be read: its messages are answered from the records`,
      )
      return null
    }
  }

  async #dropRecorded(): Promise<void> {
    const messages = this.all(null).flatMap((each) => [...each])
    for (let from = 0; from < messages.length; from += BATCH) {
      const batch = messages.slice(from, from + BATCH)
      const recorded = await findRecorded(this.#options.db, batch.map(keyOf))
      this.drop(batch.filter((message) => !isInProgress(this, message, recorded)))
    }
    this.#many = Math.max(this.#options.manyMessages ?? MANY_MESSAGES, 2 * this.size)
  }
}

/** Messages that began up to this entry are in the records, or began again behind it. */
function dropUpTo(followed: FollowedLane, cut: number): void {
  for (const [msgId, n] of followed.entries) {
    if (n > cut) return
    drop(followed, msgId)
  }
}

function drop({ messages, entries }: FollowedLane, msgId: string): void {
  messages.delete(msgId)
  entries.delete(msgId)
}

function isFull({ entries }: LaneNews, bounds: LaneBounds): boolean {
  const octets = entries.reduce((sum, { data }) => sum + data.length, 0)
  return entries.length >= bounds.entries || octets >= bounds.octets
}

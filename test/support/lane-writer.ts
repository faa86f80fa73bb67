/** A node as far as reads can tell: messages in its memory, facts in its lane, and records that it projects. */

import { encodeEntry } from '../../src/domain/journal/entries.ts'
import {
  type Accepted,
  isFirst,
  type JournalFact,
  type Settled,
} from '../../src/domain/journal/message-facts.ts'
import {
  addFact,
  enteredBy,
  type MessageInProgress,
  MessagesByPlan,
} from '../../src/domain/journal/messages-in-progress.ts'
import type { MessageReads, OwnMessages } from '../../src/operations/read-messages.ts'
import { type Database, withTransaction } from '../../src/store/database.ts'
import { appendEntry, type Lane, openLane } from '../../src/store/journal.ts'
import { lockMessages, type MessageKey } from '../../src/store/messages-at-rest.ts'
import { projectMessages } from '../../src/store/projection.ts'
import { newId } from './installation.ts'
import { readsOf } from './message-reads.ts'
import { acceptedFact, projected, receiptFact, settledFact } from './messages-in-memory.ts'

export class LaneWriter implements OwnMessages {
  readonly reads: MessageReads
  readonly #db: Database
  readonly #held: Lane
  readonly #messages = new MessagesByPlan((message) => message)
  /** By message the entry that it begins with, in their order. */
  readonly #entries = new Map<string, number>()
  readonly #leaving = new Set<string>()
  #committed = 0

  private constructor(db: Database, held: Lane) {
    this.#db = db
    this.#held = held
    this.reads = readsOf(db, this)
  }

  static async open(db: Database, nodeId: number): Promise<LaneWriter> {
    return new LaneWriter(db, await openLane(db, nodeId))
  }

  get lane(): number {
    return this.#held.lane
  }

  get size(): number {
    return this.#messages.size
  }

  get(msgId: string): MessageInProgress | undefined {
    return this.#messages.get(msgId)
  }

  all(planId: number | null = null): Iterable<MessageInProgress> {
    return this.#messages.of(planId)
  }

  isLeaving(msgId: string): boolean {
    return this.#leaving.has(msgId)
  }

  /** Commits them as one entry. */
  async write(facts: readonly JournalFact[]): Promise<void> {
    const n = this.#committed + 1
    if ((await appendEntry(this.#db, this.#held, n, encodeEntry(facts))) === 'fenced')
      throw new Error('fenced')
    this.#learn(facts, n)
  }

  #learn(facts: readonly JournalFact[], n: number): void {
    this.#committed = n
    for (const { msgId, fact } of facts) {
      const message = this.get(msgId)
      if (isFirst(fact)) {
        this.#messages.add(enteredBy(msgId, fact))
        this.#entries.delete(msgId)
        this.#entries.set(msgId, n)
      } else if (message !== undefined) addFact(message, fact)
    }
  }

  /** Messages as if just accepted; gives their ids. */
  async accept(planId: number, changes: readonly Partial<Accepted>[] = [{}]): Promise<string[]> {
    const facts = changes.map((change) => accepted(planId, change))
    await this.write(facts)
    return facts.map(({ msgId }) => msgId)
  }

  /** Takes messages out of their records, which are at rest. */
  async load(keys: readonly MessageKey[]): Promise<void> {
    const n = this.#committed + 1
    const facts = await withTransaction(this.#db, async (tx) => {
      const { messages } = await lockMessages(tx, keys)
      const ids = [...messages.keys()]
      await tx.query('update messages set lane = $1 where msg_id = any ($2)', [this.lane, ids])
      await tx.query('delete from dispatches where msg_id = any ($1)', [ids])
      const loaded = Array.from(messages.values(), ({ msgId, accepted, loaded }) => ({
        msgId,
        fact: { kind: 'loaded' as const, accepted, ...loaded! },
      }))
      if ((await appendEntry(tx, this.#held, n, encodeEntry(loaded))) === 'fenced') throw new Error('fenced')
      return loaded
    })
    this.#learn(facts, n)
  }

  async project(msgIds: readonly string[]): Promise<void> {
    const leaving = msgIds.filter((msgId) => this.#entries.has(msgId) && !this.#leaving.has(msgId))
    for (const msgId of leaving) this.#leaving.add(msgId)
    const goes = new Set(leaving)
    const staying = [...this.#entries].find(([msgId]) => !goes.has(msgId))
    const cut = staying === undefined ? this.#committed : staying[1] - 1
    const records = leaving.map((msgId) => projected(this.get(msgId)!))
    if ((await projectMessages(this.#db, this.#held, records, cut)) === 'fenced') throw new Error('fenced')
    for (const msgId of leaving) {
      this.#messages.delete(msgId)
      this.#entries.delete(msgId)
      this.#leaving.delete(msgId)
    }
  }
}

/** Of increasing ids, as if no two were accepted in one millisecond. */
export function accepted(planId: number, changes: Partial<Accepted> = {}): { msgId: string; fact: Accepted } {
  lastMs = Math.max(Date.now(), lastMs + 1)
  const msgId = newId(lastMs)
  return { msgId, fact: acceptedFact(planId, msgId, changes) }
}

let lastMs = 0

export function settled(msgId: string, changes: Partial<Settled> = {}): JournalFact {
  return { msgId, fact: settledFact(Date.now(), changes) }
}

export function received(msgId: string): JournalFact {
  return { msgId, fact: receiptFact(msgId, Date.now()) }
}

/** Facts of messages at rest. `addFact` decides what they do, as for messages in memory. */
import type { Directory } from '../domain/configuration/directory.ts'
import type { EventHolder } from '../domain/events.ts'
import { bucketOf } from '../domain/identifiers.ts'
import type { LaterFact } from '../domain/journal/message-facts.ts'
import {
  addFact,
  type ChangedMessage,
  changedMessage,
  type MessageInProgress,
} from '../domain/journal/messages-in-progress.ts'
import type { StateChange } from '../domain/statistics/tallies.ts'
import { isPushed } from '../domain/webhooks/targets.ts'
import { type Database, type Transaction, withTransaction } from '../store/database.ts'
import { lockMessages, type MessageKey } from '../store/messages-at-rest.ts'
import { writeRecords } from '../store/records.ts'

/** What happened to a message. */
export interface FactAtRest extends MessageKey {
  readonly fact: LaterFact
}

/** Who delivers the events of a change, and who hears of every change of a state once it is committed. */
export interface Announcing {
  readonly directory: Directory
  readonly holder: EventHolder
  readonly onState?: ((change: StateChange) => void) | undefined
}

/**
 * Adds facts to messages at rest, in the order given, in one transaction. Returns the messages whose status changed, and the
 * ids of those that a lane has in progress, which are left unchanged. Facts of messages that are unknown, or no longer kept,
 * are dropped. Repeated receipts and settlements change nothing.
 */
export async function recordFacts(
  db: Database,
  facts: readonly FactAtRest[],
  announcing: Announcing,
): Promise<{ readonly changed: readonly ChangedMessage[]; readonly elsewhere: ReadonlySet<string> }> {
  if (facts.length === 0) return { changed: [], elsewhere: new Set() }
  const keys = new Map(facts.map(({ planId, msgId }) => [msgId, { planId, msgId }]))
  const changes = new ChangesAtRest(announcing)
  const recorded = await withTransaction(db, async (tx) => {
    const { messages, elsewhere } = await lockMessages(tx, [...keys.values()])
    for (const { msgId, fact } of facts) {
      const message = messages.get(msgId)
      if (message !== undefined) changes.add(message, fact)
    }
    return { changed: await changes.write(tx), elsewhere }
  })
  changes.committed()
  return recorded
}

/** The changes that facts make to messages which a transaction has locked. */
export class ChangesAtRest {
  readonly #announcing: Announcing
  readonly #messages = new Set<MessageInProgress>()
  readonly #changed: ChangedMessage[] = []
  readonly #states: StateChange[] = []

  constructor(announcing: Announcing) {
    this.#announcing = announcing
  }

  add(message: MessageInProgress, fact: LaterFact): void {
    this.#messages.add(message)
    const before = message.state
    const event = addFact(message, fact)
    if (message.state !== before) this.#states.push({ message, before, after: message.state, fact })
    if (event !== null) this.#changed.push(changedMessage(message, event, false))
  }

  /** Writes the changes into the records. Returns the messages whose status changed, each as it was announced. */
  async write(tx: Transaction): Promise<readonly ChangedMessage[]> {
    if (this.#messages.size === 0) return []
    const { directory, holder } = this.#announcing
    const buckets = new Set(holder.buckets)
    const records = Array.from(this.#messages, (message) => ({
      message,
      holder: buckets.has(bucketOf(message.msgId)) ? holder.nodeId : null,
      delivers: isPushed(message.accepted.callbackUrl, directory.planById(message.accepted.planId)),
    }))
    const held = await writeRecords(tx, records, null)
    return this.#changed.map((message) => ({ ...message, held: held.has(message.msgId) }))
  }

  committed(): void {
    const { onState } = this.#announcing
    if (onState !== undefined) for (const change of this.#states) onState(change)
  }
}

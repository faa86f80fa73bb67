/**
 * The journal holds what a dead node had in memory. The node that finds its lane writes those messages into the tables, where
 * they are due for the owners of their buckets. This may stop at any point: the next call continues.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { decodeEntry } from '../domain/journal/entries.ts'
import { type FirstFact, isFirst, type JournalFact } from '../domain/journal/message-facts.ts'
import { addFact, enteredBy, type MessageInProgress } from '../domain/journal/messages-in-progress.ts'
import { CROWDED_MS } from '../domain/webhooks/retries.ts'
import type { Log } from '../log.ts'
import type { Database } from '../store/database.ts'
import { releaseEvents } from '../store/event-deliveries.ts'
import {
  type DeadLane,
  deleteLane,
  endStandingCopy,
  findDeadLanes,
  type JournalEntry,
  type Lane,
  leaveLane,
  readEntries,
  takeOverLane,
} from '../store/journal.ts'
import { findRecorded, projectMessages } from '../store/projection.ts'
import { unparkStray } from '../store/webhook-destinations.ts'
import { writeInHalves } from './batches.ts'

/** Entries read at once. Those of a busy node are large, and fewer of them are read; those of a quiet one are many and small. */
const ENTRIES_OF_PAGE = 1_000
const MESSAGES_OF_CHUNK = 1_000
/** A takeover may wait for a statement that hangs, and the other lanes must not wait with it. */
const LANES_AT_ONCE = 4
/** Time before a look at who holds a lane. Usually nobody does, and none is needed. */
const LOOK_MS = 1_000
/** More are found by the sweep of `Maintenance`. */
const MOST_STRAY = 1_000
/** Logged for a lane that a newer version wrote, and for a message that the database refuses. */
const LEFT = 'messages left in the journal'
const RECORDED = 'recorded what a dead node had in memory; its last 10 s may be missing in the statistics'

export interface Recovery {
  readonly nodeId: number
  /** How long a message whose attempt was in flight waits for news of it. */
  readonly ambiguityWaitMs: number
  /** Whether the message's events go to a URL. */
  readonly delivers: (message: MessageInProgress) => boolean
  readonly log: Log
  readonly standingCopyMs?: number
}

/**
 * Recovers the lanes of dead nodes. Returns how many messages were written. A node calls it again from time to time, one
 * call after another. Each call retries what the last one left.
 *
 * @throws the error of the first lane that failed, once all other lanes have been tried
 */
export async function recoverLanes(db: Database, recovery: Recovery): Promise<number> {
  const lanes = (await findDeadLanes(db, recovery.nodeId)).values()
  const failures: unknown[] = []
  let written = 0
  let isAnyGone = false
  const recoverNext = async () => {
    for (const lane of lanes) {
      try {
        const recovered = await recoverLane(db, lane, recovery)
        written += recovered.written
        isAnyGone ||= recovered.isGone
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: LANES_AT_ONCE }, recoverNext))
  // Only their nodes remembered what they had parked for a destination that has recovered by now.
  if (isAnyGone) await unparkStray(db, CROWDED_MS, MOST_STRAY)
  if (written > 0) recovery.log.info({ messages: written }, RECORDED)
  if (failures.length > 0) throw failures[0]
  return written
}

/** `isGone`: the lane is dropped, so none of its statements runs any more. */
interface Recovered {
  readonly written: number
  readonly isGone: boolean
}

async function recoverLane(db: Database, dead: DeadLane, recovery: Recovery): Promise<Recovered> {
  const held = await takeOver(db, dead, recovery)
  if (held === null) return { written: 0, isGone: false }
  // A node taken for dead may commit its last projection after its events were released, but no later than the takeover of its
  // lane, which waits for it.
  await releaseEvents(db)
  const unprojected = new Unprojected(held.lane)
  let last = held.cut
  for (;;) {
    const entries = await readEntries(db, held.lane, last, ENTRIES_OF_PAGE)
    if (entries.length === 0) break
    last = entries.at(-1)!.n
    const facts = readFacts(entries)
    if (facts instanceof RangeError) {
      await leaveLane(db, held)
      recovery.log.error({ err: facts }, LEFT)
      return { written: 0, isGone: false }
    }
    await unprojected.add(db, facts)
  }
  const outcome = await writeMessages(db, held, [...unprojected.messages.values()], {
    ...recovery,
    of: dead,
  })
  const { written, isComplete } = outcome
  if (!isComplete) return { written, isGone: false }
  const isWritten = last === held.cut || (await projectMessages(db, held, [], last)) === 'written'
  return { written, isGone: isWritten && (await deleteLane(db, held)) }
}

/** Waits for the holder of the lane, and checks each second whether that process stands still. */
async function takeOver(db: Database, dead: DeadLane, { nodeId, log, standingCopyMs }: Recovery) {
  const taken = new AbortController()
  const isHeld = () => wait(LOOK_MS, true, { signal: taken.signal }).catch(() => false)
  const looks = (async () => {
    while (await isHeld()) {
      try {
        const pids = await endStandingCopy(db, dead.lane, standingCopyMs)
        if (pids.length > 0) log.warn({ lane: dead.lane, pids }, 'ended a session that was stuck in a COPY')
      } catch (error) {
        log.warn({ err: error, lane: dead.lane }, 'cannot tell whether a session holds a dead lane')
      }
    }
  })()
  try {
    return await takeOverLane(db, dead, nodeId)
  } finally {
    taken.abort()
    await looks
  }
}

/** Returns an error if this version does not know the form of an entry. */
function readFacts(entries: readonly JournalEntry[]): JournalFact[] | RangeError {
  try {
    return entries.flatMap(({ data }) => decodeEntry(data))
  } catch (error) {
    if (error instanceof RangeError) return error
    throw error
  }
}

/** The messages in progress in a lane, without those that are back in their records or in a later lane. */
class Unprojected {
  readonly messages = new Map<string, MessageInProgress>()
  readonly #lane: number

  constructor(lane: number) {
    this.#lane = lane
  }

  async add(db: Database, facts: readonly JournalFact[]): Promise<void> {
    const keys = facts.flatMap(({ msgId, fact }) => (isFirst(fact) ? [{ planId: planOf(fact), msgId }] : []))
    const recorded = await findRecorded(db, keys)
    for (const { msgId, fact } of facts) {
      const message = this.messages.get(msgId)
      const isHere = fact.kind === 'loaded' ? recorded.get(msgId) === this.#lane : !recorded.has(msgId)
      if (!isFirst(fact)) message && addFact(message, fact)
      else if (isHere) this.messages.set(msgId, enteredBy(msgId, fact))
    }
  }
}

function planOf(fact: FirstFact): number {
  return fact.kind === 'accepted' ? fact.planId : fact.accepted.planId
}

/** Completes the lane if all of them are written and nobody else has taken it meanwhile. */
async function writeMessages(
  db: Database,
  held: Lane & { readonly cut: number },
  messages: readonly MessageInProgress[],
  { of: { foundAtMs }, ambiguityWaitMs, delivers, log }: Recovery & { readonly of: DeadLane },
): Promise<{ written: number; isComplete: boolean }> {
  let written = 0
  for (let at = 0; at < messages.length; at += MESSAGES_OF_CHUNK) {
    const chunk = messages.slice(at, at + MESSAGES_OF_CHUNK).map((message) => {
      addFact(message, { kind: 'orphaned', atMs: foundAtMs, ambiguityWaitMs })
      return { message, holder: null, delivers: delivers(message) }
    })
    const outcomes = await writeInHalves(
      chunk,
      async (part) => {
        const outcome = await projectMessages(db, held, part, held.cut)
        return part.map(() => outcome)
      },
      (_, error) => {
        log.error({ err: error }, LEFT)
        return 'refused' as const
      },
    )
    written += outcomes.filter((outcome) => outcome === 'written').length
    if (outcomes.includes('fenced')) break
  }
  return { written, isComplete: written === messages.length }
}

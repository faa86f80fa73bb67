import { setTimeout as wait } from 'node:timers/promises'
import type { Directory } from '../../domain/directory.ts'
import { isPushed } from '../../domain/webhook-targets.ts'
import type { Log } from '../../log.ts'
import { recoverLanes } from '../../operations/recover-lanes.ts'
import type { Database } from '../../store/database.ts'
import { findAtRest } from '../../store/projection.ts'
import type { NodeLease } from '../node/node-lease.ts'
import { PeriodicTask } from '../node/periodic-task.ts'

/** Lanes that are taken over: by this node from dead ones, and by another node from this one. */

export interface LaneRecoveryOptions {
  readonly db: Database
  readonly directory: () => Directory
  readonly lease: Pick<NodeLease, 'nodeId'>
  /** How long a message whose attempt was in flight waits for news of it. */
  readonly ambiguityWaitMs: number
  readonly log: Log
}

/** A recovered lane is removed when nobody can append to it any more. */
const RECOVERY_MS = 10_000
/** Shorter, because the messages of a dead node wait for the retry. */
const RECOVERY_RETRY_MS = 500

/**
 * Writes the messages that dead nodes had in memory into the records. It runs apart from the heartbeats, which cannot wait:
 * recovering a busy node takes some seconds. It is woken when a node may have died.
 */
export function laneRecovery(options: LaneRecoveryOptions): PeriodicTask {
  const { db, directory, lease, ambiguityWaitMs, log } = options
  return new PeriodicTask({
    run: async () => {
      const messages = await recoverLanes(db, {
        nodeId: lease.nodeId,
        ambiguityWaitMs,
        delivers: ({ accepted }) => isPushed(accepted.callbackUrl, directory().planById(accepted.planId)),
        log,
      })
      if (messages > 0) log.info({ messages }, 'recorded what a dead node had in memory')
    },
    intervalMs: RECOVERY_MS,
    retryMs: RECOVERY_RETRY_MS,
    log,
    failure: 'lanes of dead nodes not recovered',
  })
}

export interface LostMessagesOptions {
  readonly db: Database
  readonly log: Log
  /** Monotonic, milliseconds. Default: the clock of the process. */
  readonly clock?: (() => number) | undefined
}

const POLL_MS = 200
/** Recovering very many messages takes some seconds. A longer wait means that the recovery fails. */
const MOST_WAIT_MS = 60_000

/** Messages of a lane that was taken over. News of them goes into their records, once the new owner has written those. */
export class LostMessages {
  readonly #options: LostMessagesOptions
  readonly #clock: () => number
  /** The plan of each message, by message id. */
  readonly #plans = new Map<string, number>()
  #lostAtMs = 0

  constructor(options: LostMessagesOptions) {
    this.#options = options
    this.#clock = options.clock ?? (() => performance.now())
  }

  /** Messages of lanes lost long ago are dropped: nobody has asked for them. */
  add(msgId: string, planId: number): void {
    const nowMs = this.#clock()
    if (nowMs - this.#lostAtMs > MOST_WAIT_MS) this.#plans.clear()
    this.#lostAtMs = nowMs
    this.#plans.set(msgId, planId)
  }

  has(msgId: string): boolean {
    return this.#plans.has(msgId)
  }

  /** Resolves when the new owner has written these messages, or when that takes too long. Rejects while the database is away. */
  async untilRecorded(msgIds: readonly string[]): Promise<void> {
    const { db, log } = this.#options
    // While the database is away nobody can recover a lane, so that time does not count.
    for (let sinceMs: number | null = null; ; ) {
      const ids = msgIds.flatMap((msgId) => {
        const planId = this.#plans.get(msgId)
        return planId === undefined ? [] : [{ planId, msgId }]
      })
      if (ids.length === 0) return
      for (const msgId of await findAtRest(db, ids)) this.#plans.delete(msgId)
      const missing = ids.filter(({ msgId }) => this.#plans.has(msgId))
      if (missing.length === 0) return
      sinceMs ??= this.#clock()
      if (this.#clock() - sinceMs > MOST_WAIT_MS) {
        log.error(
          { err: new Error(`${missing.length} messages`) },
          'messages of a lost lane without a record',
        )
        for (const { msgId } of missing) this.#plans.delete(msgId)
        return
      }
      await wait(POLL_MS)
    }
  }
}

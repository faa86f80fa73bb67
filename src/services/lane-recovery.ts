import type { Directory } from '../domain/directory.ts'
import { isPushed } from '../domain/webhook-targets.ts'
import { recoverLanes } from '../operations/recover-lanes.ts'
import type { Database } from '../store/database.ts'

export interface LaneRecoveryOptions {
  readonly db: Database
  readonly directory: () => Directory
  readonly nodeId: () => number
  /** How long a message whose attempt was under way waits for news of it. */
  readonly ambiguityWaitMs: number
  readonly onRecovered: (messages: number) => void
  readonly onError: (message: string, error: unknown) => void
}

/** A lane that was recovered goes when nobody can append to it any more. */
const INTERVAL_MS = 10_000

/**
 * Writes into the records what dead nodes had in memory. Beside the heartbeats, which cannot wait for it: what a busy node
 * leaves takes some seconds.
 */
export class LaneRecovery {
  readonly #options: LaneRecoveryOptions
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  #isWoken = false
  #stopped = false

  constructor(options: LaneRecoveryOptions) {
    this.#options = options
  }

  /** A node may have died. */
  wake(): void {
    this.#isWoken = true
    if (this.#stopped || this.#running !== null) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#running = this.#run().finally(() => {
      this.#running = null
      if (this.#isWoken) this.wake()
      else if (!this.#stopped) this.#timer = setTimeout(() => this.wake(), INTERVAL_MS)
    })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#running
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    this.#isWoken = false
    const { db, directory, nodeId, ambiguityWaitMs, onRecovered, onError } = this.#options
    try {
      const messages = await recoverLanes(db, {
        nodeId: nodeId(),
        ambiguityWaitMs,
        delivers: ({ accepted }) => isPushed(accepted.callbackUrl, directory().planById(accepted.planId)),
        onError: (error) => onError('messages left in the journal', error),
      })
      if (messages > 0) onRecovered(messages)
    } catch (error) {
      onError('lanes of dead nodes not recovered', error)
    }
  }
}

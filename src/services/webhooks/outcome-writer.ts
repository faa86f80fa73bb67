import { setTimeout as wait } from 'node:timers/promises'
import { Batcher, type BatchMeter, type OnWritten, writeInHalves } from '../../operations/batches.ts'
import type { DeliveryOutcome } from '../../outbound/webhook-post.ts'
import { isAway, ServerAwayError } from '../../store/citus.ts'
import {
  type AttemptRow,
  type RequeuedEvent,
  recordAttempts,
  requeueEvents,
  type WebhookEvent,
} from '../../store/event-deliveries.ts'
import type { MessageKey } from '../../store/messages-at-rest.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import type { MessagesInProgress } from '../messages/messages-in-progress.ts'

export interface OutcomeWriterOptions extends Pick<NodeParts, 'db' | 'log'> {
  readonly inProgress: Pick<MessagesInProgress, 'project' | 'away'>
  readonly onBatch?: BatchMeter | undefined
  readonly onWritten?: OnWritten | undefined
}

const RETRY_MS = 500
const MAX_BATCH = 500

/**
 * Records the outcomes of deliveries in batches, and keeps retrying: an event without its outcome would be delivered again,
 * or by nobody.
 */
export class OutcomeWriter {
  readonly #options: OutcomeWriterOptions
  readonly #attempts: Batcher<AttemptRow, boolean>
  readonly #requeued: Batcher<RequeuedEvent, boolean>
  #failing = false
  #ended = false

  constructor(options: OutcomeWriterOptions) {
    this.#options = options
    const { db, onBatch, onWritten } = options
    const limits = { maxBatch: MAX_BATCH, maxInFlight: 1 }
    this.#attempts = new Batcher({
      ...limits,
      write: async (rows) => {
        onBatch?.('webhook-attempts', rows.length)
        const sinceMs = performance.now()
        const written = await this.#write(rows, (attempts) => recordAttempts(db, attempts))
        onWritten?.('webhook-attempts', rows, sinceMs)
        return written
      },
    })
    this.#requeued = new Batcher({
      ...limits,
      write: (rows) => this.#write(rows, (events) => requeueEvents(db, events)),
    })
  }

  /** True while the database does not take outcomes. */
  get failing(): boolean {
    return this.#failing
  }

  /** Resolves when the attempt is written, or given up for good. */
  async record(attempt: AttemptRow): Promise<true> {
    return await this.#untilWritten(this.#attempts, attempt)
  }

  /** Resolves as `record` does. */
  async requeue(events: readonly RequeuedEvent[]): Promise<void> {
    await Promise.all(events.map((event) => this.#untilWritten(this.#requeued, event)))
  }

  /** While the server with its record is away, an outcome waits without holding up others. */
  async #untilWritten<Row>(batcher: Batcher<Row, boolean>, row: Row): Promise<true> {
    while (!(await batcher.add(row))) await wait(RETRY_MS)
    return true
  }

  /** Outcomes that cannot be written now are given up. */
  end(): void {
    this.#ended = true
  }

  /**
   * Returns false for each row whose server is down, if there are several (Citus): the caller tries it again. After `end` all
   * are true, written or given up.
   */
  async #write<Row extends MessageKey>(
    rows: readonly Row[],
    write: (rows: readonly Row[]) => Promise<void>,
  ): Promise<readonly boolean[]> {
    const { away } = this.#options.inProgress
    const all = async (part: readonly Row[]) => {
      await write(part)
      return part.map(() => true)
    }
    for (;;) {
      const isReachable = rows.map(({ planId }) => !isAway(this.#options.db, planId))
      const written = rows.filter((_, index) => isReachable[index])
      try {
        await this.#options.inProgress.project(written.map(({ msgId }) => msgId))
        await writeInHalves(written, all, (_row, error) => {
          if (error instanceof ServerAwayError) throw error
          this.#options.log.error({ err: error }, 'webhook outcome refused by the database')
          return true
        })
        this.#failing = false
        return isReachable.map((is) => is || this.#ended)
      } catch (error) {
        if (error instanceof ServerAwayError || (await away.probeFindsNew())) continue
        this.#failing = true
        this.#options.log.error({ err: error }, 'webhook outcomes not recorded yet')
        if (this.#ended) return rows.map(() => true)
        await wait(RETRY_MS)
      }
    }
  }
}

/** An attempt, and what was decided after it. Of `kept`, where there was no attempt, the record has none of the figures. */
export function attemptRow(
  { event, destination }: { readonly event: WebhookEvent; readonly destination: string | null },
  { latencyMs, status, error, responseHead }: DeliveryOutcome,
  { decision, delayMs }: Pick<AttemptRow, 'decision' | 'delayMs'>,
  attemptedAtMs: number,
): AttemptRow {
  const { planId, msgId, sequence, holder, waited, failedAttempts, earlierAttempts } = event
  return {
    planId,
    msgId,
    sequence,
    holder,
    waited,
    latencyMs,
    error,
    destination,
    decision,
    delayMs,
    failedAttempts: failedAttempts + 1,
    attempt: earlierAttempts + failedAttempts + 1,
    attemptedAt: new Date(attemptedAtMs).toISOString(),
    responseStatus: status,
    responseHead: responseHead === '' ? null : responseHead,
  }
}

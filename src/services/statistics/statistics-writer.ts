import type { Accepted } from '../../domain/journal/message-facts.ts'
import { countryOf } from '../../domain/routing/recipients.ts'
import { COMPLETE_AFTER_MS, FLUSH_MS } from '../../domain/statistics/query.ts'
import { type StateChange, StatisticsTallies } from '../../domain/statistics/tallies.ts'
import type { ReceivedInbound } from '../../operations/receive-inbound.ts'
import type { WebhookEvent } from '../../store/event-deliveries.ts'
import { nextWriter, writeStatistics } from '../../store/statistics.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

export interface StatisticsWriterOptions extends Pick<NodeParts, 'db' | 'log'> {
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly intervalMs?: number | undefined
}

const MAX_BATCH = 1_000

/**
 * Counts what happens to messages in this process, and writes the counts every 5 s. A row holds all of its minute and replaces
 * the one before, so a write can be repeated. A crash loses what was counted since the last write began.
 */
export class StatisticsWriter {
  readonly #options: StatisticsWriterOptions
  readonly #tallies = new StatisticsTallies()
  readonly #task: PeriodicTask
  #writer: number | null = null

  constructor(options: StatisticsWriterOptions) {
    this.#options = options
    const { intervalMs = FLUSH_MS, log } = options
    this.#task = new PeriodicTask(log, 'statistics not written', intervalMs, () => this.runOnce())
  }

  /** A message is committed, this long after its request. */
  accepted(message: Accepted, latencyMs: number): void {
    this.#tallies.accepted(this.#options.clock(), message, latencyMs)
  }

  /** A fact has changed the state of a message. */
  changed(change: StateChange): void {
    this.#tallies.changed(this.#options.clock(), change)
  }

  /** An inbound message of a plan is recorded. */
  inbound({ inbound: { planId, sender }, carrierId }: ReceivedInbound): void {
    this.#tallies.inbound(this.#options.clock(), planId, carrierId, countryOf(sender))
  }

  /** An event was answered 2xx, this long after its change, or after it was redelivered by hand. */
  delivered({ planId, payload, beganAtMs }: WebhookEvent): void {
    const country = payload.direction === 'MT' ? payload.message.country : countryOf(payload.inbound.sender)
    const nowMs = this.#options.clock()
    this.#tallies.webhook(nowMs, planId, country, Math.max(nowMs - beganAtMs, 0))
  }

  start(): void {
    this.#task.start()
  }

  /** Writes the counts. Never rejects. */
  async stop(): Promise<void> {
    await this.#task.stop()
    await this.runOnce().catch((error) => this.#options.log.error({ err: error }, 'statistics lost'))
  }

  /** Writes what was counted since the last time. Returns the rest of the interval, in ms: a slow write does not lengthen it. */
  async runOnce(): Promise<number> {
    const { clock, log, intervalMs = FLUSH_MS } = this.#options
    const beganAtMs = clock()
    await this.#write(beganAtMs)
    const tookMs = clock() - beganAtMs
    if (tookMs > COMPLETE_AFTER_MS - FLUSH_MS)
      log.warn({ tookMs }, 'statistics written late: a crash would have lost more than 10 s of them')
    return Math.min(Math.max(intervalMs - tookMs, 0), intervalMs)
  }

  async #write(nowMs: number): Promise<void> {
    const { db, log } = this.#options
    const { minutes, dropped } = this.#tallies.due(nowMs)
    if (dropped > 0)
      log.warn({ minutes: dropped }, 'statistics of minutes dropped: they could not be written')
    for (const minute of minutes) {
      const rows = minute.takeNews()
      try {
        for (let at = 0; at < rows.length; at += MAX_BATCH) {
          this.#writer ??= await nextWriter(db)
          await writeStatistics(db, this.#writer, rows.slice(at, at + MAX_BATCH))
        }
      } catch (error) {
        minute.putBack()
        throw error
      }
      this.#tallies.written(minute)
    }
  }
}

import { NO_HOLDER } from '../../domain/events.ts'
import { createdAtMs, highestIdAt, lowestIdAt } from '../../domain/identifiers.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../domain/instants.ts'
import type { IncomingReceipt } from '../../domain/journal/incoming-receipts.ts'
import { RECEIPT_GRACE_MS, VALIDITY_MS } from '../../domain/messages/messages.ts'
import { HOURS_KEPT_MS, MINUTES_KEPT_MS, ROLL_UP_AFTER_MS } from '../../domain/statistics/query.ts'
import { CROWDED_MS } from '../../domain/webhooks/retries.ts'
import {
  deliverCompleteSets,
  deliverIncompleteSets,
  type InboundDeps,
} from '../../operations/receive-inbound.ts'
import { type Announcing, recordFacts } from '../../operations/record-facts.ts'
import { IDEMPOTENCY_LIFETIME_MS } from '../../operations/sends/idempotency-keys.ts'
import { deleteOldAuditEntries } from '../../store/audit-log.ts'
import { byServer } from '../../store/citus.ts'
import { deleteDeliveriesBefore, releaseEvents, requeueStranded } from '../../store/event-deliveries.ts'
import { deleteOldIdempotencyKeys } from '../../store/idempotency-keys.ts'
import { deleteUnownedBefore } from '../../store/inbound-messages.ts'
import { deleteOldOffers } from '../../store/inbound-offers.ts'
import { findOverdueMessages } from '../../store/messages.ts'
import {
  deleteOldParkedReceipts,
  findMatchableReceipts,
  type ParkedPlace,
} from '../../store/parked-receipts.ts'
import { deleteOldQualityMinutes } from '../../store/quality.ts'
import { deleteIdleBuckets } from '../../store/rate-usage.ts'
import { deleteOldStatistics, rollUpStatistics } from '../../store/statistics.ts'
import { deleteOldUnansweredSubmits } from '../../store/unanswered-submits.ts'
import { unparkStray } from '../../store/webhook-destinations.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'
import { OFFERED_AGAIN_WITHIN_MS } from '../receiving/inbound-offers.ts'
import { UNANSWERED_LIFETIME_MS } from '../receiving/receipts-by-address.ts'
import { dropOldPartitions, ensurePartitions, findKept } from './day-partitions.ts'

export interface MaintenanceOptions extends NodeParts {
  readonly newMessageId: () => string
  /** Days that messages, inbound messages and webhook attempts are kept. */
  readonly retentionDays: number
  /** Days that entries of the audit log are kept, by the database's clock. */
  readonly auditRetentionDays: number
  /** Whether the clocks of this node and of the database agree. Default: they always do. */
  readonly isClockCertain?: () => boolean
  /** Applies parked receipts, at most one per (carrier, id); resolves when that is recorded. */
  readonly applyReceipts: (receipts: readonly IncomingReceipt[]) => Promise<unknown>
  /** Parked receipts whose id can be read or looked up by now. `more`: there are others. */
  readonly translateReceipts: () => Promise<{ receipts: readonly IncomingReceipt[]; more: boolean }>
  /** See `InboundDeps`. */
  readonly onUnowned?: InboundDeps['onUnowned']
  readonly onOwned?: InboundDeps['onOwned']
  /** Inbound messages could not be recorded. */
  readonly onSweepFailed?: () => Promise<unknown>
  /** See `Announcing`. */
  readonly onState?: Announcing['onState']
}

const MANY_DAYS = 'several days are older than RETENTION_DAYS: is a clock wrong? One is dropped each hour'

type Job = readonly [name: string, intervalMs: number, run: () => Promise<unknown>]

/** The first runs of the jobs after a start follow each other after this pause. */
const STAGGER_MS = 250

/** Rows changed by one statement. MAX_BATCHES: statements in one run of a job. */
const BATCH_ROWS = 1_000
/** 200,000 rows each minute: more than keys can be added in a minute. */
const MAX_BATCHES = 200

const RECEIPT_BATCH = 500
const MAX_RECEIPT_BATCHES = 10
/**
 * Receipts parked within this time are looked at in every run, because their submission may just have been recorded
 * elsewhere.
 */
const RECENT_MS = 2 * MINUTE_MS
const OLDEST: ParkedPlace = { parkedAt: new Date(0).toISOString(), parkedId: 0 }
/** How long a receipt without a submission waits for one. */
const PARKED_LIFETIME_MS = 72 * HOUR_MS
/** As long as submissions. No receipt is matched later, so older minutes no longer change. */
const QUALITY_LIFETIME_MS = 8 * DAY_MS

/** errorCode of a message whose receipt did not come in time. */
const NO_RECEIPT = '601'
const OVERDUE_AFTER_MS = VALIDITY_MS + RECEIPT_GRACE_MS
/** Messages are looked through in the order of their creation, this period at a time. */
const OVERDUE_STEP_MS = 10 * MINUTE_MS
/** How far back a node begins when it starts. This makes up for a weekend on which nothing ran. */
const OVERDUE_LOOKBACK_MS = 72 * HOUR_MS
/** Enough to look back over hours that all have messages, and for 50,000 messages of one step. */
const MAX_OVERDUE_STEPS = OVERDUE_LOOKBACK_MS / OVERDUE_STEP_MS + 50

/**
 * The housekeeping of the database. It runs on every node at once without any agreement between nodes: each job consists of
 * statements that find nothing to do if another node was first. Ages of queued rows are by the database's clock, days and
 * message ids by `clock`.
 */
export class Maintenance {
  readonly #options: MaintenanceOptions
  readonly #jobs: readonly Job[]
  readonly #tasks: readonly PeriodicTask[]
  #stopping = false
  /** How far the older parked receipts have been looked through. */
  #lookedTo = OLDEST
  /** Messages created before this are known not to be overdue, or are UNKNOWN already. */
  #overdueFromMs: number | null = null

  constructor(options: MaintenanceOptions) {
    this.#options = options
    const { db, clock, auditRetentionDays } = options
    const sweep = (statement: (limit: number) => Promise<number>) => () => this.#sweep(statement)
    this.#jobs = [
      // The clock may be days ahead at once, after a machine has slept.
      ['partitions', MINUTE_MS, () => ensurePartitions(db, clock())],
      ['parked receipts', 5 * SECOND_MS, () => this.#applyParkedReceipts()],
      ['complete inbound messages', 10 * SECOND_MS, () => this.#sweepInbound(deliverCompleteSets)],
      ['incomplete inbound messages', MINUTE_MS, () => this.#sweepInbound(deliverIncompleteSets)],
      ['overdue messages', MINUTE_MS, () => this.#expireOverdue()],
      [
        'idempotency keys',
        MINUTE_MS,
        sweep((most) => deleteOldIdempotencyKeys(db, IDEMPOTENCY_LIFETIME_MS, most)),
      ],
      [
        'old parked receipts',
        10 * MINUTE_MS,
        sweep((most) => deleteOldParkedReceipts(db, PARKED_LIFETIME_MS, most)),
      ],
      [
        'old unanswered submits',
        10 * MINUTE_MS,
        sweep((most) => deleteOldUnansweredSubmits(db, UNANSWERED_LIFETIME_MS, most)),
      ],
      ['old inbound offers', MINUTE_MS, sweep((most) => deleteOldOffers(db, OFFERED_AGAIN_WITHIN_MS, most))],
      [
        'old quality minutes',
        10 * MINUTE_MS,
        sweep((most) => deleteOldQualityMinutes(db, QUALITY_LIFETIME_MS, most)),
      ],
      ['statistics', MINUTE_MS, () => this.#rollUpStatistics()],
      ['old statistics', MINUTE_MS, sweep((most) => this.#deleteOldStatistics(most))],
      ['stray webhook events', 10 * MINUTE_MS, () => this.#requeueStray()],
      [
        'old rows of the audit log',
        HOUR_MS,
        sweep((most) => deleteOldAuditEntries(db, auditRetentionDays, most)),
      ],
      ['idle rate limits', HOUR_MS, sweep((most) => deleteIdleBuckets(db, most))],
      ['retention', HOUR_MS, () => this.#enforceRetention()],
    ]
    this.#tasks = this.#jobs.map(
      ([name, intervalMs, run]) => new PeriodicTask(options.log, failureOf(name), intervalMs, run),
    )
  }

  /** Runs every job soon, then again after its interval. Call `ensurePartitions` first. */
  start(): void {
    this.#stopping = false
    for (const [index, task] of this.#tasks.entries()) task.start((index + 1) * STAGGER_MS)
  }

  /** Starts no more statements. Resolves when those in flight have ended. */
  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all(this.#tasks.map((task) => task.stop()))
  }

  /** Runs every job once, one after the other. Never rejects: failures are logged. */
  async runOnce(): Promise<void> {
    for (const [name, , run] of this.#jobs)
      await run().catch((error: unknown) => this.#options.log.error({ err: error }, failureOf(name)))
  }

  /** Applies recent receipts in every run, and a batch of the others in turn: a million are looked at within three hours. */
  async #applyParkedReceipts(): Promise<void> {
    await this.#repeat(MAX_RECEIPT_BATCHES, async () => {
      const { receipts, more } = await this.#options.translateReceipts()
      await this.#apply(receipts)
      return more
    })
    let from = { ...OLDEST, parkedAt: new Date(this.#options.clock() - RECENT_MS).toISOString() }
    await this.#repeat(MAX_RECEIPT_BATCHES, async () => {
      const last = await this.#applyBehind(from)
      from = last ?? from
      return last !== null
    })
    await this.#repeat(1, async () => {
      this.#lookedTo = (await this.#applyBehind(this.#lookedTo)) ?? OLDEST
      return false
    })
  }

  async #applyBehind(position: ParkedPlace): Promise<ParkedPlace | null> {
    const { receipts, last } = await findMatchableReceipts(this.#options.db, position, RECEIPT_BATCH)
    await this.#apply(receipts)
    return last
  }

  /** Receipts of one id are applied one after the other, because the second depends on the effect of the first. */
  async #apply(receipts: readonly IncomingReceipt[]): Promise<void> {
    const ofIds = [...Map.groupBy(receipts, receiptKey).values()]
    for (let round = 0; ofIds.some((own) => own.length > round); round += 1)
      await this.#options.applyReceipts(ofIds.flatMap((own) => own[round] ?? []))
  }

  /** Nobody holds the events, because nothing here waits for them. */
  async #sweepInbound(deliver: (deps: InboundDeps) => Promise<unknown>): Promise<void> {
    const { db, directory, newMessageId, log, onOwned, onUnowned, onSweepFailed } = this.#options
    const deps = { db, directory: directory(), newMessageId, holder: NO_HOLDER, log, onOwned, onUnowned }
    try {
      await deliver(deps)
    } catch (error) {
      await onSweepFailed?.()
      throw error
    }
  }

  /**
   * Continues where the last run ended, so that every message is looked at once instead of a whole day each minute. Goes from
   * one message to the next, so that periods without messages cost no statements.
   */
  async #expireOverdue(): Promise<void> {
    const { db, directory, clock, onState } = this.#options
    if (!this.#isClockCertain()) return
    const endMs = clock() - OVERDUE_AFTER_MS
    this.#overdueFromMs ??= endMs - OVERDUE_LOOKBACK_MS
    await this.#repeat(MAX_OVERDUE_STEPS, async () => {
      const fromMs = this.#overdueFromMs!
      if (fromMs > endMs) return false
      const toMs = Math.min(fromMs + OVERDUE_STEP_MS - 1, endMs)
      const { overdue, nextMsgId } = await findOverdueMessages(db, {
        fromMsgId: lowestIdAt(fromMs),
        toMsgId: highestIdAt(toMs),
        lastMsgId: highestIdAt(endMs),
        limit: BATCH_ROWS,
      })
      const fact = { kind: 'overdue', atMs: clock(), errorCode: NO_RECEIPT } as const
      const facts = overdue.map((key) => ({ ...key, fact }))
      for (const part of await byServer(db, facts, ({ planId }) => planId))
        await recordFacts(db, part, { directory: directory(), holder: NO_HOLDER, onState })
      if (overdue.length < BATCH_ROWS)
        this.#overdueFromMs = nextMsgId === null ? endMs + 1 : createdAtMs(nextMsgId)
      return true
    })
  }

  /** Deletes events first: an event must never be found without its message. */
  async #enforceRetention(): Promise<void> {
    const { db, log, clock, retentionDays } = this.#options
    if (!this.#isClockCertain()) return
    const now = clock()
    const kept = await findKept(db, now, retentionDays)
    if (kept.daysLeft > 0) log.warn({ days: kept.daysLeft, now: new Date(now) }, MANY_DAYS)
    const keptId = lowestIdAt(kept.fromMs)
    await this.#sweep((limit) => deleteUnownedBefore(db, keptId, limit))
    const eventsGone = await this.#sweep((limit) => deleteDeliveriesBefore(db, keptId, limit))
    if (eventsGone) await dropOldPartitions(db, now, kept)
  }

  async #rollUpStatistics(): Promise<void> {
    const { db, clock } = this.#options
    const ready = new Date(clock() - ROLL_UP_AFTER_MS)
    for (const step of ['hour', 'day'] as const)
      await this.#repeat(MAX_BATCHES, () => rollUpStatistics(db, step, ready))
  }

  #deleteOldStatistics(limit: number): Promise<number> {
    const { db, clock } = this.#options
    const [minutes, others] = [MINUTES_KEPT_MS, HOURS_KEPT_MS].map((keptMs) => new Date(clock() - keptMs))
    return deleteOldStatistics(db, { minutes: minutes!, others: others! }, limit)
  }

  async #requeueStray(): Promise<void> {
    const { db } = this.#options
    // A node's last statement may be committed after its events were released.
    await releaseEvents(db)
    await this.#sweep((limit) => unparkStray(db, CROWDED_MS, limit))
    await this.#sweep((limit) => requeueStranded(db, CROWDED_MS, limit))
  }

  /**
   * Repeats a statement that returns how many rows it found, while it finds as many as it may. Returns true as `#repeat`
   * does. False while the clocks differ: one that is years ahead would delete everything for good.
   */
  async #sweep(statement: (limit: number) => Promise<number>): Promise<boolean> {
    if (!this.#isClockCertain()) return false
    return await this.#repeat(MAX_BATCHES, async () => (await statement(BATCH_ROWS)) === BATCH_ROWS)
  }

  #isClockCertain(): boolean {
    return this.#options.isClockCertain?.() ?? true
  }

  /** Repeats `step` while it returns true, at most `times`, and not after a stop. Returns true when nothing more was to do. */
  async #repeat(times: number, step: () => Promise<boolean>): Promise<boolean> {
    for (let round = 0; round < times; round += 1) {
      if (this.#stopping) return false
      if (!(await step())) return true
    }
    return false
  }
}

function failureOf(job: string): string {
  return `maintenance failed: ${job}`
}

function receiptKey({ carrierId, carrierMessageId }: IncomingReceipt): string {
  return `${carrierId}:${carrierMessageId}`
}

import {
  belowFloor,
  type FinalResult,
  MISSING_AFTER_MINUTES,
  minuteOf,
  QualityTallies,
  type RouteCarrier,
} from '../../domain/carriers/quality.ts'
import type { SubmitResult } from '../../domain/carriers/statuses.ts'
import { MINUTE_MS } from '../../domain/instants.ts'
import type { ChangedMessage } from '../../domain/journal/messages-in-progress.ts'
import { RECEIPT_GRACE_MS } from '../../domain/messages/messages.ts'
import { isSandbox } from '../../domain/sandbox.ts'
import {
  addQualityMinutes,
  type CarrierPause,
  listPauses,
  type MissingReceipts,
  missingReceipts,
  pauseCarriers,
  readFloorFigures,
} from '../../store/quality.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

/** The metrics. They count each event too, by the name of its carrier. */
export interface QualityMeters {
  /** `latencyMs` null: no answer came. */
  submitted(carrier: string, result: SubmitResult, latencyMs: number | null): void
  finished(carrier: string, result: FinalResult, latencyMs: number): void
}

export interface QualityWatchOptions extends Pick<NodeParts, 'db' | 'directory' | 'log'> {
  readonly meters: QualityMeters
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly intervalMs?: number | undefined
}

/** One submit_sm and its result. */
export interface SubmitObservation {
  readonly carrierId: number
  readonly routeId: number
  readonly result: SubmitResult
  /** From submit_sm to its response; null: none came. */
  readonly latencyMs: number | null
}

const INTERVAL_MS = 10_000
const MAX_BATCH = 1_000
const FINALS: Readonly<Record<string, FinalResult>> = {
  DELIVERED: 'delivered',
  FAILED: 'failed',
  UNKNOWN: 'unknown',
}
/**
 * event_sequence of the status that follows SENT. If it is higher, the message was UNKNOWN in between, by a receipt or because
 * it was overdue.
 */
const SEQUENCE_AFTER_SENT = 2

/**
 * Counts the results of carriers in each route (except the sandbox), and takes those below the route's floor out of use.
 * Counts stay in memory and are added to the table every 10 s, so a crash loses at most that much. Every node judges by the
 * sums of all nodes. The database holds which carriers are out of use, so that is the same for all nodes and after a restart.
 */
export class QualityWatch {
  readonly #options: QualityWatchOptions
  readonly #tallies = new QualityTallies()
  /** By route. */
  #pauses: ReadonlyMap<number, readonly CarrierPause[]> = new Map()
  readonly #task: PeriodicTask

  constructor(options: QualityWatchOptions) {
    this.#options = options
    const { intervalMs = INTERVAL_MS, log } = options
    this.#task = new PeriodicTask(log, 'quality watch failed', intervalMs, () => this.runOnce())
  }

  submitted({ carrierId, routeId, result, latencyMs }: SubmitObservation): void {
    const { clock, directory, meters } = this.#options
    const carrier = directory().carrierById(carrierId)
    if (carrier === undefined || isSandbox(carrier)) return
    meters.submitted(carrier.name, result, latencyMs)
    this.#tallies.submitted(clock(), { carrierId, routeId }, result, latencyMs)
  }

  /**
   * Counts statuses as they were recorded. A message that no carrier accepted whole, with an answer of its own, is not
   * counted.
   */
  changed(messages: readonly ChangedMessage[]): void {
    const { directory, meters } = this.#options
    for (const { status, sentAt, updatedAt, carrierId, routeId, sequence } of messages) {
      const carrier = carrierId === null ? undefined : directory().carrierById(carrierId)
      if (carrier === undefined || isSandbox(carrier) || sentAt === null) continue
      const sentAtMs = sentAt.getTime()
      const pair = routeId === null ? null : { carrierId: carrier.id, routeId }
      const result = FINALS[status]
      if (result === undefined) {
        if (pair !== null) this.#tallies.sent(sentAtMs, pair)
        continue
      }
      const latencyMs = Math.max(updatedAt.getTime() - sentAtMs, 0)
      meters.finished(carrier.name, result, latencyMs)
      // A message sent within its validity was not overdue before, so its former status was counted.
      const again = sequence > SEQUENCE_AFTER_SENT && latencyMs < RECEIPT_GRACE_MS
      if (pair !== null) this.#tallies.finished(sentAtMs, pair, result, latencyMs, again)
    }
  }

  /** Whether the carrier is out of use in this route, as far as this node knows. */
  outOfUse(routeId: number, carrierId: number): boolean {
    const pause = this.#pauses.get(routeId)?.find((one) => one.carrierId === carrierId)
    return pause !== undefined && pause.until.getTime() > this.clock()
  }

  /** In how many routes each carrier, by name, is out of use. */
  outOfUseRoutes(): Map<string, number> {
    const nowMs = this.clock()
    const routes = new Map<string, number>()
    for (const { carrier, until } of [...this.#pauses.values()].flat())
      if (until.getTime() > nowMs) routes.set(carrier, (routes.get(carrier) ?? 0) + 1)
    return routes
  }

  /** For the hour before the messages that may still get their receipts. */
  missingReceipts(): Promise<MissingReceipts[]> {
    const beforeMs = minuteOf(this.clock()) - MISSING_AFTER_MINUTES * MINUTE_MS
    const hour = { from: new Date(beforeMs - 60 * MINUTE_MS), before: new Date(beforeMs) }
    return missingReceipts(this.#options.db, hour)
  }

  clock(): number {
    return this.#options.clock()
  }

  /** Rejects when the database does not answer: a node must not start by using a carrier that is out of use. */
  async start(): Promise<void> {
    await this.refresh()
    this.#task.start()
  }

  /** Writes the counts. Never rejects. */
  async stop(): Promise<void> {
    await this.#task.stop()
    await this.#flush().catch((error) => this.#options.log.error({ err: error }, 'quality counts lost'))
  }

  /** Writes the counts, judges, and reads which carriers are out of use. */
  async runOnce(): Promise<void> {
    await this.#flush()
    await this.#judge()
    await this.refresh()
  }

  /** Reads which carriers are out of use. */
  async refresh(): Promise<void> {
    const pauses = await listPauses(this.#options.db, new Date(this.clock()))
    this.#pauses = Map.groupBy(pauses, (pause) => pause.routeId)
  }

  async #flush(): Promise<void> {
    const { db, log } = this.#options
    const dropped = this.#tallies.takeDropped()
    if (dropped > 0) log.warn({ dropped }, 'quality watch: too many counts, some are dropped')
    const minutes = this.#tallies.take()
    try {
      while (minutes.length > 0) {
        await addQualityMinutes(db, minutes.slice(-MAX_BATCH))
        minutes.splice(-MAX_BATCH)
      }
    } finally {
      this.#tallies.restore(minutes)
    }
  }

  async #judge(): Promise<void> {
    const { db, directory, log } = this.#options
    const floors = new Map(
      directory().contents.routes.flatMap(({ id, qualityFloor }) =>
        qualityFloor === null ? [] : [[id, qualityFloor] as const],
      ),
    )
    if (floors.size === 0) return
    const now = new Date(this.clock())
    const windows = [...floors].map(([routeId, { windowMinutes }]) => ({ routeId, windowMinutes }))
    const pauses = (await readFloorFigures(db, windows, now)).flatMap(({ routeId, carrierId, ...counts }) => {
      const floor = floors.get(routeId)!
      const reason = belowFloor(counts, floor)
      return reason === null ? [] : [{ routeId, carrierId, minutes: floor.pauseMinutes, reason }]
    })
    if (pauses.length === 0) return
    for (const pair of await pauseCarriers(db, pauses, now)) {
      const { minutes, reason } = pauses.find((pause) => isSamePair(pause, pair))!
      log.warn(
        { ...this.#names(pair), minutes, reason },
        'carrier out of use in a route: below its quality floor',
      )
    }
  }

  #names({ routeId, carrierId }: RouteCarrier): { carrier: string | undefined; route: string | undefined } {
    const directory = this.#options.directory()
    const route = directory.contents.routes.find(({ id }) => id === routeId)
    return { carrier: directory.carrierById(carrierId)?.name, route: route?.name }
  }
}

function isSamePair(a: RouteCarrier, b: RouteCarrier): boolean {
  return a.routeId === b.routeId && a.carrierId === b.carrierId
}

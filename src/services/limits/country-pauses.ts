import type { PumpingGuard, ServicePlan } from '../../domain/configuration/configuration.ts'
import { HOUR_MS } from '../../domain/instants.ts'
import {
  belowShare,
  type LimitEvent,
  type LimitRefusal,
  PrefixCounts,
  prefixOf,
} from '../../domain/limits/plan-limits.ts'
import { countryOf } from '../../domain/routing/recipients.ts'
import { Batcher } from '../../operations/batches.ts'
import {
  addPrefixCounts,
  deleteOldPrefixCounts,
  listCountryPauses,
  type NewPause,
  type PrefixReport,
  pauseCountries,
  readCountryResults,
} from '../../store/country-pauses.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

export interface CountryPausesOptions extends NodeParts {
  readonly onPaused: (events: readonly LimitEvent[]) => Promise<void>
  readonly intervalMs?: number | undefined
}

interface Report extends PrefixReport {
  readonly country: string
  readonly guard: PumpingGuard
}

type Guarded = ServicePlan & { readonly pumpingGuard: PumpingGuard }

const INTERVAL_MS = 10_000
const MAX_BATCH = 1_000

/**
 * Pauses countries for plans with a pumping guard. Messages to a prefix are counted in each process, and reported to the
 * database a fiftieth of the limit at a time; the delivered share of a country is read from the statistics. The database holds
 * the pauses, so that they are the same for all nodes and after a restart.
 */
export class CountryPauses {
  readonly #options: CountryPausesOptions
  readonly #counts = new PrefixCounts()
  readonly #reports: Batcher<Report, undefined>
  readonly #task: PeriodicTask
  /** Unix milliseconds, by plan and country. */
  #until: ReadonlyMap<string, number> = new Map()

  constructor(options: CountryPausesOptions) {
    this.#options = options
    const { intervalMs = INTERVAL_MS, log } = options
    this.#reports = new Batcher({
      write: (reports) => this.#write(reports),
      maxBatch: MAX_BATCH,
      maxInFlight: 1,
    })
    this.#task = new PeriodicTask(log, 'pumping guard failed', intervalMs, () => this.runOnce())
  }

  /** Without plans that have a guard, nothing runs. */
  adopt(): void {
    if (this.#guarded().length > 0) this.#task.start(0)
    else void this.#task.stop()
  }

  stop(): Promise<void> {
    return this.#task.stop()
  }

  /** Why the plan may not send to this recipient now; null when it may. */
  refusalOf({ id, pumpingGuard }: ServicePlan, recipient: string): LimitRefusal | null {
    if (pumpingGuard === null || this.#until.size === 0) return null
    const country = countryOf(recipient) ?? ''
    const retryAfterMs = (this.#until.get(keyOf(id, country)) ?? 0) - this.#options.clock()
    if (retryAfterMs <= 0) return null
    const message = `Messages of the service plan to recipients in ${country} are paused, as they look like artificial traffic`
    return { code: 'COUNTRY_PAUSED', message, retryAfterMs }
  }

  count({ id: planId, pumpingGuard: guard }: ServicePlan, recipient: string): void {
    const country = countryOf(recipient)
    if (guard === null || guard.messagesPerPrefix === null || country === null) return
    const count = this.#counts.add(planId, recipient, guard.messagesPerPrefix, this.#options.clock())
    if (count === 0) return
    const report = { planId, prefix: prefixOf(recipient), count, country, guard }
    this.#reports
      .add(report)
      .catch((err) => this.#options.log.error({ err }, 'messages to a prefix not counted'))
  }

  /** Judges, and reads what is paused. */
  async runOnce(): Promise<void> {
    const { db, clock } = this.#options
    const now = new Date(clock())
    const judged = this.#guarded().filter(({ pumpingGuard }) => pumpingGuard.minDelivered !== null)
    const windows = judged.map(({ id, pumpingGuard }) => {
      return { planId: id, windowMinutes: pumpingGuard.windowMinutes }
    })
    const results = windows.length === 0 ? [] : await readCountryResults(db, windows, now)
    await this.#pause(
      results.flatMap(({ planId, country, ...counts }) => {
        const { pumpingGuard: guard } = judged.find(({ id }) => id === planId)!
        const reason = belowShare(counts, guard)
        return reason === null ? [] : [{ planId, country, reason, minutes: guard.pauseMinutes }]
      }),
    )
    await deleteOldPrefixCounts(db, new Date(clock() - HOUR_MS))
    await this.refresh()
  }

  /** Reads what is paused. */
  async refresh(): Promise<void> {
    const { db, clock } = this.#options
    const pauses = await listCountryPauses(db, null, new Date(clock()))
    this.#until = new Map(
      pauses.map(({ planId, country, until }) => [keyOf(planId, country), until.getTime()]),
    )
  }

  #guarded(): readonly Guarded[] {
    return this.#options
      .directory()
      .contents.plans.filter((plan): plan is Guarded => plan.pumpingGuard !== null)
  }

  async #write(reports: readonly Report[]): Promise<readonly undefined[]> {
    const { db, clock } = this.#options
    const byPrefix = Map.groupBy(reports, ({ planId, prefix }) => `${planId} ${prefix}`)
    const summed = [...byPrefix.values()].map((own) => ({
      ...own[0]!,
      count: own.reduce((sum, { count }) => sum + count, 0),
    }))
    const counts = await addPrefixCounts(
      db,
      summed.map(({ planId, prefix, count }) => ({ planId, prefix, count })),
      clock(),
    )
    await this.#pause(
      summed.flatMap(({ planId, prefix, country, guard }, index) => {
        const { messagesPerPrefix: most, pauseMinutes: minutes } = guard
        if (most === null || counts[index]! <= most) return []
        return [{ planId, country, minutes, reason: `more than ${most} messages to ${prefix}… in an hour` }]
      }),
    )
    return reports.map(() => undefined)
  }

  async #pause(pauses: readonly NewPause[]): Promise<void> {
    if (pauses.length === 0) return
    const { db, clock, onPaused } = this.#options
    const paused = await pauseCountries(db, pauses, new Date(clock()))
    await this.refresh()
    const events = paused.map(({ planId, country, until, reason }): LimitEvent => {
      return { planId, contents: { type: 'countryPaused', country, until: until.toISOString(), reason } }
    })
    if (events.length > 0) await onPaused(events)
  }
}

function keyOf(planId: number, country: string): string {
  return `${planId} ${country}`
}

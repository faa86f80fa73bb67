import { type AlarmCondition, type AlarmDelays, AlarmJudge, alarmBody } from '../../domain/alarms.ts'
import type { Webhook } from '../../domain/webhooks/requests.ts'
import { ATTEMPT_DELAYS_MS } from '../../domain/webhooks/retries.ts'
import {
  type AlarmRecord,
  clearAlarms,
  endTelling,
  listAlarms,
  raiseAlarms,
  takeDueAlarms,
} from '../../store/alarms.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

export interface AlarmTimings extends AlarmDelays {
  readonly intervalMs: number
  /** Before the second attempt, the third, and so on. */
  readonly retriesMs: readonly number[]
}

export interface AlarmWatchOptions extends Pick<NodeParts, 'db' | 'log' | 'clock'> {
  /** The node's share of the buckets. */
  readonly lease: { readonly buckets: readonly number[] }
  readonly readConditions: () => Promise<AlarmCondition[]>
  readonly url: string
  /** Signs and sends. Never rejects. */
  readonly post: (webhook: Webhook) => Promise<{ readonly ok: boolean; readonly error: string | null }>
  /** BASE_URL, which tells the receiver which installation speaks. */
  readonly installation: string | null
  readonly timings?: AlarmTimings | undefined
}

/** An alarm that nobody has heard of after 2 h 43 min is given up. */
const TIMINGS: AlarmTimings = {
  intervalMs: 5_000,
  raiseAfterMs: 30_000,
  clearAfterMs: 60_000,
  retriesMs: ATTEMPT_DELAYS_MS.slice(1, 7),
}
/** Each node owns other buckets, so exactly one owns this one. */
const SPEAKERS_BUCKET = 0
/** Alarms told at once. */
const MAX_TOLD = 20

/**
 * Tells the operator of alarms, by a signed webhook when one is raised and another when it is cleared. One node does this for
 * all of them. The database holds which alarms are raised and what was told, so neither a restart nor another node repeats it.
 */
export class AlarmWatch {
  readonly #options: AlarmWatchOptions
  readonly #timings: AlarmTimings
  readonly #task: PeriodicTask
  #judge: AlarmJudge

  constructor(options: AlarmWatchOptions) {
    this.#options = options
    this.#timings = options.timings ?? TIMINGS
    this.#judge = new AlarmJudge(this.#timings)
    this.#task = new PeriodicTask(options.log, 'alarms not looked for', this.#timings.intervalMs, () =>
      this.runOnce(),
    )
  }

  start(): void {
    this.#task.start()
  }

  stop(): Promise<void> {
    return this.#task.stop()
  }

  async runOnce(): Promise<void> {
    const { db, lease, log, clock, readConditions } = this.#options
    if (!lease.buckets.includes(SPEAKERS_BUCKET)) {
      // What was seen before may be out of date when this node speaks again.
      this.#judge = new AlarmJudge(this.#timings)
      return
    }
    const conditions = await readConditions()
    const known = await listAlarms(db)
    const raised = known.filter(({ state }) => state === 'raised')
    const { raise, clear } = this.#judge.judge(conditions, raised, clock())
    const changed = [
      ...(raise.length === 0 ? [] : await raiseAlarms(db, raise)),
      ...(clear.length === 0 ? [] : await clearAlarms(db, clear)),
    ]
    for (const { name, object, state, summary } of changed)
      log.warn({ alarm: name, object, summary }, `alarm ${state}`)
    if (changed.length === 0 && !known.some(({ isDue }) => isDue)) return
    const due = await takeDueAlarms(db, this.#timings.retriesMs, MAX_TOLD)
    await Promise.all(due.map((alarm) => this.#tell(alarm)))
  }

  async #tell(alarm: AlarmRecord): Promise<void> {
    const { db, log, clock, post, installation, url } = this.#options
    const { alarmId, state, attempts } = alarm
    const { ok, error } = await post({
      url,
      eventId: `${alarmId}-${state}`,
      attempt: attempts,
      sequence: state === 'raised' ? 1 : 2,
      body: alarmBody(alarm, installation),
      timestampMs: clock(),
      isTest: false,
    })
    const isLast = attempts > this.#timings.retriesMs.length
    if (ok || isLast) await endTelling(db, alarm)
    if (ok) return
    const what = { alarm: alarm.name, object: alarm.object, state, attempts, error }
    if (isLast) log.error(what, 'alarm not sent; given up')
    else if (attempts === 1) log.warn(what, 'alarm not sent yet')
  }
}

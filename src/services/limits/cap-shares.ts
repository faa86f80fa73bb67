import type { ServicePlan } from '../../domain/configuration/configuration.ts'
import {
  type Cap,
  type CapPeriod,
  capsOf,
  countOf,
  describeCount,
  type LimitEvent,
  type LimitRefusal,
  periodAt,
  reachedPercents,
} from '../../domain/limits/plan-limits.ts'
import { Batcher } from '../../operations/batches.ts'
import type { LimitVerdict } from '../../operations/sends/accept-within-limits.ts'
import { returnShares, takeShares } from '../../store/plan-usage.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

export interface CapSharesOptions extends NodeParts {
  readonly onReached: (events: readonly LimitEvent[]) => Promise<void>
  readonly intervalMs?: number | undefined
}

/** This process's share of one cap. */
interface Share extends Cap {
  readonly planId: number
  period: CapPeriod
  most: number
  /** What this process may still use. */
  left: number
  /** Until then nobody asks for more: nothing was left. Unix milliseconds. */
  emptyUntilMs: number
  /** The highest percentage that an event is stored of. */
  announced: number
  /** Since the last time that unused shares were returned. */
  wasUsed: boolean
}

interface Need {
  readonly share: Share
  readonly count: number
  /** The period that it is counted in. */
  readonly begins: string
}

interface CappedMessage {
  readonly plan: ServicePlan
  readonly recipient: string
  readonly segments: number
}

const INTERVAL_MS = 10_000
/** How long a process waits before it asks again for a share of a cap that is used up. */
const EMPTY_MS = 1_000
const MAX_BATCH = 1_000
const MAX_WAIT_MS = 5_000

/**
 * Counts messages and costs towards the caps of their plans, over all nodes. A process takes a hundredth of what is left at a
 * time, so that a message costs no statement, and returns what it does not use for 10 s. Together they never take more than
 * the cap. A crash leaves its share taken until the period ends.
 */
export class CapShares {
  readonly #options: CapSharesOptions
  /** By plan, unit and step. At most four for each plan with caps. */
  readonly #shares = new Map<string, Share>()
  readonly #requests: Batcher<Need, undefined>
  readonly #task: PeriodicTask
  #returning: Promise<void> = Promise.resolve()

  constructor(options: CapSharesOptions) {
    this.#options = options
    const { intervalMs = INTERVAL_MS, log } = options
    this.#requests = new Batcher({
      write: (needs) => this.#ask(needs),
      maxBatch: MAX_BATCH,
      maxInFlight: 1,
      maxWaitMs: MAX_WAIT_MS,
    })
    this.#task = new PeriodicTask(log, 'shares of caps not returned', intervalMs, () => this.runOnce())
  }

  /** Counts the message towards all caps of its plan, unless one is used up. Rejects if the database does not answer. */
  async take({ plan, recipient, segments }: CappedMessage): Promise<LimitVerdict> {
    const taken: Need[] = []
    const undo = () => {
      for (const { share, count, begins } of taken) if (share.period.begins === begins) share.left += count
    }
    try {
      const directory = this.#options.directory()
      for (const cap of plan.caps === null ? [] : capsOf(plan.caps)) {
        const count = countOf(cap, { planId: plan.id, recipient, segments }, directory)
        if (count === 0) continue
        const share = this.#shareOf(plan.id, cap)
        const need = { share, count, begins: share.period.begins }
        if (!hasTaken(need) && !(await this.#takeMore(need))) {
          undo()
          return { kind: 'refused', refusal: this.#refusal(need.share) }
        }
        taken.push(need)
      }
    } catch (error) {
      undo()
      throw error
    }
    return { kind: 'counted', undo }
  }

  /** Returns all shares. Never rejects. */
  async stop(): Promise<void> {
    await this.#task.stop()
    const { log } = this.#options
    await this.#return([...this.#shares.values()]).catch((error) =>
      log.warn({ err: error }, 'shares of caps stay taken until their period ends'),
    )
  }

  /** Returns the shares that were not used since the last run. Stops running when there are no shares left. */
  async runOnce(): Promise<void> {
    const nowMs = this.#options.clock()
    const idle = [...this.#shares.values()].filter(({ wasUsed }) => !wasUsed)
    for (const share of idle)
      if (share.period.endsMs <= nowMs) this.#shares.delete(keyOf(share.planId, share))
    for (const share of this.#shares.values()) share.wasUsed = false
    if (this.#shares.size === 0) void this.#task.stop()
    await this.#return(idle)
  }

  /** Empties the shares at once. After a failure they stay taken, because nobody knows whether they were returned. */
  async #return(shares: readonly Share[]): Promise<void> {
    const nowMs = this.#options.clock()
    const unused = shares.flatMap((share) => {
      const { planId, unit, step, period, left } = share
      share.left = 0
      const isOver = period.endsMs <= nowMs
      return left === 0 || isOver ? [] : [{ planId, unit, step, begins: period.begins, unused: left }]
    })
    if (unused.length === 0) return
    const returned = returnShares(this.#options.db, unused)
    this.#returning = returned.catch(() => undefined)
    await returned
  }

  #shareOf(planId: number, cap: Cap): Share {
    const key = keyOf(planId, cap)
    const nowMs = this.#options.clock()
    let share = this.#shares.get(key)
    if (share === undefined) {
      share = {
        ...cap,
        planId,
        period: periodAt(cap.step, nowMs),
        left: 0,
        emptyUntilMs: 0,
        announced: 0,
        wasUsed: true,
      }
      this.#shares.set(key, share)
      this.#task.start()
    }
    if (share.period.endsMs <= nowMs || share.most !== cap.most) this.#renew(share, cap, nowMs)
    share.wasUsed = true
    return share
  }

  #renew(share: Share, { step, most }: Cap, nowMs: number): void {
    if (share.period.endsMs <= nowMs) {
      share.period = periodAt(step, nowMs)
      share.left = 0
    }
    // Taken under a higher cap, it would be used beyond this one.
    if (most < share.most)
      this.#return([share]).catch((error) =>
        this.#options.log.warn({ err: error }, 'share of a lowered cap stays taken until its period ends'),
      )
    share.most = most
    share.emptyUntilMs = 0
    share.announced = 0
  }

  /** Whether the share has it, after asking for more. */
  async #takeMore(need: Need): Promise<boolean> {
    // Others may use up what was granted before it is this one's turn.
    while (need.share.emptyUntilMs <= this.#options.clock()) {
      await this.#requests.add(need)
      if (hasTaken(need)) return true
    }
    return false
  }

  /** One statement for all shares that are too small. */
  async #ask(needs: readonly Need[]): Promise<readonly undefined[]> {
    const { db, clock } = this.#options
    // What comes back may be all that is left.
    await this.#returning
    const asked = [...Map.groupBy(needs, ({ share }) => share)].map(([share, own]) => {
      const needed = own.reduce((sum, { count }) => sum + count, 0) - share.left
      return { share, begins: share.period.begins, needed: Math.max(needed, 0) }
    })
    const requests = asked.map(({ share: { planId, unit, step, most }, begins, needed }) => {
      return { planId, unit, step, begins, most, needed }
    })
    const grants = await takeShares(db, requests)
    for (const [index, { share, begins, needed }] of asked.entries()) {
      const { granted, before } = grants[index]!
      // The period may have ended meanwhile.
      if (share.period.begins !== begins) continue
      share.left += granted
      if (granted < needed) share.emptyUntilMs = clock() + EMPTY_MS
      await this.#announce(share, before + granted)
    }
    return needs.map(() => undefined)
  }

  /** Announces the cap until that is stored, so that no event is lost with a process that dies. */
  async #announce(share: Share, count: number): Promise<void> {
    const { log, onReached } = this.#options
    const { planId, unit, step, most, period } = share
    const percents = reachedPercents(share, count, share.announced)
    if (percents.length === 0) return
    const contents = { type: 'capReached', unit, step, begins: period.begins, most } as const
    try {
      await onReached(percents.map((percent) => ({ planId, contents: { ...contents, percent } })))
      share.announced = percents.at(-1)!
    } catch (error) {
      log.error({ err: error }, 'event of a limit not stored')
    }
  }

  #refusal({ unit, step, most, period: { endsMs } }: Share): LimitRefusal {
    const until = new Date(endsMs).toISOString().slice(0, 10)
    return {
      code: 'CAP_REACHED',
      message: `The service plan has reached its cap of ${describeCount(unit, most)} a ${step}, until ${until} (UTC)`,
      retryAfterMs: endsMs - this.#options.clock(),
    }
  }
}

function keyOf(planId: number, { unit, step }: Pick<Cap, 'unit' | 'step'>): string {
  return `${planId} ${unit} ${step}`
}

function hasTaken({ share, count }: Need): boolean {
  if (share.left < count) return false
  share.left -= count
  return true
}

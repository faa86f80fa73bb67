import { BoundedMap } from '../../collections/bounded-map.ts'
import type { RateLimit } from '../../domain/configuration/configuration.ts'
import { RateLimiter, type RateSource } from '../../domain/limits/rate-limits.ts'
import { Batcher } from '../../operations/batches.ts'
import {
  exchangeTokens,
  type LimitScope,
  type TokenGrant,
  type TokenRequest,
} from '../../store/rate-usage.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

export interface RateSharesOptions extends Pick<NodeParts, 'db' | 'log' | 'clock'> {
  /** Whether no other process takes messages. */
  readonly isAlone: () => boolean
}

/** This process's share of the tokens of one account or plan. */
interface Share {
  readonly scope: LimitScope
  readonly id: number
  limit: RateLimit
  /** Messages that may pass without asking; negative: owed. */
  tokens: number
  /** What messages wait for now. */
  waiting: number
  /** Messages so far. */
  asked: number
  /** How many of them the database knows of. */
  reported: number
  /** Messages in the last interval, and what the present one began with. */
  pace: number
  askedBefore: number
  beganAtMs: number
  /** There was less than wanted. Until then, or a run that wants nothing, only runs ask again. */
  emptyUntilMs: number
  usedAtMs: number
  /** All its tokens go back. */
  isOver: boolean
  /** What was left for everybody after the last answer. */
  left: number
}

const FAILURE = 'shares of rate limits not exchanged'
/** How often a process asks for as many tokens as it has messages in that time. */
const INTERVAL_MS = 500
/** A share that no message has used for so long ends. */
const UNUSED_MS = 10_000
/** Shares in one statement. */
const MAX_BATCH = 1_000
/** How long a message waits for its statement to begin. */
const MAX_WAIT_MS = 2_000
/** Others may take what came for a message before it is its turn. */
const MAX_ATTEMPTS = 3
/** Accounts, and plans, with a share. The oldest share loses its tokens. */
const MAX_SHARES = 50_000

/**
 * Holds accounts and plans to their rates over all processes that take messages. The tokens are in the database. A process takes as
 * many as it needs for half a second, so that few messages cost a statement, and returns what it does not use for 10 s.
 * Together they never take more than the bucket had. A process that is alone has the whole bucket in memory and asks nobody
 * (docs/adr/0034).
 */
export class RateShares {
  readonly accounts: RateSource
  readonly plans: RateSource
  readonly #options: RateSharesOptions
  readonly #alone = { account: new RateLimiter(), plan: new RateLimiter() }
  readonly #shares = {
    account: new BoundedMap<number, Share>(MAX_SHARES),
    plan: new BoundedMap<number, Share>(MAX_SHARES),
  }
  readonly #requests: Batcher<Share, undefined>
  readonly #task: PeriodicTask
  #hasFailed = false

  constructor(options: RateSharesOptions) {
    this.#options = options
    this.accounts = this.#sourceOf('account')
    this.plans = this.#sourceOf('plan')
    this.#requests = new Batcher({
      write: (shares) => this.#ask(shares),
      maxBatch: MAX_BATCH,
      maxInFlight: 1,
      maxWaitMs: MAX_WAIT_MS,
    })
    this.#task = new PeriodicTask(options.log, FAILURE, nextRunMs, () => this.runOnce())
  }

  /**
   * Asks for the tokens of the next interval, in one statement for all shares that have too few, and ends unused shares. Stops running
   * when there are no shares left.
   */
  async runOnce(): Promise<void> {
    const nowMs = this.#options.clock()
    const due: Share[] = []
    for (const share of this.#all()) {
      beginInterval(share, nowMs)
      if (this.#options.isAlone() || nowMs - share.usedAtMs >= UNUSED_MS) this.#end(share)
      if (share.isOver ? share.tokens !== 0 : share.tokens < wantedOf(share)) due.push(share)
      else share.emptyUntilMs = 0
    }
    if (this.#all().length === 0) void this.#task.stop()
    await this.#exchange(due)
  }

  /** Returns all shares. Never rejects. */
  async stop(): Promise<void> {
    await this.#task.stop()
    const shares = this.#all()
    for (const share of shares) this.#end(share)
    await this.#exchange(shares)
  }

  #sourceOf(scope: LimitScope): RateSource {
    return {
      take: (id, limit, nowMs, count = 1) =>
        this.#options.isAlone()
          ? this.#alone[scope].take(id, limit, nowMs, count)
          : this.#take(this.#shareOf(scope, id, limit, nowMs), nowMs, count),
      left: (id, limit, nowMs) =>
        this.#options.isAlone()
          ? this.#alone[scope].left(id, limit, nowMs)
          : this.#left(this.#shareOf(scope, id, limit, nowMs)),
    }
  }

  #take(share: Share, nowMs: number, count: number): number | Promise<number> {
    share.asked += count
    share.usedAtMs = nowMs
    if (hasTaken(share, count)) return 0
    return share.emptyUntilMs > nowMs ? waitMsOf(share, count) : this.#takeMore(share, count)
  }

  async #takeMore(share: Share, count: number): Promise<number> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      share.waiting += count
      try {
        await this.#requests.add(share)
      } finally {
        share.waiting -= count
      }
      if (hasTaken(share, count)) return 0
      if (share.emptyUntilMs > this.#options.clock()) break
    }
    return waitMsOf(share, count)
  }

  async #left(share: Share): Promise<number> {
    await this.#requests.add(share)
    return Math.max(0, Math.floor(share.tokens + share.left))
  }

  #shareOf(scope: LimitScope, id: number, limit: RateLimit, nowMs: number): Share {
    const known = this.#shares[scope].get(id)
    if (known !== undefined) {
      known.limit = limit
      return known
    }
    const counts = { tokens: 0, waiting: 0, asked: 0, reported: 0, pace: 0, askedBefore: 0, left: 0 }
    const times = { beganAtMs: nowMs, emptyUntilMs: 0, usedAtMs: nowMs }
    const share: Share = { scope, id, limit, isOver: false, ...counts, ...times }
    this.#shares[scope].set(id, share)
    this.#task.start()
    return share
  }

  #all(): Share[] {
    return [...this.#shares.account.values(), ...this.#shares.plan.values()]
  }

  #end(share: Share): void {
    share.isOver = true
    this.#shares[share.scope].delete(share.id)
  }

  /** Never rejects: failures are logged. */
  async #exchange(shares: readonly Share[]): Promise<void> {
    await Promise.allSettled(shares.map((share) => this.#requests.add(share)))
  }

  async #ask(asking: readonly Share[]): Promise<readonly undefined[]> {
    const nowMs = this.#options.clock()
    const shares = [...new Set(asking)]
    const requests = shares.map((share) => this.#requestOf(share, nowMs))
    const grants = await this.#granted(requests)
    for (const [index, share] of shares.entries()) {
      const { granted, left } = grants[index]!
      share.tokens += granted
      share.left = left
      // A little longer than until the next run.
      share.emptyUntilMs = granted < requests[index]!.wanted ? nowMs + 2 * INTERVAL_MS : 0
    }
    return asking.map(() => undefined)
  }

  /** Logs the first of several failures in a row, and their end. */
  async #granted(requests: readonly TokenRequest[]): Promise<readonly TokenGrant[]> {
    const { db, log } = this.#options
    try {
      const grants = await exchangeTokens(db, requests, INTERVAL_MS)
      if (this.#hasFailed) log.info({}, `no longer: ${FAILURE}`)
      this.#hasFailed = false
      return grants
    } catch (error) {
      if (!this.#hasFailed) log.error({ err: error }, FAILURE)
      this.#hasFailed = true
      throw error
    }
  }

  #requestOf(share: Share, nowMs: number): TokenRequest {
    const { scope, id, limit, tokens } = share
    const initial = this.#alone[scope].left(id, limit, nowMs)
    const { perSecond, burst } = limit
    const rate = { scope, id, perSecond, burst, initial }
    if (share.isOver) {
      share.tokens = 0
      return { ...rate, wanted: 0, asked: 0, returned: tokens }
    }
    const wanted = Math.max(0, wantedOf(share) - tokens)
    // Those that wait are not a sign of more to come.
    const unreported = share.asked - share.waiting - share.reported
    const asked = Math.min(unreported, mostIn(limit))
    share.reported += unreported
    return { ...rate, wanted, asked, returned: 0 }
  }
}

/** Each process is before the others at times, so none always finds what they have left. */
function nextRunMs(): number {
  return INTERVAL_MS * (0.75 + 0.5 * Math.random())
}

/** Takes `count` tokens or none. A message for more than a burst leaves the share in debt, as in `RateLimiter`. */
function hasTaken(share: Share, count: number): boolean {
  if (share.tokens < Math.min(count, share.limit.burst)) return false
  share.tokens -= count
  return true
}

function waitMsOf({ tokens, limit: { perSecond, burst } }: Share, count: number): number {
  return ((Math.min(count, burst) - tokens) / perSecond) * 1_000
}

/** How many messages a limit lets through in an interval. */
function mostIn({ perSecond }: RateLimit): number {
  return (perSecond * INTERVAL_MS) / 1_000
}

/** How many tokens the share should have: for those that wait, or for another interval like this one or the last. */
function wantedOf({ asked, askedBefore, waiting, pace, limit }: Share): number {
  const ahead = Math.min(Math.max(pace, asked - askedBefore - waiting), mostIn(limit))
  return Math.max(waiting, Math.ceil(ahead))
}

/** Counts the messages of the interval that is over. A run may be early. */
function beginInterval(share: Share, nowMs: number): void {
  const intervals = Math.abs(nowMs - share.beganAtMs) / INTERVAL_MS
  if (intervals < 0.5) return
  share.pace = (share.asked - share.askedBefore) / intervals
  share.askedBefore = share.asked
  share.beganAtMs = nowMs
}

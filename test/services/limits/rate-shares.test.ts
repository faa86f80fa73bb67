import { afterEach, describe, expect, test } from 'vitest'
import type { RateLimit } from '../../../src/domain/configuration/configuration.ts'
import { RateShares } from '../../../src/services/limits/rate-shares.ts'
import type { Database } from '../../../src/store/database.ts'
import { deleteIdleBuckets, exchangeTokens } from '../../../src/store/rate-usage.ts'
import { installedDatabase } from '../../support/installation.ts'
import { quietLog } from '../../support/log.ts'

/** Rate limits over several processes, in simulated time, with their shares in a real database. */

const { db } = await installedDatabase()

const STEP_MS = 10
const RUN_MS = 500
const START_MS = Date.parse('2026-03-14T12:00:00Z')

let plans = 0
const newPlan = () => {
  plans += 1
  return plans
}
const running: RateShares[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((shares) => shares.stop()))
})

interface Process {
  readonly shares: RateShares
  /** Messages that come in each second. */
  perSecond: number
  /** By how much its clock is ahead. */
  readonly aheadMs: number
  runsInMs: number
  accepted: number
  refused: number
}

/** Processes with one clock that this test moves, and one limit. */
class Processes {
  readonly planId = newPlan()
  readonly #limit: RateLimit
  readonly #all: Process[] = []
  readonly #due = new Map<Process, number>()
  #random = 1
  #last: Promise<unknown> = Promise.resolve()
  nowMs = START_MS
  statements = 0

  constructor(limit: RateLimit) {
    this.#limit = limit
  }

  join(perSecond: number, { aheadMs = 0, isAlone = (): boolean => false } = {}): Process {
    const counting = {
      query: (statement: string | { text: string }, values?: unknown[]) => {
        this.statements += 1
        const execute = () =>
          typeof statement === 'string'
            ? db.query(this.#clocked(statement), values)
            : db.query({ ...statement, text: this.#clocked(statement.text) })
        // One after the other, so that none is executed with a time before the last one's.
        const executed = this.#last.then(execute)
        this.#last = executed.catch(() => undefined)
        return executed
      },
    } as unknown as Database
    const clock = () => this.nowMs + aheadMs
    const shares = new RateShares({ db: counting, log: quietLog, clock, isAlone })
    running.push(shares)
    const process = { shares, perSecond, aheadMs, runsInMs: 0, accepted: 0, refused: 0 }
    this.#all.push(process)
    return process
  }

  /** The statement under this test's clock. */
  #clocked(text: string): string {
    return text.replaceAll('clock_timestamp()', `to_timestamp(${this.nowMs / 1_000})`)
  }

  /** It does nothing more, and says nothing to anybody. */
  kill(process: Process): void {
    this.#all.splice(this.#all.indexOf(process), 1)
  }

  async send({ shares, aheadMs }: Process, count = 1): Promise<boolean> {
    return (await shares.plans.take(this.planId, this.#limit, this.nowMs + aheadMs, count)) === 0
  }

  /** Lets time pass. Returns how many messages all processes have accepted in it. */
  async pass(seconds: number): Promise<number> {
    const before = this.accepted
    const endMs = this.nowMs + seconds * 1_000
    while (this.nowMs < endMs) {
      this.nowMs += STEP_MS
      for (const process of this.#all) {
        await this.#run(process)
        const due = (this.#due.get(process) ?? 0) + (process.perSecond * STEP_MS) / 1_000
        for (let message = 1; message <= due; message += 1)
          process[(await this.send(process)) ? 'accepted' : 'refused'] += 1
        this.#due.set(process, due % 1)
      }
    }
    return this.accepted - before
  }

  /** At times like those of the task, which this test's clock does not move. */
  async #run(process: Process): Promise<void> {
    process.runsInMs -= STEP_MS
    if (process.runsInMs > 0) return
    this.#random = (this.#random * 48_271) % 0x7f_ff_ff_ff
    process.runsInMs = RUN_MS * (0.75 + (0.5 * this.#random) / 0x7f_ff_ff_ff)
    await process.shares.runOnce()
  }

  get accepted(): number {
    return this.#all.reduce((sum, { accepted }) => sum + accepted, 0)
  }

  get refused(): number {
    return this.#all.reduce((sum, { refused }) => sum + refused, 0)
  }
}

/** Within 10 % of what the limit lets through. */
function expectWithin(accepted: number, most: number): void {
  expect(accepted).toBeGreaterThanOrEqual(most * 0.9)
  expect(accepted).toBeLessThanOrEqual(most * 1.1)
}

describe('over processes that are up', () => {
  test('the one that has all messages gets the whole limit', async () => {
    const processes = new Processes({ perSecond: 100, burst: 100 })
    processes.join(300)
    processes.join(0)
    processes.join(0)
    expect(await processes.pass(10)).toBeLessThanOrEqual(1_100)
    expectWithin(await processes.pass(10), 1_000)
  })

  test.each([2, 3, 6])('%i that have too many messages share it', async (count) => {
    const processes = new Processes({ perSecond: 100, burst: 100 })
    const each = Array.from({ length: count }, () => processes.join(200))
    expect(await processes.pass(10)).toBeLessThanOrEqual(1_100)
    for (const process of each) process.accepted = 0
    expectWithin(await processes.pass(10), 1_000)
    for (const { accepted } of each) expect(accepted).toBeGreaterThan((1_000 / count) * 0.6)
  })

  test('one with few messages is not starved by one with many', async () => {
    const processes = new Processes({ perSecond: 100, burst: 100 })
    const few = processes.join(10)
    processes.join(1_000)
    await processes.pass(5)
    few.accepted = 0
    expectWithin(await processes.pass(10), 1_000)
    expect(few.accepted).toBeGreaterThan(80)
  })

  test('a share goes to those that need it, and comes back', async () => {
    const processes = new Processes({ perSecond: 100, burst: 100 })
    const [one, other] = [processes.join(200), processes.join(200)]
    await processes.pass(5)
    one.perSecond = 0
    await processes.pass(1)
    expectWithin(await processes.pass(5), 500)
    one.perSecond = 200
    other.perSecond = 0
    await processes.pass(1)
    one.accepted = 0
    expectWithin(await processes.pass(5), 500)
    expectWithin(one.accepted, 500)
  })

  test('who stays below the limit is not refused', async () => {
    const processes = new Processes({ perSecond: 100, burst: 100 })
    for (const perSecond of [30, 30, 30]) processes.join(perSecond)
    await processes.pass(20)
    expect(processes.refused).toBe(0)
  })

  test('a burst passes whole, and no more than it', async () => {
    const processes = new Processes({ perSecond: 100, burst: 200 })
    const each = [0, 0, 0].map(() => processes.join(0))
    const sent = each.flatMap((process) => Array.from({ length: 100 }, () => processes.send(process)))
    expect((await Promise.all(sent)).filter(Boolean)).toHaveLength(200)
  })

  test.each([
    [{ perSecond: 1, burst: 1 }, 60],
    [{ perSecond: 7, burst: 2 }, 20],
    [{ perSecond: 100, burst: 1 }, 10],
    [{ perSecond: 1_000, burst: 5_000 }, 10],
  ])('%o holds', async (limit, seconds) => {
    const processes = new Processes(limit)
    for (let count = 0; count < 3; count += 1) processes.join(limit.perSecond)
    // Until the burst is used.
    await processes.pass(1 + limit.burst / limit.perSecond)
    const most = limit.perSecond * seconds
    const accepted = await processes.pass(seconds)
    expect(accepted).toBeGreaterThanOrEqual(most * 0.9 - 1)
    expect(accepted).toBeLessThanOrEqual(most * 1.1 + 1)
  })

  test('clocks that differ by 0.4 s change nothing', async () => {
    const processes = new Processes({ perSecond: 100, burst: 100 })
    for (const aheadMs of [0, 400, -200]) processes.join(200, { aheadMs })
    expect(await processes.pass(10)).toBeLessThanOrEqual(1_140)
    expectWithin(await processes.pass(10), 1_000)
  })

  test('a database whose clock is set back an hour holds the limit from then on', async () => {
    const processes = new Processes({ perSecond: 100, burst: 100 })
    for (const perSecond of [200, 200]) processes.join(perSecond)
    await processes.pass(5)
    processes.nowMs -= 3_600_000
    await processes.pass(11)
    expectWithin(await processes.pass(10), 1_000)
  })

  test('primaries whose clocks are a little behind count no time twice', async () => {
    const processes = new Processes({ perSecond: 10, burst: 10 })
    processes.join(100)
    processes.join(100)
    let accepted = 0
    for (let primary = 0; primary < 10; primary += 1) {
      accepted += await processes.pass(1)
      processes.nowMs -= 500
    }
    // 5.5 s have passed for the row.
    expect(accepted).toBeLessThanOrEqual(10 + 55)
  })

  test('few messages cost a statement', async () => {
    const processes = new Processes({ perSecond: 1_000, burst: 1_000 })
    for (const perSecond of [1_000, 1_000]) processes.join(perSecond)
    await processes.pass(1)
    processes.statements = 0
    expectWithin(await processes.pass(10), 10_000)
    // Two a second each, and those of the real clock.
    expect(processes.statements).toBeLessThanOrEqual(60)
  })
})

describe('a process', () => {
  test('that dies leaves its share to the others', async () => {
    const processes = new Processes({ perSecond: 100, burst: 100 })
    const dying = processes.join(200)
    processes.join(200)
    await processes.pass(5)
    processes.kill(dying)
    await processes.pass(1)
    expectWithin(await processes.pass(5), 500)
  })

  test('returns what it does not use, and all of it when it stops', async () => {
    const processes = new Processes({ perSecond: 100, burst: 100 })
    const [one, other] = [processes.join(0), processes.join(0)]
    expect(await processes.send(one)).toBe(true)
    const tokens = async () =>
      (await db.query('select tokens from rate_usage where id = $1', [processes.planId])).rows[0].tokens
    expect(await tokens()).toBe(95)
    await processes.pass(11)
    expect(await tokens()).toBe(100)
    expect(await processes.send(other)).toBe(true)
    await other.shares.stop()
    expect(await tokens()).toBe(99)
  })

  test('that cannot reach the database uses the share that it has, and no more', async () => {
    const processes = new Processes({ perSecond: 100, burst: 100 })
    const process = processes.join(0)
    processes.join(0)
    expect(await processes.send(process)).toBe(true)
    await db.query('alter table rate_usage rename to rate_usage_away')
    try {
      const rest = Array.from({ length: 20 }, () => processes.send(process))
      const answers = await Promise.allSettled(rest)
      expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    } finally {
      await db.query('alter table rate_usage_away rename to rate_usage')
    }
    expect(await processes.send(process)).toBe(true)
  })

  test('with a message for more than a burst owes the rest', async () => {
    const processes = new Processes({ perSecond: 10, burst: 5 })
    const [one, other] = [processes.join(0), processes.join(0)]
    expect(await processes.send(one, 20)).toBe(true)
    expect(await processes.send(one)).toBe(false)
    await one.shares.stop()
    expect(await processes.send(other)).toBe(false)
    await processes.pass(1)
    expect(await processes.send(other)).toBe(false)
    await processes.pass(2)
    expect(await processes.send(other)).toBe(true)
  })

  test('that is alone asks nobody, until it is not', async () => {
    const processes = new Processes({ perSecond: 100, burst: 100 })
    const state = { isAlone: true }
    const first = processes.join(300, { isAlone: () => state.isAlone })
    expectWithin(await processes.pass(10), 1_100)
    expect(processes.statements).toBe(0)
    state.isAlone = false
    const second = processes.join(300)
    await processes.pass(2)
    expectWithin(await processes.pass(10), 1_000)
    await second.shares.stop()
    processes.kill(second)
    state.isAlone = true
    await processes.pass(2)
    processes.statements = 0
    expectWithin(await processes.pass(10), 1_000)
    expect([processes.statements, first.refused > 0]).toEqual([0, true])
  })

  test('says how many messages would pass', async () => {
    const limit = { perSecond: 10, burst: 50 }
    const processes = new Processes(limit)
    const [one, other] = [processes.join(0), processes.join(0)]
    for (let message = 0; message < 20; message += 1) expect(await processes.send(one)).toBe(true)
    const left = await other.shares.plans.left(processes.planId, limit, processes.nowMs)
    expect(left).toBeGreaterThanOrEqual(26)
    expect(left).toBeLessThanOrEqual(30)
  })
})

test('an account and a plan of one number have limits of their own', async () => {
  const processes = new Processes({ perSecond: 1, burst: 1 })
  const { shares } = processes.join(0)
  processes.join(0)
  const limit = { perSecond: 1, burst: 1 }
  expect(await shares.plans.take(processes.planId, limit, processes.nowMs)).toBe(0)
  expect(await shares.accounts.take(processes.planId, limit, processes.nowMs)).toBe(0)
  expect(await shares.plans.take(processes.planId, limit, processes.nowMs)).toBeCloseTo(1_000)
})

test('buckets that nobody asks for are deleted after a day', async () => {
  const request = { scope: 'plan', id: newPlan(), perSecond: 1, burst: 1, initial: 1 } as const
  const ask = () => exchangeTokens(db, [{ ...request, wanted: 1, asked: 0, returned: 0 }], RUN_MS)
  await deleteIdleBuckets(db, 1_000)
  expect(await ask()).toMatchObject([{ granted: 1, left: 0 }])
  expect(await deleteIdleBuckets(db, 1_000)).toBe(0)
  await db.query(`update rate_usage set as_of = as_of - interval '25 hours' where id = $1`, [request.id])
  expect(await deleteIdleBuckets(db, 1_000)).toBe(1)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RateShares } from '../../../src/services/limits/rate-shares.ts'
import type { Database } from '../../../src/store/database.ts'
import { installedDatabase } from '../../support/installation.ts'
import { quietLog } from '../../support/log.ts'

/** How much several processes let through together while their statements wait and their clocks differ. */

const { db } = await installedDatabase()
const STEP_MS = 50
const RUN_MS = 500
const LASTS_MS = 6_000
const START_MS = Date.parse('2026-03-14T12:00:00Z')

type Statement = string | { readonly text: string }

/** A database with a clock that the test moves, which executes each statement when its time has come. */
class DelayedDatabase {
  nowMs = START_MS
  /** When the first and the last statement were executed. */
  firstMs = 0
  lastMs = 0
  #held: { readonly atMs: number; readonly execute: () => Promise<void> }[] = []

  /** For one process, whose statements wait for so long, in turn. */
  for(delaysMs: readonly number[]): Database {
    let count = 0
    const query = (statement: Statement, values?: unknown[]) => {
      const { promise, resolve, reject } = Promise.withResolvers()
      const execute = () => this.#execute(statement, values).then(resolve, reject)
      this.#held.push({ atMs: this.nowMs + delaysMs[count++ % delaysMs.length]!, execute })
      return promise
    }
    return { query } as unknown as Database
  }

  /** Executes what is due, and what follows from its answers. */
  async settle(): Promise<void> {
    for (;;) {
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      const due = this.#held.filter(({ atMs }) => atMs <= this.nowMs)
      if (due.length === 0) return
      this.#held = this.#held.filter(({ atMs }) => atMs > this.nowMs)
      for (const { execute } of due) await execute()
    }
  }

  #execute(statement: Statement, values?: unknown[]): Promise<unknown> {
    this.lastMs = this.nowMs
    if (this.firstMs === 0) this.firstMs = this.nowMs
    const clocked = (text: string) =>
      text.replaceAll('clock_timestamp()', `to_timestamp(${this.nowMs / 1_000})`)
    return typeof statement === 'string'
      ? db.query(clocked(statement), values)
      : db.query({ ...statement, text: clocked(statement.text) })
  }
}

const process = fc.record({
  aheadMs: fc.integer({ min: -500, max: 500 }),
  delaysMs: fc.array(fc.integer({ min: 0, max: 1_900 }), { minLength: 1, maxLength: 5 }),
  perStep: fc.integer({ min: 0, max: 20 }),
})
const limit = fc.record({
  perSecond: fc.integer({ min: 1, max: 200 }),
  burst: fc.integer({ min: 1, max: 300 }),
})

let plans = 0

test('never more than a burst and what has been filled in since', async () => {
  const property = fc.asyncProperty(
    limit,
    fc.array(process, { minLength: 2, maxLength: 4 }),
    async (rate, given) => {
      plans += 1
      const planId = plans
      const database = new DelayedDatabase()
      let passed = 0
      const processes = given.map(({ aheadMs, delaysMs, perStep }) => {
        const clock = () => database.nowMs + aheadMs
        const shares = new RateShares({
          db: database.for(delaysMs),
          log: quietLog,
          clock,
          isAlone: () => false,
        })
        const send = async () => {
          if ((await shares.plans.take(planId, rate, clock())) === 0) passed += 1
        }
        return { shares, perStep, send }
      })
      const ends: Promise<unknown>[] = []
      for (; database.nowMs < START_MS + LASTS_MS; database.nowMs += STEP_MS) {
        for (const { shares, perStep, send } of processes) {
          if ((database.nowMs - START_MS) % RUN_MS === 0) ends.push(shares.runOnce())
          for (let message = 0; message < perStep; message += 1) ends.push(send())
        }
        await database.settle()
      }
      let isOver = false
      ends.push(...processes.map(({ shares }) => shares.stop()))
      const over = Promise.allSettled(ends).then(() => (isOver = true))
      for (; !isOver; database.nowMs += STEP_MS) await database.settle()
      await over
      const seconds = (database.lastMs - database.firstMs) / 1_000
      expect(passed).toBeLessThanOrEqual(rate.burst + seconds * rate.perSecond)
    },
  )
  await fc.assert(property, { numRuns: 20 })
})

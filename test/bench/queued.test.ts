import { expect, it } from 'vitest'
import { overtakenMs, queuedFigures } from '../../bench/queued.ts'
import type { Ledgers } from '../../bench/tools/ledgers.ts'

const SECOND_US = 1_000_000

/** Accepted each second, and submitted in this order, a second apart, from the 100th second on. */
function ledgersOf(order: readonly number[]): Ledgers {
  return {
    load: order
      .toSorted((a, b) => a - b)
      .map((number) => ({
        number,
        dueUs: number * SECOND_US,
        latencyUs: 2_000,
        status: 202,
        msgId: null,
      })),
    carrier: order.map((number, index) => ({
      number,
      submits: 1,
      submittedUs: (100 + index) * SECOND_US,
      receiptUs: 0,
      acknowledgedUs: 0,
    })),
    receiver: order.map((number, index) => ({
      number,
      sent: 1,
      delivered: 1,
      sentUs: 0,
      deliveredUs: (101 + index) * SECOND_US,
      msgId: null,
    })),
  }
}

it('a message that overtakes older ones is told by how much younger it is than the oldest', () => {
  const { load, carrier } = ledgersOf([0, 3, 1, 2, 4])
  expect(overtakenMs(load, carrier)).toEqual([0, 2_000, 0, 0, 0])
  const inOrder = ledgersOf([0, 1, 2])
  expect(overtakenMs(inOrder.load, inOrder.carrier.toReversed())).toEqual([0, 0, 0])
})

it('the drain begins with the first submit after the return of the carrier', () => {
  const cpu = { subject: {}, tools: {} }
  const run = {
    accepting: { fromUs: 0, toUs: 10 * SECOND_US },
    acceptCpu: cpu,
    drainCpu: cpu,
    eachSecond: [1],
    memoryMib: 1,
    drainMemoryMib: 2,
    messages: 10,
    upUs: 98 * SECOND_US,
  }
  const figures = queuedFigures(run, ledgersOf([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
  expect(figures).toMatchObject({
    returnSeconds: 2,
    drainPerSecond: 1,
    overtaken: { count: 10, max: 0 },
    first: { perSecond: 1, latency: { p50: 2 } },
    last: { perSecond: 1 },
  })
  const byAge = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
  expect(() => queuedFigures(run, ledgersOf(byAge.toReversed()))).toThrow(
    'overtook one that was 9000 ms older',
  )
})

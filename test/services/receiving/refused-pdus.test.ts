import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Carrier } from '../../../src/domain/configuration/configuration.ts'
import { RefusedPdus } from '../../../src/services/receiving/refused-pdus.ts'
import { KeptLog } from '../../support/log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const CARRIER = { name: 'main' } as Carrier

test('every refusal is counted; what comes together, or within a minute of a line, is one line', async () => {
  const counted: string[] = []
  const log = new KeptLog()
  const refusals = new RefusedPdus({ count: (kind, reason) => counted.push(`${kind} ${reason}`), log })
  for (let n = 0; n < 64; n += 1) refusals.add('receipt', 'not_recorded', CARRIER)
  expect(log.lines).toHaveLength(0)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(log.lines).toHaveLength(1)
  for (let second = 0; second < 50; second += 1) {
    refusals.add('inbound', 'stalled', CARRIER)
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(log.lines).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(log.lines).toHaveLength(2)
  refusals.add('inbound', 'stalled', CARRIER)
  refusals.stop()
  expect([log.lines.length, counted.length]).toEqual([3, 115])
  await vi.advanceTimersByTimeAsync(120_000)
  expect(log.lines).toHaveLength(3)
})

test('one that comes after the stop does not hold the process', () => {
  vi.useRealTimers()
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const refusals = new RefusedPdus({ count: () => {}, log: new KeptLog() })
  refusals.stop()
  const before = timers()
  refusals.add('receipt', 'not_recorded', CARRIER)
  expect(timers()).toBe(before)
  refusals.stop()
})

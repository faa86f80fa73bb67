import { expect, test } from 'vitest'
import { counterLine, zeroCounters } from '../../src/simulator/counters.ts'

const EARLIER = { ...zeroCounters(), binds: 0, kept: 0, scheduled: 0 }

test('one line, with the rate since the last one', () => {
  const now = { ...EARLIER, submits: 30, accepted: 28, refused: 2, receipts: 27, binds: 1, kept: 1 }
  expect(counterLine(now, EARLIER, 10_000)).toBe(
    'submits 30 (3/s)  accepted 28  refused 2  receipts 27  inbound 0  resent 0  dropped 0  kept 1  binds 1',
  )
})

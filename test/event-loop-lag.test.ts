import { expect, it } from 'vitest'
import { EventLoopLag } from '../src/event-loop-lag.ts'

/** Longer than several samples are apart. */
const BLOCKED_MS = 300

it('tells how long the event loop was blocked, and forgets it at a reset', async () => {
  const lag = new EventLoopLag()
  const figures = () => [lag.min, lag.max, lag.mean, lag.stddev, lag.percentile(99)]
  expect(figures()).toEqual([0, 0, 0, 0, 0])
  // Until there is a sample that the next one is compared with.
  await expect.poll(() => lag.mean).toBeGreaterThan(0)
  const untilMs = performance.now() + BLOCKED_MS
  while (performance.now() < untilMs);
  await expect.poll(() => lag.max).toBeGreaterThan(BLOCKED_MS / 2_000)
  expect(lag.percentile(99)).toBeGreaterThan(BLOCKED_MS / 2_000)
  lag.reset()
  expect(figures()).toEqual([0, 0, 0, 0, 0])
})

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Log } from '../../../src/log.ts'
import { PeriodicTask } from '../../../src/services/loops/periodic-task.ts'
import { KeptLog, quietLog } from '../../support/log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const INTERVAL_MS = 1_000

/** A task whose runs are ended by hand; `begun` counts them. */
function task(log: Log = quietLog) {
  const runs: PromiseWithResolvers<unknown>[] = []
  const periodic = new PeriodicTask(log, 'failed', INTERVAL_MS, () => {
    const run = Promise.withResolvers<unknown>()
    runs.push(run)
    return run.promise
  })
  return { periodic, runs, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) }
}

test('one run follows the other, an interval after its end', async () => {
  const { periodic, runs, pass } = task()
  periodic.start()
  await pass(INTERVAL_MS - 1)
  expect(runs).toHaveLength(0)
  await pass(1)
  expect(runs).toHaveLength(1)
  await pass(10 * INTERVAL_MS)
  expect(runs).toHaveLength(1)
  runs[0]!.resolve(undefined)
  await pass(INTERVAL_MS)
  expect(runs).toHaveLength(2)
})

test('started again while it runs, it does not run twice at once', async () => {
  const { periodic, runs, pass } = task()
  periodic.start(0)
  await pass(0)
  periodic.start(0)
  await pass(INTERVAL_MS)
  expect(runs).toHaveLength(1)
})

test('a run says when the next is due', async () => {
  const { periodic, runs, pass } = task()
  periodic.start(0)
  await pass(0)
  runs[0]!.resolve(5)
  await pass(5)
  expect(runs).toHaveLength(2)
})

test('woken it runs at once; while it runs, once more', async () => {
  const { periodic, runs, pass } = task()
  periodic.wake()
  await pass(0)
  expect(runs).toHaveLength(0)
  periodic.start()
  periodic.wake()
  expect(runs).toHaveLength(1)
  periodic.wake()
  periodic.wake()
  expect(runs).toHaveLength(1)
  runs[0]!.resolve(undefined)
  await pass(0)
  expect(runs).toHaveLength(2)
  runs[1]!.resolve(undefined)
  await pass(INTERVAL_MS - 1)
  expect(runs).toHaveLength(2)
})

test('it goes on after failures, and tells the first in a row and their end', async () => {
  const log = new KeptLog()
  const { periodic, runs, pass } = task(log)
  periodic.start(0)
  await pass(0)
  for (const [index, failure] of ['first', 'second', null, 'third'].entries()) {
    if (failure === null) runs[index]!.resolve(undefined)
    else runs[index]!.reject(failure)
    await pass(INTERVAL_MS)
  }
  const line = { level: 'error', message: 'failed' }
  expect(log.lines).toEqual([
    { ...line, err: 'first' },
    { level: 'info', message: 'no longer: failed', failures: 2 },
    { ...line, err: 'third' },
  ])
  expect(runs).toHaveLength(5)
})

test('stopped it waits for the run that has begun, and begins none', async () => {
  const { periodic, runs, pass } = task()
  periodic.start(0)
  await pass(0)
  periodic.wake()
  const stopped = vi.fn()
  void periodic.stop().then(stopped)
  await pass(INTERVAL_MS)
  expect(stopped).not.toHaveBeenCalled()
  runs[0]!.resolve(undefined)
  await pass(10 * INTERVAL_MS)
  expect(stopped).toHaveBeenCalled()
  periodic.wake()
  expect(runs).toHaveLength(1)
})

test('hastened, the next run begins sooner, never later', async () => {
  const { periodic, runs, pass } = task()
  periodic.hasten(10)
  await pass(INTERVAL_MS)
  expect(runs).toHaveLength(0)
  periodic.start()
  periodic.hasten(2 * INTERVAL_MS)
  periodic.hasten(10)
  periodic.hasten(20)
  await pass(10)
  expect(runs).toHaveLength(1)
  // During a run it is the pause after it that is shortened, once.
  periodic.hasten(30)
  runs[0]!.resolve(undefined)
  await pass(29)
  expect(runs).toHaveLength(1)
  await pass(1)
  expect(runs).toHaveLength(2)
  runs[1]!.resolve(undefined)
  await pass(INTERVAL_MS - 1)
  expect(runs).toHaveLength(2)
  await pass(1)
  expect(runs).toHaveLength(3)
})

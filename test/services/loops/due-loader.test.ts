import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SharedRoom } from '../../../src/collections/shared-room.ts'
import { DueLoader } from '../../../src/services/loops/due-loader.ts'
import { quietLog } from '../../support/log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const POLL_MS = 200
const REST_MS = 1_000

/** Counts its looks, which find what a test says. */
class CountedLooks extends DueLoader {
  looks = 0
  isQueued = false

  constructor(isAlone: boolean) {
    super({
      log: quietLog,
      failure: 'failed',
      mayTake: () => true,
      isAlone: () => isAlone,
      isFailing: () => false,
      room: new SharedRoom(1),
      pollMs: POLL_MS,
      onFailed: async () => undefined,
    })
  }

  protected async look() {
    this.looks += 1
    return this.isQueued ? undefined : ('nothing queued' as const)
  }
}

/** A loader after its first look. */
async function looked(isAlone: boolean): Promise<CountedLooks> {
  const loader = new CountedLooks(isAlone)
  loader.start()
  await pass(POLL_MS)
  expect(loader.looks).toBe(1)
  return loader
}

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}

test('while nothing is queued, a node that is alone looks once a second', async () => {
  const loader = await looked(true)
  await pass(REST_MS - 1)
  expect(loader.looks).toBe(1)
  loader.isQueued = true
  await pass(1)
  expect(loader.looks).toBe(2)
  await pass(3 * POLL_MS)
  expect(loader.looks).toBe(5)
})

test('it looks as soon as ever when this process has written, during a look too', async () => {
  const loader = await looked(true)
  await pass(POLL_MS)
  loader.stir()
  await pass(POLL_MS)
  expect(loader.looks).toBe(2)
  loader.wake()
  loader.stir()
  await pass(POLL_MS)
  expect(loader.looks).toBe(4)
})

test('a second wake is not lost in the rest after the first, which found nothing', async () => {
  const loader = await looked(true)
  loader.wake()
  await pass(0)
  expect(loader.looks).toBe(2)
  loader.wake()
  await pass(POLL_MS - 1)
  expect(loader.looks).toBe(2)
  await pass(1)
  expect(loader.looks).toBe(3)
})

test('beside other nodes, which may queue something, it never rests', async () => {
  const loader = await looked(false)
  await pass(3 * POLL_MS)
  expect(loader.looks).toBe(4)
})

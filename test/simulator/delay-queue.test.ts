import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { DelayQueue } from '../../src/simulator/delay-queue.ts'

const queue = new DelayQueue()

afterEach(() => {
  queue.clear()
  vi.useRealTimers()
})

test('runs in order of time, equals in order of adding, whatever was added when', () => {
  vi.useFakeTimers()
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 60 }), (delays) => {
      const ran: [number, number][] = []
      delays.forEach((delayMs, index) => {
        queue.add(delayMs, () => ran.push([delayMs, index]))
      })
      expect(queue.size).toBe(delays.length)
      vi.runAllTimers()
      expect(queue.size).toBe(0)
      const expected = delays.map((delayMs, index): [number, number] => [delayMs, index])
      expect(ran).toEqual(expected.sort(([a, i], [b, j]) => a - b || i - j))
    }),
  )
})

test('nothing runs before its time', () => {
  vi.useFakeTimers()
  const ran: string[] = []
  queue.add(20, () => ran.push('late'))
  queue.add(10, () => ran.push('early'))
  vi.advanceTimersByTime(9)
  expect(ran).toEqual([])
  vi.advanceTimersByTime(1)
  expect(ran).toEqual(['early'])
  vi.advanceTimersByTime(10)
  expect(ran).toEqual(['early', 'late'])
})

test('work may add work, which runs in a later turn', () => {
  vi.useFakeTimers()
  let rounds = 0
  const again = () => {
    rounds += 1
    if (rounds < 5) queue.add(0, again)
  }
  queue.add(0, again)
  vi.advanceTimersToNextTimer()
  expect(rounds).toBe(1)
  vi.runAllTimers()
  expect(rounds).toBe(5)
})

test('cleared work does not run, and the queue works on', async () => {
  const ran: string[] = []
  queue.add(0, () => ran.push('cleared'))
  queue.clear()
  await new Promise<void>((done) => queue.add(1, done))
  expect(ran).toEqual([])
})

import { expect, test } from 'vitest'
import { MAX_THROUGHPUT, Throughput } from '../../src/simulator/throughput.ts'

test('as many as allowed in any second', () => {
  const throughput = new Throughput(2)
  const moments: [nowMs: number, taken: boolean][] = [
    [0, true],
    [900, true],
    [999, false],
    [1_000, true],
    [1_899, false],
    [1_900, true],
  ]
  for (const [nowMs, taken] of moments) expect(throughput.take(nowMs)).toBe(taken)
})

test.each([0, -1, 1.5, Number.NaN, MAX_THROUGHPUT + 1])('%d is no throughput', (perSecond) => {
  expect(() => new Throughput(perSecond)).toThrow(RangeError)
})

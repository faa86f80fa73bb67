import { expect, test } from 'vitest'
import { type EarlierOffer, isOfferedAgain, LEAST_TIMEOUT_MS } from '../../src/domain/inbound-offers.ts'

const ARRIVED_MS = 1_000

const CASES: readonly [string, Partial<EarlierOffer>, number, boolean][] = [
  ['was answered at once over a link that lives', { answer: 'taken', answeredAtMs: 1_010 }, 1_020, false],
  ['was so an hour ago', { answer: 'taken', answeredAtMs: 1_010 }, 3_600_000, false],
  [
    'was answered, but its link is gone',
    { answer: 'taken', answeredAtMs: 1_010, linkLives: false },
    1_020,
    true,
  ],
  ['was refused', { answer: 'refused', answeredAtMs: 1_010 }, 1_020, true],
  ['was answered too late', { answer: 'taken', answeredAtMs: ARRIVED_MS + LEAST_TIMEOUT_MS }, 20_000, true],
  ['waits for its answer, since a moment', {}, ARRIVED_MS + LEAST_TIMEOUT_MS - 1, false],
  ['waits for its answer, since long', {}, ARRIVED_MS + LEAST_TIMEOUT_MS, true],
  ['waits for its answer, and its link is gone', { linkLives: false }, 1_001, true],
]

test.each(CASES)(
  'the same contents after one that %s: offered again %#',
  (_case, changes, arrivedAtMs, expected) => {
    const earlier = { arrivedAtMs: ARRIVED_MS, answer: null, answeredAtMs: null, linkLives: true, ...changes }
    expect(isOfferedAgain(earlier, arrivedAtMs)).toBe(expected)
  },
)

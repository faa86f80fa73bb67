import { expect, test } from 'vitest'
import {
  CONFIRMED_AFTER_MS,
  type EarlierOffer,
  END_READ_WITHIN_MS,
  isAnswerRead,
  isOfferedAgain,
  LEAST_TIMEOUT_MS,
} from '../../../src/domain/carriers/inbound-offers.ts'

const ARRIVED_MS = 1_000
const LIVING = { lastReceivedMs: ARRIVED_MS, closed: null }
const LOST = { lastReceivedMs: ARRIVED_MS, closed: { code: 'socket_error', atMs: 1_020 } }
const UNBOUND = { ...LOST, closed: { code: 'unbound', atMs: 1_020 } }
const HEARD = {
  lastReceivedMs: 1_010 + CONFIRMED_AFTER_MS,
  closed: { code: 'socket_error', atMs: 9_000 },
}
const HEARD_THEN_UNBOUND = { ...UNBOUND, lastReceivedMs: 19_000 }

const AT_ONCE = { answer: 'acknowledged', answeredAtMs: 1_010 } as const
const LATE = { answer: 'acknowledged', answeredAtMs: ARRIVED_MS + LEAST_TIMEOUT_MS } as const
const REFUSED = { answer: 'refused', answeredAtMs: 1_010 } as const

const CASES: readonly [string, Partial<EarlierOffer>, number, boolean][] = [
  ['was answered at once over a session that lives', AT_ONCE, 1_020, false],
  ['was so an hour ago', AT_ONCE, 3_600_000, false],
  ['was answered, but its session is gone', { ...AT_ONCE, session: LOST }, 1_020, true],
  [
    'was answered, and the end of its session is read just behind both',
    { ...AT_ONCE, session: LOST },
    1_019,
    true,
  ],
  [
    'was answered, and its session was lost behind both',
    { ...AT_ONCE, session: { ...LOST, closed: { ...LOST.closed, atMs: 1_021 + END_READ_WITHIN_MS } } },
    1_020,
    false,
  ],
  ['was answered, and its session was unbound in order', { ...AT_ONCE, session: UNBOUND }, 1_020, false],
  ['was answered, heard of, and its session lost later', { ...AT_ONCE, session: HEARD }, 9_000, false],
  ['was refused', REFUSED, 1_020, true],
  ['was refused when this one had arrived', REFUSED, 1_009, false],
  ['was answered too late', LATE, 20_000, true],
  ['was so, and this one came before any carrier gives up', LATE, ARRIVED_MS + 1_000, false],
  [
    'was so, and its session was heard of and unbound',
    { ...LATE, session: HEARD_THEN_UNBOUND },
    20_000,
    true,
  ],
  ['waits for its answer, since a moment', {}, ARRIVED_MS + LEAST_TIMEOUT_MS - 1, false],
  ['waits for its answer, since long', {}, ARRIVED_MS + LEAST_TIMEOUT_MS, true],
  ['waits for its answer, and its session is gone', { session: LOST }, 1_020, true],
  ['had no answer, and its session was unbound', { session: UNBOUND }, 1_020, true],
]

const earlier = (changes: Partial<EarlierOffer>): EarlierOffer => ({
  arrivedAtMs: ARRIVED_MS,
  answer: null,
  answeredAtMs: null,
  session: LIVING,
  ...changes,
})

test.each(CASES)(
  'the same contents after one that %s: offered again %#',
  (_case, changes, arrivedAtMs, expected) => {
    expect(isOfferedAgain(earlier(changes), arrivedAtMs)).toBe(expected)
  },
)

test('an answer is read when its session is heard of later or unbound, unless it was late or a refusal', () => {
  const read = [AT_ONCE, LATE, REFUSED, {}].map((answer) =>
    [LIVING, LOST, HEARD, UNBOUND].map((session) => isAnswerRead(earlier({ ...answer, session }))),
  )
  const never = [false, false, false, false]
  expect(read).toEqual([[false, false, true, true], never, never, never])
})

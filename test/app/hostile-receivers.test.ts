import { describe } from 'vitest'
import { testAnswering, testHanging } from './hostile-receivers.ts'

/** One of each kind: hostile-receivers.long.test.ts has all. */
const SOME = [
  '500: tried again',
  'the connection reset unanswered: tried again',
  'no HTTP: tried again',
  'close before the connection is secured: tried again',
  '429: not before its Retry-After, as far as the schedule allows',
  '2xx, then 1 GiB: delivered',
  'down and up again: everything arrives',
  'no answer: tried again',
  '2xx, then a body in drips: delivered',
  'connections taken and never secured: tried again',
]
const isWanted = (name: string) => SOME.includes(name)

describe('a receiver that answers, or ends the connection', () => testAnswering(isWanted))

describe('a receiver that hangs', () => testHanging(isWanted))

import { test } from 'vitest'
import { killCarrier } from './two-carriers.ts'

test(
  'two carriers at 3:1, one killed at random instants: nothing is lost, only what is flagged is sent twice',
  () => killCarrier({ kills: 2, maxAccepted: 100, shared: 300 }),
  120_000,
)

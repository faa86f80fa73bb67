import { test } from 'vitest'
import { killCarrier } from './two-carriers.ts'

test(
  'two carriers at 3:1, one killed at random instants: nothing is lost, only what is flagged is sent twice',
  () => killCarrier({ kills: 5, maxAccepted: 500, shared: 600 }),
  600_000,
)

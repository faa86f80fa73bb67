import { test } from 'vitest'
import { killService, killServiceOrDatabase } from './webhooks.ts'

test(
  'kill -9 of the service while it delivers: no event is lost, only what was in flight comes twice',
  () => killService({ kills: 1, waiting: 100, maxAccepted: 50 }),
  120_000,
)

test(
  'kill -9 of the service, its PostgreSQL, or both: no event is lost, what comes twice was in flight at a kill',
  () => killServiceOrDatabase({ kills: 3, waiting: 200, maxAccepted: 50 }),
  120_000,
)

import { test } from 'vitest'
import { killService, killServiceOrDatabase } from './webhooks.ts'

test(
  'kill -9 of the service while it delivers: no event is lost, only what was in flight comes twice',
  () => killService({ kills: 5, waiting: 1_000, maxAccepted: 200 }),
  600_000,
)

test(
  'kill -9 of the service, its PostgreSQL, or both: no event is lost, what comes twice was in flight at a kill',
  () => killServiceOrDatabase({ kills: 5, waiting: 1_000, maxAccepted: 200 }),
  600_000,
)

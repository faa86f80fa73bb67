import { test } from 'vitest'
import { killService, killServiceOrDatabase } from './kill-9.ts'

test(
  'kill -9 of the service under load: nothing accepted is lost, only what was in flight is sent twice',
  () => killService({ kills: 5, maxAccepted: 600 }),
  600_000,
)

test(
  'kill -9 of the service, its PostgreSQL, or both: nothing accepted is lost, nothing answered 500 is sent',
  () => killServiceOrDatabase({ kills: 5, maxAccepted: 600 }),
  600_000,
)

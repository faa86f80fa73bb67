import { expect, test } from 'vitest'
import { MINUTE_MS } from '../../src/domain/instants.ts'
import { pauseCountries, readCountryResults } from '../../src/store/country-pauses.ts'
import { nextWriter, writeStatistics } from '../../src/store/statistics.ts'
import { freshDatabase } from '../support/database.ts'
import { statisticsRow } from '../support/statistics-rows.ts'

const NOW_MS = Date.UTC(2026, 2, 10, 12, 30)

test('results from before the end of the last pause are not judged, and none of a paused country', async () => {
  await using database = await freshDatabase()
  const { db } = database
  await db.query(`insert into accounts (account_id, name, webhook_secret) values (repeat('a', 24), 'A', 'x')`)
  await db.query(
    `insert into service_plans (service_plan_id, account_id, name) values (repeat('b', 24), 1, 'A')`,
  )
  const writer = await nextWriter(db)
  const minutesAgo = [10, 6, 5, 4]
  const rows = minutesAgo.flatMap((minutes) =>
    ['SE', 'NO', 'DK'].map((country) =>
      statisticsRow({ atMs: NOW_MS - minutes * MINUTE_MS, country, failed: 1, delivered: 2 }),
    ),
  )
  await writeStatistics(db, writer, rows)
  const pause = { planId: 1, reason: 'artificial' }
  // Sweden was paused until five minutes ago; Norway still is.
  const pausedAt = new Date(NOW_MS - 9 * MINUTE_MS)
  await pauseCountries(db, [{ ...pause, country: 'SE', minutes: 4 }], pausedAt)
  await pauseCountries(db, [{ ...pause, country: 'NO', minutes: 60 }], pausedAt)
  const results = await readCountryResults(db, [{ planId: 1, windowMinutes: 8 }], new Date(NOW_MS))
  expect(results.toSorted((a, b) => (a.country < b.country ? -1 : 1))).toEqual([
    { planId: 1, country: 'DK', delivered: 6, failed: 3, unknown: 0 },
    { planId: 1, country: 'SE', delivered: 4, failed: 2, unknown: 0 },
  ])
})

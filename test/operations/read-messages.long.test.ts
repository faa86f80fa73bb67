import { expect, test } from 'vitest'
import { installedDatabase } from '../support/installation.ts'
import { walkWhileProjecting } from '../support/list-walks.ts'

const { db, announcedPlan: plan } = await installedDatabase({ poolSize: 8 })

test('10,000 pages show each message once and in order while messages move into the records and out of them', async () => {
  const seen = await walkWhileProjecting(db, plan, 10_000)
  expect(seen.pages).toBeGreaterThanOrEqual(10_000)
})

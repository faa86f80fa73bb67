import { expect, test } from 'vitest'
import type { LimitEvent } from '../../../src/domain/limits/plan-limits.ts'
import { LimitEvents } from '../../../src/services/limits/limit-events.ts'
import { readDirectory } from '../../../src/store/directory.ts'
import { insertLimitEvents } from '../../../src/store/limit-events.ts'
import { aDirectory, anAccount, aPlan } from '../../support/directory.ts'
import { installedDatabase } from '../../support/installation.ts'
import { strictLog } from '../../support/log.ts'

/** Events of the limits of several plans. */

const { db, announcedPlan, silentPlan } = await installedDatabase()
await db.query(
  `update service_plans set limit_events = true, inbound_url = coalesce(inbound_url, 'https://example.org/mo')`,
)
const directory = await readDirectory(db, (sealed) => sealed)

const paused = (planId: number, country: string): LimitEvent => ({
  planId,
  contents: { type: 'countryPaused', country, until: '2026-03-14T12:00:00Z', reason: 'prefix' },
})

test('a plan whose receiver hangs keeps back no event of another', async () => {
  const countries = [
    'AT',
    'BE',
    'CH',
    'DE',
    'ES',
    'FI',
    'FR',
    'GB',
    'IE',
    'IS',
    'IT',
    'LI',
    'LU',
    'NL',
    'NO',
    'PL',
    'PT',
  ]
  const many = [...countries, 'CZ', 'DK', 'SE', 'SI', 'SK'].map((country) => paused(announcedPlan, country))
  await insertLimitEvents(db, many)
  await insertLimitEvents(db, [paused(silentPlan, 'DE')])
  const hung = Promise.withResolvers<{ ok: boolean }>()
  const other = Promise.withResolvers<string>()
  const posted: string[] = []
  const events = new LimitEvents({
    db,
    directory: () => directory,
    log: strictLog,
    clock: Date.now,
    secretKey: Buffer.alloc(32),
    post: (_account, { url, eventId }) => {
      posted.push(eventId)
      if (url === 'https://example.com/mo') return hung.promise
      other.resolve(eventId)
      return Promise.resolve({ ok: true })
    },
  })
  const run = events.runOnce()
  await other.promise
  expect(posted.length).toBeLessThanOrEqual(3)
  hung.resolve({ ok: true })
  await run
  while ((await events.runOnce()) === 0);
  expect([posted.length, new Set(posted).size]).toEqual([23, 23])
  expect((await db.query('select from limit_events where due_at is not null')).rowCount).toBe(0)
})

test('one whose URL cannot be decrypted waits for its next attempt, and another goes out', async () => {
  const account = anAccount({ webhookSecrets: ['whsec_AAAA'] })
  const plans = [
    aPlan({ id: announcedPlan, account, inboundUrl: 'v1.00000000.AAAA' }),
    aPlan({ id: silentPlan, account, inboundUrl: 'https://example.org/mo' }),
  ]
  await insertLimitEvents(db, [paused(announcedPlan, 'HU'), paused(silentPlan, 'HU')])
  const posted: string[] = []
  const events = new LimitEvents({
    db,
    directory: () => aDirectory({ accounts: [account], plans }),
    log: strictLog,
    clock: Date.now,
    secretKey: Buffer.alloc(32),
    post: (_account, { url }) => {
      posted.push(url)
      return Promise.resolve({ ok: true })
    },
  })
  while ((await events.runOnce()) === 0);
  expect(posted).toEqual(['https://example.org/mo'])
  const { rows } = await db.query('select plan_id from limit_events where due_at is not null')
  expect(rows).toEqual([{ plan_id: announcedPlan }])
})

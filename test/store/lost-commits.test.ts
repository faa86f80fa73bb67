import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { messageId } from '../../src/domain/identifiers.ts'
import { type Database, isOutcomeUnknown, withTransaction } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import { insertInboundMessages } from '../../src/store/inbound-messages.ts'
import { countOffers } from '../../src/store/inbound-offers.ts'
import { appendEntry, decideEntry, openLane } from '../../src/store/journal.ts'
import { migrate } from '../../src/store/migrate.ts'
import { eventually } from '../support/service.ts'
import { type StockPostgres, startStockPostgres } from '../support/stock-postgres.ts'

/**
 * A primary that was killed while a COMMIT waited for its synchronous standby shows what it committed when it is back,
 * though the standby may not have it. Whoever answers because of what is found there has to wait for the standby first.
 */
let server: StockPostgres
let db: Database

beforeAll(async () => {
  server = await startStockPostgres()
  const { connectionString } = server
  await migrate({ connectionString })
  db = openDatabase({ connectionString, poolSize: 4 })
})

afterAll(async () => {
  await db.end()
  await server.stop()
})

beforeEach(() => waitFor(''))

/** Has COMMITs wait for this standby; for none. Every process of the server learns of it in its own time. */
async function waitFor(standby: string): Promise<void> {
  await db.query(`alter system set synchronous_standby_names = '${standby}'`)
  await db.query('select pg_reload_conf()')
}

async function areWaiting(count: number): Promise<boolean> {
  const { rows } = await db.query(`select from pg_stat_activity where wait_event = 'SyncRep'`)
  return rows.length >= count
}

/** Commits, until a COMMIT waits. */
async function untilOneWaits(): Promise<void> {
  let isAnswered = true
  while (isAnswered) {
    isAnswered = false
    const commit = db.query(`select pg_logical_emit_message(true, 'any', 'text')`)
    commit.then(
      () => {
        isAnswered = true
      },
      () => undefined,
    )
    await eventually(async () => isAnswered || (await areWaiting(1)))
  }
}

/** What `find` resolves with, once it has waited for a standby that comes back then. */
async function waited<T>(find: () => Promise<T>): Promise<T> {
  await waitFor('away')
  await untilOneWaits()
  const found = find()
  const isWaiting = eventually(() => areWaiting(2))
  expect(await Promise.race([found.then(() => 'answered'), isWaiting.then(() => 'waiting')])).toBe('waiting')
  await waitFor('')
  await eventually(async () => !(await areWaiting(1)))
  return await found
}

test('a COMMIT whose wait for the standby is cancelled is not answered, and is found once the standby has it', async () => {
  const lane = await openLane(db, 1)
  const data = Buffer.from('entry')
  await waitFor('away')
  await untilOneWaits()
  const cancel = async () => {
    await eventually(() => areWaiting(2))
    await db.query(`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`)
  }
  const outcomes = [
    () => appendEntry(db, lane, 1, data),
    () => withTransaction(db, (tx) => appendEntry(tx, lane, 2, data)),
  ]
  for (const append of outcomes) {
    const outcome = append().catch(isOutcomeUnknown)
    await cancel()
    expect(await outcome).toBe(true)
    await untilOneWaits()
  }
  expect(await waited(() => appendEntry(db, lane, 1, data))).toBe('written')
})

test('an inbound message is found only when the standby has it', async () => {
  const offer = {
    carrierId: 1,
    fingerprint: '00'.repeat(16),
    offerId: messageId(Date.now(), randomBytes(9), 0),
    turn: 1,
    judgedAtMs: Date.now(),
  }
  await insertInboundMessages(db, [], { nodeId: null, buckets: [] }, { offers: [offer], nodeId: 1 })
  expect(await waited(() => countOffers(db, [offer]))).toBe(1)
})

test('an entry of the journal is found only when the standby has it', async () => {
  const lane = await openLane(db, 1)
  const data = Buffer.from('entry')
  expect(await appendEntry(db, lane, 1, data)).toBe('written')
  expect(await waited(() => appendEntry(db, lane, 1, data))).toBe('written')
  expect(await waited(() => decideEntry(db, lane, 1, data))).toBe('written')
})

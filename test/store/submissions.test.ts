import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { InstantSource } from '../../src/domain/instants.ts'
import { ensurePartitions } from '../../src/services/day-partitions.ts'
import type { Database } from '../../src/store/database.ts'
import { recordSubmissions, type Settlement, type Submission } from '../../src/store/submissions.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { newId, otherPool, seedInstallation } from '../support/installation.ts'
import {
  announced,
  eventsOf,
  HOLDER,
  NODE,
  sent,
  statusOf,
  storeMessage,
  submission,
} from '../support/stored-messages.ts'

let database: FreshDatabase
let db: Database
let plan: number
const instants = new InstantSource()

beforeAll(async () => {
  database = await freshDatabase()
  db = database.db
  plan = (await seedInstallation(db)).announcedPlan
  await ensurePartitions(db, Date.now())
})

afterAll(() => database[Symbol.asyncDispose]())

function record(
  settlements: readonly Settlement[],
  submissions: readonly Submission[] = [],
  pool = db,
  events = HOLDER,
) {
  return recordSubmissions(pool, { settlements, submissions, changedAt: instants.next(Date.now()), events })
}

async function waits(msgId: string): Promise<boolean> {
  return (await db.query('select 1 from dispatches where msg_id = $1', [msgId])).rows.length > 0
}

describe('a settlement', () => {
  test('SENT: status, sentAt, the carrier, one event, and the dispatch is gone', async () => {
    const msgId = await storeMessage(db, plan)
    const [changed] = await record([sent(plan, msgId)], [submission(plan, msgId, 'id-1')])
    expect(changed).toMatchObject({
      msgId,
      status: 'SENT',
      seq: 1,

      held: true,
      errorCode: '000',
    })
    expect(changed!.sentAt).toEqual(changed!.updatedAt)
    expect(await waits(msgId)).toBe(false)
    expect(await eventsOf(db, msgId)).toEqual([{ seq: 1, status: 'SENT', holder: NODE }])
    const { rows } = await db.query('select carrier_message_id, segment from submissions where msg_id = $1', [
      msgId,
    ])
    expect(rows).toEqual([{ carrier_message_id: 'id-1', segment: 0 }])
  })

  test.each([
    ['FAILED', '301', '0x0000000b'],
    ['UNKNOWN', '103', null],
  ] as const)('%s: no sentAt', async (status, error_code, carrier_code) => {
    const msgId = await storeMessage(db, plan)
    const changed = await record([sent(plan, msgId, { status, error_code, carrier_code })])
    expect(changed).toMatchObject([{ msgId, status, sentAt: null, errorCode: error_code }])
    expect(await announced(db, msgId)).toEqual([status])
    expect(await waits(msgId)).toBe(false)
  })

  test('of a message that has moved on ends its dispatch and changes nothing', async () => {
    const msgId = await storeMessage(db, plan)
    await record([sent(plan, msgId, { status: 'FAILED', error_code: '301' })])
    await db.query(
      `insert into dispatches (bucket, msg_id, plan_id, due_at, expires_at)
       values (get_byte(uuid_send($1), 15), $1, $2, now(), now())`,
      [msgId, plan],
    )
    expect(await record([sent(plan, msgId)])).toEqual([])
    expect(await statusOf(db, msgId)).toBe('FAILED')
    expect(await announced(db, msgId)).toEqual(['FAILED'])
    expect(await waits(msgId)).toBe(false)
  })

  test('repeated, by two nodes at once too: one event', async () => {
    await using other = otherPool(database.connectionString)
    const ids = (await Promise.all(Array.from({ length: 20 }, () => storeMessage(db, plan)))).toSorted()
    const settlements = ids.map((msgId) => sent(plan, msgId))
    const submissions = ids.map((msgId) => submission(plan, msgId, `twice-${msgId}`))
    const changed = await Promise.all([
      record(settlements, submissions),
      record(settlements, submissions, other.db),
    ])
    expect(changed.flat()).toHaveLength(20)
    for (const msgId of ids) expect(await announced(db, msgId)).toEqual(['SENT'])
    expect(await record(settlements, submissions)).toEqual([])
  })

  test('of a message that is not there changes nothing', async () => {
    expect(await record([sent(plan, newId(Date.now()))])).toEqual([])
  })
})

describe('the event', () => {
  test('none without a URL; one with the account\u2019s default', async () => {
    const without = await storeMessage(db, plan, { callback_url: null })
    expect(await record([sent(plan, without)])).toMatchObject([{ held: false }])
    await db.query(`update accounts set default_dlr_url = 'https://example.com/default'`)
    const byDefault = await storeMessage(db, plan, { callback_url: null })
    expect(await record([sent(plan, byDefault)])).toMatchObject([{ callbackUrl: null }])
    await db.query('update accounts set default_dlr_url = null')
  })

  test('is held only in buckets of this node', async () => {
    const [mine, other] = [newId(Date.now(), 3), newId(Date.now(), 4)]
    for (const msg_id of [mine, other]) await storeMessage(db, plan, { msg_id })
    const settlements = [sent(plan, mine), sent(plan, other)]
    const changed = await record(settlements, [], db, { holder: NODE, buckets: [3] })
    expect(new Map(changed.map(({ msgId, held }) => [msgId, held]))).toEqual(
      new Map([
        [mine, true],
        [other, false],
      ]),
    )
    expect(await eventsOf(db, other)).toEqual([{ seq: 1, status: 'SENT', holder: null }])
  })
})

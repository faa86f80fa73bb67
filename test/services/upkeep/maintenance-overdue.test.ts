import { beforeEach, describe, expect, test, vi } from 'vitest'
import { highestIdAt, lowestIdAt } from '../../../src/domain/identifiers.ts'
import { readDirectory } from '../../../src/store/directory.ts'
import { newId, otherPool } from '../../support/installation.ts'
import { HOUR_MS, MINUTE_MS, maintainedDatabase, NOW_MS, OVERDUE_MS } from '../../support/maintenance.ts'
import { clearTables, countOf } from '../../support/stored-messages.ts'

const { db, connectionString, announcedPlan, silentPlan, maintenance, addMessages, messageRow } =
  await maintainedDatabase()

beforeEach(() => clearTables(db, 'messages', 'events', 'event_deliveries'))

async function eventsOf(msgId: string) {
  const { rows } = await db.query(
    `select sequence, holder, status, error_code as "errorCode", plan_id as "planId", bucket, occurred_at as "occurredAt"
     from events join event_deliveries using (plan_id, msg_id, sequence) where msg_id = $1 order by sequence`,
    [msgId],
  )
  return rows
}

/** Statements of this database that wait for a lock. */
async function blocked(): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    `select count(*) as n from pg_locks l join pg_stat_activity a using (pid)
     where not l.granted and a.datname = current_database()`,
  )
  return rows[0]!.n
}

describe('overdue messages', () => {
  test('become UNKNOWN 601 with the event that says so, for whoever owns the bucket', async () => {
    const msgId = newId(OVERDUE_MS - MINUTE_MS, 77)
    await addMessages([{ msgId }])
    await maintenance().runOnce()
    expect(await messageRow(msgId)).toEqual({
      status: 'UNKNOWN',
      sequence: 2,
      errorCode: '601',
      updatedAt: new Date(NOW_MS),
    })
    expect(await eventsOf(msgId)).toEqual([
      {
        sequence: 2,
        holder: null,
        status: 'UNKNOWN',
        errorCode: '601',
        planId: announcedPlan,
        bucket: 77,
        occurredAt: new Date(NOW_MS),
      },
    ])
  })

  test('are those created 72 hours ago or earlier, to the millisecond', async () => {
    const [due, young] = [highestIdAt(OVERDUE_MS), lowestIdAt(OVERDUE_MS + 1)] as const
    await addMessages([{ msgId: due }, { msgId: young }])
    await maintenance().runOnce()
    expect([(await messageRow(due)).status, (await messageRow(young)).status]).toEqual(['UNKNOWN', 'SENT'])
  })

  test.each(['QUEUED', 'DELIVERED', 'FAILED', 'UNKNOWN'])('never one that is %s', async (status) => {
    const msgId = newId(OVERDUE_MS - MINUTE_MS)
    await addMessages([{ msgId, status }])
    await maintenance().runOnce()
    expect(await messageRow(msgId)).toMatchObject({ status, sequence: 1, errorCode: '000' })
    expect(await eventsOf(msgId)).toEqual([])
  })

  test('without a callback URL have an event only where the account has a default', async () => {
    const [without, within] = [newId(OVERDUE_MS - MINUTE_MS), newId(OVERDUE_MS - MINUTE_MS)]
    await addMessages([{ msgId: without, callbackUrl: null }])
    await maintenance().runOnce()
    expect([(await messageRow(without)).status, await eventsOf(without)]).toEqual(['UNKNOWN', []])
    await db.query(`update accounts set default_dlr_url = 'https://example.com/default'`)
    await addMessages([{ msgId: within, callbackUrl: null }])
    const directory = await readDirectory(db, (sealed) => sealed)
    await maintenance({ directory: () => directory }).runOnce()
    await db.query('update accounts set default_dlr_url = null')
    expect(await eventsOf(within)).toHaveLength(1)
  })

  test('are found by a service that was away for two days, and as time goes on', async () => {
    let nowMs = NOW_MS
    const running = maintenance({ clock: () => nowMs })
    const [missed, next, later] = [
      newId(OVERDUE_MS - 48 * HOUR_MS),
      newId(OVERDUE_MS + MINUTE_MS),
      newId(OVERDUE_MS + 3 * MINUTE_MS),
    ] as const
    await addMessages([missed, next, later].map((msgId) => ({ msgId })))
    await running.runOnce()
    expect((await messageRow(missed)).status).toBe('UNKNOWN')
    nowMs += 2 * MINUTE_MS
    await running.runOnce()
    expect([(await messageRow(next)).status, (await messageRow(later)).status]).toEqual(['UNKNOWN', 'SENT'])
  })

  test('are looked for at the times that have messages, not in every ten minutes of three days', async () => {
    await addMessages([40 * HOUR_MS, MINUTE_MS].map((ageMs) => ({ msgId: newId(OVERDUE_MS - ageMs) })))
    using query = vi.spyOn(db, 'query')
    await maintenance().runOnce()
    const asked = query.mock.calls.filter(([sql]) => JSON.stringify(sql).includes(') as overdue, ('))
    expect(asked).toHaveLength(3)
    expect(await countOf(db, 'event_deliveries')).toBe(2)
  })

  test('of several plans, more than one statement changes', async () => {
    await db.query(
      `insert into messages (plan_id, msg_id, status, segments, updated_at, sender, recipient, body)
       select plan, (substr($1, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'SENT', 1, now(), 'S', '+1', 'b'
       from generate_series(1, 1300) n, unnest($2::integer[]) plan`,
      [newId(OVERDUE_MS - MINUTE_MS), [announcedPlan, silentPlan]],
    )
    await maintenance().runOnce()
    const { rows } = await db.query('select status, count(*) as n from messages group by 1')
    expect(rows).toEqual([{ status: 'UNKNOWN', n: 2_600 }])
  })

  test('behind a full statement are found though a receipt took one of its messages at that moment', async () => {
    await db.query(
      `insert into messages (plan_id, msg_id, status, segments, updated_at, sender, recipient, body)
       select $2, (substr($1, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'SENT', 1, now(), 'S', '+1', 'b'
       from generate_series(1, 1001) n`,
      [newId(OVERDUE_MS - MINUTE_MS), silentPlan],
    )
    const receipt = await db.connect()
    await receipt.query('begin')
    await receipt.query(
      `update messages set status = 'DELIVERED' where msg_id = (select msg_id from messages order by msg_id limit 1)`,
    )
    const run = maintenance().runOnce()
    await expect.poll(() => blocked()).toBe(1)
    await receipt.query('commit')
    receipt.release()
    await run
    const { rows } = await db.query('select status, count(*) as n from messages group by 1 order by 1')
    expect(rows).toEqual([
      { status: 'DELIVERED', n: 1 },
      { status: 'UNKNOWN', n: 1_000 },
    ])
  })

  test('whose receipt is being recorded at that moment keep what it says', async () => {
    const msgId = newId(OVERDUE_MS - MINUTE_MS)
    await addMessages([{ msgId }])
    const receipt = await db.connect()
    await receipt.query('begin')
    await receipt.query(`update messages set status = 'DELIVERED', event_sequence = 2 where msg_id = $1`, [
      msgId,
    ])
    const run = maintenance().runOnce()
    await expect.poll(() => blocked()).toBe(1)
    await receipt.query('commit')
    receipt.release()
    await run
    expect(await messageRow(msgId)).toMatchObject({ status: 'DELIVERED', sequence: 2, errorCode: '000' })
    expect(await eventsOf(msgId)).toEqual([])
  })

  test('on several nodes change once', async () => {
    await using one = otherPool(connectionString)
    await using other = otherPool(connectionString)
    const ids = Array.from({ length: 50 }, () => newId(OVERDUE_MS - MINUTE_MS))
    await addMessages(ids.map((msgId) => ({ msgId })))
    await Promise.all([db, one.db, other.db].map((db) => maintenance({ db }).runOnce()))
    const { rows } = await db.query('select distinct status, event_sequence as sequence from messages')
    expect(rows).toEqual([{ status: 'UNKNOWN', sequence: 2 }])
    expect(await countOf(db, 'event_deliveries')).toBe(50)
  })
})

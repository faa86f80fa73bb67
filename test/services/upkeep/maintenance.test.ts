import { beforeEach, describe, expect, test } from 'vitest'
import { DEFAULT_LANGUAGE } from '../../../src/domain/text/gsm-national-tables.ts'
import { receiveInbound } from '../../../src/operations/receive-inbound.ts'
import { ensurePartitions } from '../../../src/services/upkeep/day-partitions.ts'
import { listPartitions } from '../../../src/store/partitions.ts'
import { freshDatabase } from '../../support/database.ts'
import { newId, otherPool, seedInstallation } from '../../support/installation.ts'
import { KeptLog, quietLog } from '../../support/log.ts'
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  maintainedDatabase,
  NOW_MS,
  OVERDUE_MS,
} from '../../support/maintenance.ts'
import { clearTables, countOf, receipt } from '../../support/stored-messages.ts'

const { db, connectionString, directory, announcedPlan, maintenance, apply, addMessages, messageRow } =
  await maintainedDatabase()

beforeEach(() =>
  clearTables(
    db,
    'messages',
    'submissions',
    'inbound_messages',
    'inbound_parts',
    'unowned_inbound_messages',
    'events',
    'event_deliveries',
    'parked_receipts',
    'idempotency_keys',
    'audit_log',
  ),
)

describe('parked receipts', () => {
  async function park(id: string, outcome: string, count = 1, age = '1 second'): Promise<void> {
    await db.query(
      `insert into parked_receipts (carrier_id, carrier_message_id, outcome, error_code, received_at)
       select 1, $1, $2::message_status, '000', now() - $3::interval from generate_series(1, $4)`,
      [id, outcome, age, count],
    )
  }

  async function submitted(id: string): Promise<string> {
    const msgId = newId(NOW_MS)
    await addMessages([{ msgId }])
    await db.query(
      `insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment) values (1, $1, $2, $3, 0)`,
      [id, msgId, announcedPlan],
    )
    return msgId
  }

  test('are applied once their submission is there; the others stay', async () => {
    await park('known', 'DELIVERED')
    await park('strange', 'DELIVERED')
    const msgId = await submitted('known')
    await maintenance().runOnce()
    expect((await messageRow(msgId)).status).toBe('DELIVERED')
    const { rows } = await db.query('select carrier_message_id as id from parked_receipts')
    expect(rows).toEqual([{ id: 'strange' }])
  })

  test('of one submission are applied one after the other, one of each id in a batch', async () => {
    const batches: string[][] = []
    await park('a', 'UNKNOWN')
    await park('a', 'DELIVERED')
    await park('b', 'FAILED')
    const [a, b] = [await submitted('a'), await submitted('b')]
    await maintenance({
      applyReceipts: async (receipts) => {
        batches.push(receipts.map(({ carrierMessageId, outcome }) => `${carrierMessageId} ${outcome}`))
        await apply(receipts)
      },
    }).runOnce()
    expect(batches).toEqual([['a UNKNOWN', 'b FAILED'], ['a DELIVERED']])
    expect([(await messageRow(a)).status, (await messageRow(b)).status]).toEqual(['DELIVERED', 'FAILED'])
    expect(await countOf(db, 'parked_receipts')).toBe(0)
  })

  test('that are not taken away do not keep a run going', async () => {
    await park('a', 'DELIVERED', 3)
    await submitted('a')
    let batches = 0
    await maintenance({
      applyReceipts: async () => {
        batches += 1
      },
    }).runOnce()
    // Three of one id, among the recent ones and among all.
    expect(batches).toBe(6)
  })

  test('are applied however long they waited, when their submission comes late', async () => {
    // Not among the recent ones, by the clock of the node.
    await park('late', 'DELIVERED')
    await db.query('update parked_receipts set received_at = $1', [new Date(NOW_MS - 70 * HOUR_MS)])
    const msgId = await submitted('late')
    await maintenance().runOnce()
    expect((await messageRow(msgId)).status).toBe('DELIVERED')
    expect(await countOf(db, 'parked_receipts')).toBe(0)
  })

  test('what can be read by now is applied, until there is no more', async () => {
    const msgIds = [await submitted('r0'), await submitted('r1')]
    let batch = 0
    await maintenance({
      translateReceipts: async () => {
        const id = `r${batch}`
        batch += 1
        return { receipts: [receipt(id, 'DELIVERED')], more: batch < 2 }
      },
    }).runOnce()
    for (const msgId of msgIds) expect((await messageRow(msgId)).status).toBe('DELIVERED')
  })

  test('are forgotten after 72 hours', async () => {
    await park('old', 'DELIVERED', 1, '72 hours 1 second')
    await park('young', 'DELIVERED', 1, '71 hours 59 minutes')
    await maintenance().runOnce()
    const { rows } = await db.query('select carrier_message_id as id from parked_receipts')
    expect(rows).toEqual([{ id: 'young' }])
  })
})

test('idempotency keys are forgotten after 24 hours, however many', async () => {
  await db.query(
    `insert into idempotency_keys (plan_id, key_hash, request_hash, msg_id, created_at)
     select 1, decode(lpad(to_hex(n), 64, '0'), 'hex'), '', gen_random_uuid(),
            now() - case when n <= 2500 then interval '24 hours 1 second' else interval '23 hours' end
     from generate_series(1, 2600) n`,
  )
  await using other = otherPool(connectionString)
  await Promise.all([maintenance().runOnce(), maintenance({ db: other.db }).runOnce()])
  expect(await countOf(db, 'idempotency_keys')).toBe(100)
})

test('entries of the audit log are deleted when they are old, however many', async () => {
  await db.query(
    `insert into audit_log (token, address, operation, object_type, object_id, at)
     select 'environment', '127.0.0.1', 'createAccount', 'account', n,
            now() - case when n <= 2500 then interval '7 days 1 second' else interval '6 days' end
     from generate_series(1, 2600) n`,
  )
  await maintenance({ auditRetentionDays: 7 }).runOnce()
  expect(await countOf(db, 'audit_log')).toBe(100)
})

test('inbound parts: complete sets and old ones are delivered, unowned ones counted', async () => {
  const inbound = {
    db,
    directory,
    newMessageId: () => newId(NOW_MS),
    holder: { nodeId: null, buckets: [] },
    log: quietLog,
  }
  const segment = {
    carrierId: 1,
    sender: '+491701234567',
    dataCoding: 3,
    payload: Buffer.from('Hallo'),
    part: { kind: 'sar', reference: 1, total: 2, sequence: 2 } as const,
    language: DEFAULT_LANGUAGE,
    receivedAtMs: Date.now() - 31 * MINUTE_MS,
  }
  await receiveInbound(inbound, [
    { ...segment, recipient: '12345' },
    { ...segment, recipient: '99999' },
  ])
  let unowned = 0
  await maintenance({
    onUnowned: (count) => {
      unowned += count
    },
  }).runOnce()
  const { rows } = await db.query('select body from inbound_messages')
  expect([rows, unowned, await countOf(db, 'inbound_parts')]).toEqual([[{ body: 'Hallo' }], 1, 0])
  expect((await db.query('select holder from event_deliveries')).rows).toEqual([{ holder: null }])
})

describe('retention', () => {
  test('drops old days with the events and unowned messages of that time, and nothing else', async () => {
    await using own = await freshDatabase()
    for (const age of [40, 1]) await ensurePartitions(own.db, NOW_MS - age * DAY_MS)
    const { announcedPlan, directory } = await seedInstallation(own.db)
    const ids = [newId(NOW_MS - 36 * DAY_MS), newId(NOW_MS - 35 * DAY_MS), newId(NOW_MS)]
    for (const id of ids) {
      await own.db.query(
        `insert into unowned_inbound_messages (msg_id, carrier_id, sender, recipient, body) values ($1, 1, '', '', '')`,
        [id],
      )
      await own.db.query(
        `insert into event_deliveries (bucket, msg_id, sequence, plan_id, due_at, began_at, state)
         values (7, $1, 0, $2, 'infinity', now(), 'failed')`,
        [id, announcedPlan],
      )
      await own.db.query(
        `insert into inbound_messages (plan_id, msg_id, carrier_id, sender, recipient, body)
         values ($1, $2, 1, '', '', '')`,
        [announcedPlan, id],
      )
    }
    const log = new KeptLog()
    const retaining = maintenance({ db: own.db, directory: () => directory, log })
    // 6 days of messages and 9 of submissions are over, and a run drops one of each.
    for (let run = 0; run < 9; run += 1) await retaining.runOnce()
    expect(log.lines.map(({ level, message }) => [level, message])).toEqual(
      Array.from({ length: 5 }, () => ['warn', expect.stringContaining('older than RETENTION_DAYS')]),
    )
    for (const table of ['unowned_inbound_messages', 'event_deliveries', 'inbound_messages']) {
      const { rows } = await own.db.query(`select msg_id from ${table} order by msg_id`)
      expect(rows.map(({ msg_id }) => msg_id)).toEqual(ids.slice(1))
    }
    expect((await listPartitions(own.db, 'messages'))[0]).toBe('20260203')
    expect((await listPartitions(own.db, 'submissions'))[0]).toBe('20260308')
  })
})

test('while the clocks of node and database differ, nothing is dropped or deleted', async () => {
  await using own = await freshDatabase()
  const { directory } = await seedInstallation(own.db)
  await ensurePartitions(own.db, NOW_MS)
  const kept = await listPartitions(own.db, 'messages')
  await own.db.query(`
    insert into quality_minutes
    values (1, 1, now() - interval '500 hours', 1, 0, 0, 0, array_fill(0, '{15}'), 0, 0, 0, 0, 0, array_fill(0, '{18}'))`)
  const ahead = { clock: () => NOW_MS + 50 * DAY_MS, directory: () => directory, db: own.db }
  let isClockCertain = false
  const keeping = maintenance({ ...ahead, isClockCertain: () => isClockCertain })
  const minutes = async () => (await own.db.query('select from quality_minutes')).rowCount
  await keeping.runOnce()
  expect(await listPartitions(own.db, 'messages')).toEqual(expect.arrayContaining(kept))
  expect(await minutes()).toBe(1)
  isClockCertain = true
  await keeping.runOnce()
  expect(await listPartitions(own.db, 'messages')).not.toEqual(expect.arrayContaining(kept))
  expect(await minutes()).toBe(0)
})

test('minutes of the quality watch live 8 days', async () => {
  await db.query(`
    insert into quality_minutes
    select 1, 1, now() - age * interval '1 hour', age, 0, 0, 0, array_fill(0, '{15}'), 0, 0, 0, 0, 0, array_fill(0, '{18}')
    from unnest('{1,191,193,500}'::integer[]) as age`)
  await maintenance().runOnce()
  const { rows } = await db.query('select accepted as age from quality_minutes order by 1')
  expect(rows).toEqual([{ age: 1 }, { age: 191 }])
})

describe('the service', () => {
  test('a job that fails is reported and stops no other', async () => {
    const msgId = newId(OVERDUE_MS - MINUTE_MS)
    await addMessages([{ msgId }])
    const log = new KeptLog()
    await maintenance({
      log,
      translateReceipts: () => Promise.reject(new Error('not read')),
    }).runOnce()
    expect(log.errors).toEqual(['maintenance failed: parked receipts'])
    expect((await messageRow(msgId)).status).toBe('UNKNOWN')
  })

  test('runs by itself; stop waits for what is under way and begins nothing more', async () => {
    await db.query(
      `insert into parked_receipts (carrier_id, carrier_message_id, outcome, error_code, received_at)
       values (1, 'a', 'DELIVERED', '000', now())`,
    )
    await db.query(
      `insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment) values (1, 'a', $1, 1, 0)`,
      [newId(NOW_MS)],
    )
    const begun = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const order: string[] = []
    const running = maintenance({
      applyReceipts: async () => {
        begun.resolve()
        await release.promise
        order.push('job ended')
      },
    })
    running.start()
    await begun.promise
    const stopped = running.stop().then(() => order.push('stopped'))
    release.resolve()
    await stopped
    expect(order).toEqual(['job ended', 'stopped'])
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DEFAULT_LANGUAGE } from '../../src/domain/gsm-national-tables.ts'
import { highestIdAt, lowestIdAt } from '../../src/domain/message-ids.ts'
import { UNKNOWN_REVERSIBLE_MS } from '../../src/domain/message-states.ts'
import { receiveInbound } from '../../src/operations/receive-inbound.ts'
import { ensurePartitions } from '../../src/services/day-partitions.ts'
import { Maintenance, type MaintenanceOptions } from '../../src/services/maintenance.ts'
import type { Database } from '../../src/store/database.ts'
import { listPartitions } from '../../src/store/partitions.ts'
import { type ReceiptRow, recordReceipts } from '../../src/store/receipts.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type Installation, newId, otherPool, seedInstallation } from '../support/installation.ts'
import { receipt } from '../support/stored-messages.ts'

/** Above every id a test makes. */
const NEWEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const NOW_MS = Date.UTC(2026, 2, 10, 12)
const OVERDUE_MS = NOW_MS - 72 * HOUR_MS
/** Statements of this database that wait for a lock. */
const BLOCKED = `pg_locks l join pg_stat_activity a using (pid)
                 where not l.granted and a.datname = current_database()`

let fresh: FreshDatabase
let installation: Installation

beforeAll(async () => {
  fresh = await freshDatabase({ poolSize: 8 })
  for (let age = 10; age >= 0; age -= 1) await ensurePartitions(fresh.db, NOW_MS - age * DAY_MS)
  installation = await seedInstallation(fresh.db)
})

beforeEach(() =>
  fresh.db.query(`truncate messages, submissions, inbound_messages, inbound_parts, unowned_inbound_messages,
                           webhook_events, parked_receipts, idempotency_keys`),
)

afterAll(() => fresh[Symbol.asyncDispose]())

/** Failures fail the test, unless it looks at them itself. */
function maintenance(given: Partial<MaintenanceOptions> = {}): Maintenance {
  return new Maintenance({
    db: fresh.db,
    directory: () => installation.directory,
    newMessageId: () => newId(NOW_MS),
    retentionDays: 35,
    nowMs: () => NOW_MS,
    applyReceipts: (receipts) => apply(fresh.db, receipts),
    readReceipts: async () => ({ receipts: [], more: false }),
    onError: (job, error) => {
      throw new Error(job, { cause: error })
    },
    ...given,
  })
}

let changes = 0

async function apply(db: Database, receipts: readonly ReceiptRow[]): Promise<void> {
  changes += 1
  await recordReceipts(db, {
    receipts,
    changedAt: new Date(NOW_MS + changes).toISOString(),
    unknownReversibleMs: UNKNOWN_REVERSIBLE_MS,
    newestMsgId: NEWEST,
    events: { holder: null, buckets: [] },
  })
}

interface NewRow {
  readonly msgId: string
  readonly status?: string
  readonly callbackUrl?: string | null
}

async function addMessages(rows: readonly NewRow[]): Promise<void> {
  for (const row of rows) {
    await fresh.db.query(
      `insert into messages (plan_id, msg_id, status, event_seq, segments, updated_at, sender, recipient, body,
                             callback_url)
       values ($1, $2, $3, 1, 1, now(), 'Sender', '+491701234567', 'text', $4)`,
      [
        installation.announcedPlan,
        row.msgId,
        row.status ?? 'SENT',
        row.callbackUrl === undefined ? 'https://example.com/dlr' : row.callbackUrl,
      ],
    )
  }
}

async function messageRow(msgId: string) {
  const { rows } = await fresh.db.query(
    `select status, event_seq as seq, error_code as "errorCode", updated_at as "updatedAt" from messages
     where msg_id = $1`,
    [msgId],
  )
  return rows[0]
}

async function eventsOf(msgId: string) {
  const { rows } = await fresh.db.query(
    `select seq, holder, status, error_code as "errorCode", plan_id as "planId", bucket, occurred_at as "occurredAt"
     from webhook_events where msg_id = $1 order by seq`,
    [msgId],
  )
  return rows
}

async function countOf(table: string): Promise<number> {
  const { rows } = await fresh.db.query<{ n: number }>(`select count(*) as n from ${table}`)
  return rows[0]!.n
}

describe('overdue messages', () => {
  test('become UNKNOWN 601 with the event that says so, for whoever owns the bucket', async () => {
    const msgId = newId(OVERDUE_MS - MINUTE_MS, 77)
    await addMessages([{ msgId }])
    await maintenance().runOnce()
    expect(await messageRow(msgId)).toEqual({
      status: 'UNKNOWN',
      seq: 2,
      errorCode: '601',
      updatedAt: new Date(NOW_MS),
    })
    expect(await eventsOf(msgId)).toEqual([
      {
        seq: 2,
        holder: null,
        status: 'UNKNOWN',
        errorCode: '601',
        planId: installation.announcedPlan,
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
    expect(await messageRow(msgId)).toMatchObject({ status, seq: 1, errorCode: '000' })
    expect(await eventsOf(msgId)).toEqual([])
  })

  test('without a callback URL have an event only where the account has a default', async () => {
    const [without, within] = [newId(OVERDUE_MS - MINUTE_MS), newId(OVERDUE_MS - MINUTE_MS)]
    await addMessages([{ msgId: without, callbackUrl: null }])
    await maintenance().runOnce()
    expect([(await messageRow(without)).status, await eventsOf(without)]).toEqual(['UNKNOWN', []])
    await fresh.db.query(`update accounts set default_dlr_url = 'https://example.com/default'`)
    await addMessages([{ msgId: within, callbackUrl: null }])
    await maintenance().runOnce()
    await fresh.db.query('update accounts set default_dlr_url = null')
    expect(await eventsOf(within)).toHaveLength(1)
  })

  test('are found by a service that was away for two days, and as time goes on', async () => {
    let nowMs = NOW_MS
    const running = maintenance({ nowMs: () => nowMs })
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

  test('of several plans, more than one statement changes', async () => {
    const { announcedPlan, silentPlan } = installation
    await fresh.db.query(
      `insert into messages (plan_id, msg_id, status, segments, updated_at, sender, recipient, body)
       select plan, (substr($1, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'SENT', 1, now(), 'S', '+1', 'b'
       from generate_series(1, 1300) n, unnest($2::integer[]) plan`,
      [newId(OVERDUE_MS - MINUTE_MS), [announcedPlan, silentPlan]],
    )
    await maintenance().runOnce()
    const { rows } = await fresh.db.query('select status, count(*) as n from messages group by 1')
    expect(rows).toEqual([{ status: 'UNKNOWN', n: 2_600 }])
  })

  test('whose receipt is being recorded at that moment keep what it says', async () => {
    const msgId = newId(OVERDUE_MS - MINUTE_MS)
    await addMessages([{ msgId }])
    const receipt = await fresh.db.connect()
    await receipt.query('begin')
    await receipt.query(`update messages set status = 'DELIVERED', event_seq = 2 where msg_id = $1`, [msgId])
    const run = maintenance().runOnce()
    await expect.poll(() => countOf(BLOCKED), { timeout: 10_000 }).toBe(1)
    await receipt.query('commit')
    receipt.release()
    await run
    expect(await messageRow(msgId)).toMatchObject({ status: 'DELIVERED', seq: 2, errorCode: '000' })
    expect(await eventsOf(msgId)).toEqual([])
  })

  test('on several nodes change once', async () => {
    await using one = otherPool(fresh.connectionString)
    await using other = otherPool(fresh.connectionString)
    const ids = Array.from({ length: 50 }, () => newId(OVERDUE_MS - MINUTE_MS))
    await addMessages(ids.map((msgId) => ({ msgId })))
    await Promise.all([fresh.db, one.db, other.db].map((db) => maintenance({ db }).runOnce()))
    const { rows } = await fresh.db.query('select distinct status, event_seq as seq from messages')
    expect(rows).toEqual([{ status: 'UNKNOWN', seq: 2 }])
    expect(await countOf('webhook_events')).toBe(50)
  })
})

describe('parked receipts', () => {
  async function park(id: string, outcome: string, count = 1, age = '1 second'): Promise<void> {
    await fresh.db.query(
      `insert into parked_receipts (carrier_id, carrier_message_id, outcome, error_code, received_at)
       select 1, $1, $2::message_status, '000', now() - $3::interval from generate_series(1, $4)`,
      [id, outcome, age, count],
    )
  }

  async function submitted(id: string): Promise<string> {
    const msgId = newId(NOW_MS)
    await addMessages([{ msgId }])
    await fresh.db.query(
      `insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment) values (1, $1, $2, $3, 0)`,
      [id, msgId, installation.announcedPlan],
    )
    return msgId
  }

  test('are applied once their submission is there; the others stay', async () => {
    await park('known', 'DELIVERED')
    await park('strange', 'DELIVERED')
    const msgId = await submitted('known')
    await maintenance().runOnce()
    expect((await messageRow(msgId)).status).toBe('DELIVERED')
    const { rows } = await fresh.db.query('select carrier_message_id as id from parked_receipts')
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
        batches.push(receipts.map(({ carrier_message_id, outcome }) => `${carrier_message_id} ${outcome}`))
        await apply(fresh.db, receipts)
      },
    }).runOnce()
    expect(batches).toEqual([['a UNKNOWN', 'b FAILED'], ['a DELIVERED']])
    expect([(await messageRow(a)).status, (await messageRow(b)).status]).toEqual(['DELIVERED', 'FAILED'])
    expect(await countOf('parked_receipts')).toBe(0)
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
    await fresh.db.query('update parked_receipts set received_at = $1', [new Date(NOW_MS - 70 * HOUR_MS)])
    const msgId = await submitted('late')
    await maintenance().runOnce()
    expect((await messageRow(msgId)).status).toBe('DELIVERED')
    expect(await countOf('parked_receipts')).toBe(0)
  })

  test('what can be read by now is applied, until there is no more', async () => {
    const msgIds = [await submitted('r0'), await submitted('r1')]
    let batch = 0
    await maintenance({
      readReceipts: async () => {
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
    const { rows } = await fresh.db.query('select carrier_message_id as id from parked_receipts')
    expect(rows).toEqual([{ id: 'young' }])
  })
})

test('idempotency keys are forgotten after 24 hours, however many', async () => {
  await fresh.db.query(
    `insert into idempotency_keys (plan_id, key_hash, request_hash, msg_id, created_at)
     select 1, decode(lpad(to_hex(n), 64, '0'), 'hex'), '', gen_random_uuid(),
            now() - case when n <= 2500 then interval '24 hours 1 second' else interval '23 hours' end
     from generate_series(1, 2600) n`,
  )
  await using other = otherPool(fresh.connectionString)
  await Promise.all([maintenance().runOnce(), maintenance({ db: other.db }).runOnce()])
  expect(await countOf('idempotency_keys')).toBe(100)
})

test('inbound parts: complete sets and old ones are delivered, unowned ones counted', async () => {
  const inbound = {
    db: fresh.db,
    directory: installation.directory,
    newMessageId: () => newId(NOW_MS),
    holder: { holder: null, buckets: [] },
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
  const { rows } = await fresh.db.query('select body from inbound_messages')
  expect([rows, unowned, await countOf('inbound_parts')]).toEqual([[{ body: 'Hallo' }], 1, 0])
  expect(await countOf('webhook_events where holder is null')).toBe(1)
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
        `insert into webhook_events (bucket, msg_id, seq, plan_id, due_at, occurred_at)
         values (7, $1, 0, $2, 'infinity', now())`,
        [id, announcedPlan],
      )
      await own.db.query(
        `insert into inbound_messages (plan_id, msg_id, carrier_id, sender, recipient, body)
         values ($1, $2, 1, '', '', '')`,
        [announcedPlan, id],
      )
    }
    await maintenance({ db: own.db, directory: () => directory }).runOnce()
    for (const table of ['unowned_inbound_messages', 'webhook_events', 'inbound_messages']) {
      const { rows } = await own.db.query(`select msg_id from ${table} order by msg_id`)
      expect(rows.map(({ msg_id }) => msg_id)).toEqual(ids.slice(1))
    }
    expect((await listPartitions(own.db, 'messages'))[0]).toBe('20260203')
    expect((await listPartitions(own.db, 'submissions'))[0]).toBe('20260308')
  })
})

test('minutes of the quality watch live 8 days', async () => {
  await fresh.db.query(`
    insert into quality_minutes
    select 1, 1, now() - age * interval '1 hour', age, 0, 0, 0, array_fill(0, '{15}'), 0, 0, 0, 0, 0, array_fill(0, '{18}')
    from unnest('{1,191,193,500}'::integer[]) as age`)
  await maintenance().runOnce()
  const { rows } = await fresh.db.query('select accepted as age from quality_minutes order by 1')
  expect(rows).toEqual([{ age: 1 }, { age: 191 }])
})

describe('the service', () => {
  test('a job that fails is reported and stops no other', async () => {
    const msgId = newId(OVERDUE_MS - MINUTE_MS)
    await addMessages([{ msgId }])
    const failures: string[] = []
    await maintenance({
      onError: (job) => failures.push(job),
      directory: () => {
        throw new Error('not loaded')
      },
    }).runOnce()
    expect(failures).toEqual(['complete inbound messages', 'incomplete inbound messages'])
    expect((await messageRow(msgId)).status).toBe('UNKNOWN')
  })

  test('runs by itself; stop waits for what is under way and begins nothing more', async () => {
    await fresh.db.query(
      `insert into parked_receipts (carrier_id, carrier_message_id, outcome, error_code, received_at)
       values (1, 'a', 'DELIVERED', '000', now())`,
    )
    await fresh.db.query(
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

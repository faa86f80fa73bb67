import { describe, expect, test } from 'vitest'
import { lowestIdAt } from '../../src/domain/identifiers.ts'
import {
  createPartition,
  dropPartition,
  listPartitions,
  PARTITIONED_TABLES,
  tablesLacking,
} from '../../src/store/partitions.ts'
import { databaseOfFile } from '../support/database.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 0, 1)

const { db } = await databaseOfFile()

const day = (name: string, offset: number) => ({
  name,
  fromMsgId: lowestIdAt(START_MS + offset * DAY_MS),
  toMsgId: lowestIdAt(START_MS + (offset + 1) * DAY_MS),
})

describe.each(PARTITIONED_TABLES)('%s', (table) => {
  test('days are created once, listed in order, and dropped', async () => {
    await createPartition(db, table, day('20260102', 1))
    await createPartition(db, table, day('20260101', 0))
    await expect(createPartition(db, table, day('20260101', 0))).rejects.toMatchObject({ code: '42P07' })
    expect(await listPartitions(db, table)).toEqual(['20260101', '20260102'])
    await dropPartition(db, table, '20260101')
    await dropPartition(db, table, '20260101')
    expect(await listPartitions(db, table)).toEqual(['20260102'])
  })
})

test('tables that lack the partition of a day', async () => {
  for (const table of PARTITIONED_TABLES) await createPartition(db, table, day('20260108', 7))
  await createPartition(db, 'events', day('20260109', 8))
  expect(await tablesLacking(db, ['20260108'])).toEqual([])
  const others = PARTITIONED_TABLES.filter((table) => table !== 'events')
  expect(await tablesLacking(db, ['20260108', '20260109'])).toEqual(others)
})

test('a day is analyzed by a tenth of the rows, and only what its indexes have', async () => {
  await createPartition(db, 'messages', day('20260105', 4))
  await db.query(
    `insert into messages (plan_id, msg_id, sender, recipient, body, segments, updated_at)
     select 1, ('${lowestIdAt(START_MS + 4 * DAY_MS).slice(0, 24)}' || lpad(to_hex(n), 12, '0'))::uuid,
            'Aldis', '+1555' || n, 'text ' || n, 1, now()
     from generate_series(1, 5000) n`,
  )
  await db.query('analyze messages_20260105')
  const { rows } = await db.query<{ what: string; target: number }>(`
    select s.tablename || '.' || s.attname as what, a.attstattarget as target
    from pg_stats s join pg_attribute a on a.attrelid = s.tablename::regclass and a.attname = s.attname
    where s.tablename like 'messages\\_20260105%' order by 1`)
  expect(rows).toEqual([
    { what: 'messages_20260105.msg_id', target: 10 },
    { what: 'messages_20260105.plan_id', target: 10 },
    { what: 'messages_20260105.recipient', target: 10 },
    { what: 'messages_20260105_plan_id_message_kind_msg_id_idx.message_kind', target: 10 },
  ])
})

test('the key is the newest index of a day, also where the table was restored from a dump', async () => {
  await db.query('drop index messages_kind')
  await db.query('create index messages_kind on messages (plan_id, sender)')
  await createPartition(db, 'messages', day('20260110', 9))
  const { rows } = await db.query<{ name: string }>(`
    select indexrelid::regclass::text as name from pg_index where indrelid = 'messages_20260110'::regclass
    order by indexrelid`)
  const { rows: parents } = await db.query(`select from pg_index where indrelid = 'messages'::regclass`)
  expect(rows).toHaveLength(parents.length)
  expect(rows.at(-1)).toEqual({ name: 'messages_20260110_pkey' })
})

test('a name that is no day is refused before it gets into a statement', async () => {
  await expect(dropPartition(db, 'messages', '2026; drop table nodes')).rejects.toThrow('not a day')
  await expect(createPartition(db, 'messages', day('today', 5))).rejects.toThrow('not a day')
})

import type { Queryable } from './database.ts'

/**
 * Tables partitioned by day of msg_id, with the storage options of a day's partition: free space in each page for HOT
 * updates, two of a message and one of an event.
 */
const STORAGE = {
  messages: 'fillfactor = 60',
  submissions: 'fillfactor = 100',
  submit_attempts: 'fillfactor = 100',
  receipts: 'fillfactor = 100',
  inbound_messages: 'fillfactor = 100',
  events: 'fillfactor = 50',
  webhook_attempts: 'fillfactor = 100',
} as const

export type PartitionedTable = keyof typeof STORAGE

export const PARTITIONED_TABLES = Object.keys(STORAGE) as PartitionedTable[]

/** With 100, the default, ANALYZE reads 30,000 rows; with 10, a tenth. */
const STATISTICS_TARGET = 10

/**
 * Creates the partition of one day, `day` as YYYYMMDD. Its bounds are the first ids of the days. Call in a transaction;
 * fails with 42P07 when it exists. It is created separately and then attached, which waits for no reader or writer, while
 * `create table … partition of` would lock the whole table. Attaching creates its key last: docs/adr/0006. In a database
 * restored from a dump, the parent's key is older than the other indexes.
 */
export async function createPartition(
  db: Queryable,
  table: PartitionedTable,
  day: { name: string; fromMsgId: string; toMsgId: string },
): Promise<void> {
  const name = partitionName(table, day.name)
  await db.query(`create table ${name} (like ${table} including defaults) with (${STORAGE[table]})`)
  const { rows } = await db.query<{ definition: string }>({
    name: 'index_definitions',
    text: `
      select substring(pg_get_indexdef(indexrelid) from 'USING .*') as definition
      from pg_index where indrelid = $1::regclass and not indisunique`,
    values: [table],
  })
  for (const { definition } of rows) await db.query(`create index on ${name} ${definition}`)
  await boundStatistics(db, table, name)
  await db.query(
    `alter table ${table} attach partition ${name} for values from ('${day.fromMsgId}') to ('${day.toMsgId}')`,
  )
}

/**
 * Collects statistics of indexed columns and nothing else: the planner only chooses between indexes, and autovacuum
 * analyzes a day's partition again and again while messages are accepted. Before the partition is attached, since Citus
 * takes no such change of a distributed table.
 */
async function boundStatistics(db: Queryable, table: PartitionedTable, name: string): Promise<void> {
  const { rows } = await db.query<{ statement: string }>({
    name: 'statistics_bounds',
    text: `
      select 'alter table ' || $1 || ' ' || string_agg(format('alter %I set statistics %s', a.attname,
        (select case when exists (
          select from pg_index i join pg_attribute p on p.attrelid = i.indrelid and p.attnum = any (i.indkey)
          where i.indrelid = $3::regclass and p.attname = a.attname) then $2::integer else 0 end)
        ), ', ') as statement
      from pg_attribute a
      where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped
      union all
      select format('alter index %s alter %s set statistics %s', i.indexrelid::regclass, k.n, $2::integer)
      from pg_index i cross join unnest(i.indkey::smallint[]) with ordinality as k (attnum, n)
      where i.indrelid = $1::regclass and k.attnum = 0`,
    values: [name, STATISTICS_TARGET, table],
  })
  for (const { statement } of rows) await db.query(statement)
}

/** Days (YYYYMMDD) that a table has partitions for, oldest first. */
export async function listPartitions(db: Queryable, table: PartitionedTable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>({
    name: 'list_partitions',
    text: `
      select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = $1::regclass order by 1`,
    values: [table],
  })
  return rows.map((row) => row.name.slice(table.length + 1))
}

/** The tables that do not have a partition for each of these days (YYYYMMDD). */
export async function tablesLacking(db: Queryable, days: readonly string[]): Promise<PartitionedTable[]> {
  const { rows } = await db.query<{ table: PartitionedTable }>({
    name: 'tables_lacking_partitions',
    text: `
      select t.name as table from unnest($1::text[]) as t (name)
      where (select count(*) from pg_inherits i join pg_class c on c.oid = i.inhrelid
             where i.inhparent = t.name::regclass and right(c.relname, 8) = any ($2)) < cardinality($2)`,
    values: [PARTITIONED_TABLES, days],
  })
  return rows.map((row) => row.table)
}

export async function dropPartition(db: Queryable, table: PartitionedTable, day: string): Promise<void> {
  await db.query(`drop table if exists ${partitionName(table, day)}`)
}

function partitionName(table: PartitionedTable, day: string): string {
  if (!/^\d{8}$/.test(day)) throw new Error(`not a day: ${day}`)
  return `${table}_${day}`
}

/**
 * Bounds the wait for a lock in this transaction. A partition is created and dropped under an exclusive lock of its
 * table, and a transaction that waits for one holds up everybody behind it.
 */
export async function limitLockWait(transaction: Queryable, waitMs: number): Promise<void> {
  await transaction.query({
    text: `select set_config('lock_timeout', $1, true)`,
    values: [`${waitMs}ms`],
  })
}

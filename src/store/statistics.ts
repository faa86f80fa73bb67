import sql, { join, raw, type Sql } from 'sql-template-tag'
import {
  COUNTS,
  type Count,
  INTERVALS,
  LATENCIES,
  LATENCY_BUCKETS,
  type LatencyKind,
  type RowRange,
  type StatisticsFilters,
  type StatisticsRow,
} from '../domain/statistics/query.ts'
import type { Cell, CodeCell, PriceCell, RowGroup } from '../domain/statistics/series.ts'
import type { Queryable } from './database.ts'
import { allOf, equals } from './list-conditions.ts'

/** A number for the rows of one process, which no other living process has. */
export async function nextWriter(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ writer: number }>({
    text: `select nextval('statistics_writers')::integer as writer`,
  })
  return rows[0]!.writer
}

/** The columns of a histogram. One without a count is null and takes no room in its row. */
function bucketColumns(kind: LatencyKind): string[] {
  return Array.from({ length: LATENCY_BUCKETS }, (_, bucket) => `${kind}_${bucket}`)
}

const BUCKET_COLUMNS = LATENCIES.flatMap(bucketColumns)
const FIGURES = [...COUNTS, 'codes', 'code_counts', 'currencies', 'prices', ...BUCKET_COLUMNS]

const WRITE = `
  insert into statistics (step_s, at, plan_id, route_id, carrier_id, country, writer, ${FIGURES.join(', ')})
  select 60, to_timestamp("atMs" / 1000.0), "planId", "routeId", "carrierId", country, $2, ${COUNTS.join(', ')},
         codes, "codeCounts", currencies, prices,
         ${LATENCIES.flatMap((kind) => bucketColumns(kind).map((_, at) => `nullif(${kind}[${at + 1}], 0)`)).join(', ')}
  from json_to_recordset($1) as i (
    "atMs" bigint, "planId" integer, "routeId" integer, "carrierId" integer, country text, accepted integer,
    sent integer, delivered integer, failed integer, unknown integer, inbound integer, segments integer,
    codes smallint[], "codeCounts" integer[], currencies text[], prices bigint[], accept integer[],
    submit integer[], receipt integer[], webhook integer[])
  on conflict (plan_id, step_s, at, route_id, carrier_id, country, writer) do update
  set ${FIGURES.map((column) => `${column} = excluded.${column}`).join(', ')}`

/** Writes minutes of a writer. A row replaces the one before, which was of the same minute's beginning. */
export async function writeStatistics(
  db: Queryable,
  writer: number,
  minutes: readonly StatisticsRow[],
): Promise<void> {
  await db.query({ name: 'write_statistics', text: WRITE, values: [JSON.stringify(minutes), writer] })
}

const COMBINATION = 'plan_id, route_id, carrier_id, country'

/** What fits into a count. Wider columns would take more room in every row, and reading would have to add up numerics. */
const MOST = 2_147_483_647

/** Null where nothing was counted, unlike with `least`, which ignores nulls. */
function boundedSum(name: string): string {
  return `case when sum(${name}) > ${MOST} then ${MOST} else sum(${name}) end`
}

/** The step $1, if its next period ended before $3 and is there in the finer step $2. */
const READY = `
  step_s = $1 and until + $1 * interval '1 s' <= $3
  and ($2 = 60 or until + $1 * interval '1 s' <= (select until from statistics_rolled_up where step_s = $2))`

const ROLL_UP = `
  with claimed as (
    update statistics_rolled_up set until = until + $1 * interval '1 s'
    where ${READY}
    returning until - $1 * interval '1 s' as at, until
  ), finer as (
    select s.*, c.at as since from claimed c
    join statistics s on s.step_s = $2 and s.at >= c.at and s.at < c.until
  ), code_sums as (
    select ${COMBINATION}, array_agg(code) as codes, array_agg(count) as counts
    from (
      select ${COMBINATION}, code, (${boundedSum('count')})::integer as count
      from finer, unnest(codes, code_counts) as u (code, count) group by ${COMBINATION}, code
    ) c group by ${COMBINATION}
  ), price_sums as (
    select ${COMBINATION}, array_agg(currency) as currencies, array_agg(price) as prices
    from (
      select ${COMBINATION}, currency, sum(price)::bigint as price
      from finer, unnest(currencies, prices) as u (currency, price) group by ${COMBINATION}, currency
    ) c group by ${COMBINATION}
  ), sums as (
    select ${COMBINATION}, since, ${[...COUNTS, ...BUCKET_COLUMNS].map((name) => `${boundedSum(name)} as ${name}`).join(', ')}
    from finer group by ${COMBINATION}, since
  ), written as (
    insert into statistics (
      step_s, at, ${COMBINATION}, writer, ${FIGURES.join(', ')})
    select $1, s.since, ${COMBINATION}, 0, ${COUNTS.map((name) => `s.${name}`).join(', ')},
           coalesce(c.codes, '{}'), coalesce(c.counts, '{}'), coalesce(p.currencies, '{}'), coalesce(p.prices, '{}'),
           ${BUCKET_COLUMNS.map((name) => `s.${name}`).join(', ')}
    from sums s left join code_sums c using (${COMBINATION}) left join price_sums p using (${COMBINATION})
    order by ${COMBINATION}
  )
  select from claimed`

/**
 * Sums the next hour or day from the minutes or hours of all processes, if it ended before `ready`. Of several nodes that try at
 * once, one does it. Returns whether there was one.
 */
export async function rollUpStatistics(db: Queryable, step: 'hour' | 'day', ready: Date): Promise<boolean> {
  const values = step === 'hour' ? [3_600, 60, ready] : [86_400, 3_600, ready]
  // Planning the statement that sums takes 30 times as long, and nearly always there is nothing to sum.
  const { rowCount: periods } = await db.query({
    text: `select from statistics_rolled_up where ${READY}`,
    values,
  })
  if (periods === 0) return false
  const { rowCount } = await db.query({ text: ROLL_UP, values })
  return (rowCount ?? 0) > 0
}

/** Deletes rows that are too old, at most `limit`, but no minutes before they are rolled up. Returns how many. */
export async function deleteOldStatistics(
  db: Queryable,
  before: { readonly minutes: Date; readonly others: Date },
  limit: number,
): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      delete from statistics s
      using (
        (select ctid from statistics
         where step_s = 60 and at < least($1, (select until from statistics_rolled_up where step_s = 3600))
         order by at limit $3)
        union all
        (select ctid from statistics where step_s in (3600, 86400) and at < $2 limit $3)
        limit $3
      ) old
      where s.ctid = any (array[old.ctid])`,
    values: [before.minutes, before.others, limit],
  })
  return rowCount ?? 0
}

/** Up to when hours and days are there, Unix milliseconds. */
export async function rolledUpTo(db: Queryable): Promise<{ hour: number; day: number }> {
  const { rows } = await db.query<{ step: number; until: Date }>({
    text: `select step_s as step, until from statistics_rolled_up`,
  })
  const until = (step: number) => rows.find((row) => row.step === step)?.until.getTime() ?? 0
  return { hour: until(3_600), day: until(86_400) }
}

/** Which rows to sum, and by what. */
export interface StatisticsSelection extends StatisticsFilters {
  readonly ranges: readonly RowRange[]
  /** Length of a period of the answer. */
  readonly stepMs: number
  /** Read the rows of plans instead of the sums over all of them. */
  readonly ofPlans: boolean
  readonly country: string | null
  /** The columns that tell groups apart. */
  readonly by: readonly (keyof RowGroup)[]
}

const GROUP_COLUMNS: Readonly<Record<keyof RowGroup, string>> = {
  planId: 's.plan_id',
  routeId: 's.route_id',
  carrierId: 's.carrier_id',
  country: 's.country',
}

/** The groups in which most happened. */
export async function largestGroups(
  db: Queryable,
  selection: StatisticsSelection,
  limit: number,
): Promise<RowGroup[]> {
  const { rows } = await db.query<RowGroup>(sql`
    select ${keysOf(selection)}
    from ${rowsOf(selection)}
    group by 1, 2, 3, 4
    order by sum(accepted::bigint + sent + delivered + failed + unknown + inbound) desc, 1, 2, 3, 4
    limit ${limit}`)
  return rows
}

/** The sums of each group in each period; those of all other groups as group null. */
export async function sumStatistics(
  db: Queryable,
  selection: StatisticsSelection,
  groups: readonly RowGroup[],
): Promise<Cell[]> {
  const { rows } = await db.query<SumsRow>(sql`
    select x.at, g.n as "group", ${SUMS}
    from (
      select ${periodOf(selection)} as at, ${keysOf(selection)}, ${SUMS_OF_ROWS}
      from ${rowsOf(selection)}
      group by 1, 2, 3, 4, 5
    ) x ${groupJoin(groups)}
    group by 1, 2`)
  return rows.map((row) => ({
    group: row.group,
    atMs: row.at.getTime(),
    counts: Object.fromEntries(COUNTS.map((name) => [name, Number(row[name])])) as Record<Count, number>,
    latencies: Object.fromEntries(
      LATENCIES.map((kind) => {
        const isEmpty = row[kind].every((count) => count === null)
        return [kind, isEmpty ? null : row[kind].map(Number)]
      }),
    ) as Record<LatencyKind, number[] | null>,
  }))
}

interface SumsRow extends Record<Count, string>, Record<LatencyKind, (string | null)[]> {
  readonly at: Date
  readonly group: number | null
}

/** The prices of each group in each period. */
export async function sumPrices(
  db: Queryable,
  selection: StatisticsSelection,
  groups: readonly RowGroup[],
): Promise<PriceCell[]> {
  const pairs = { keys: raw('s.currencies'), values: raw('s.prices') }
  const rows = await sumPairs<string>(db, selection, groups, pairs)
  return rows.map(({ at, group, key, sum }) => ({
    group,
    atMs: at.getTime(),
    currency: key,
    millionths: BigInt(sum),
  }))
}

/** How many messages of each group had which code in each period. */
export async function sumCodes(
  db: Queryable,
  selection: StatisticsSelection,
  groups: readonly RowGroup[],
): Promise<CodeCell[]> {
  const pairs = { keys: raw('s.codes'), values: raw('s.code_counts') }
  const rows = await sumPairs<number>(db, selection, groups, pairs)
  return rows.map(({ at, group, key, sum }) => ({ group, atMs: at.getTime(), key, count: Number(sum) }))
}

interface PairRow<Key> {
  readonly at: Date
  readonly group: number | null
  readonly key: Key
  readonly sum: string
}

/** The sums of a pair of arrays, by the elements of the first. */
async function sumPairs<Key>(
  db: Queryable,
  selection: StatisticsSelection,
  groups: readonly RowGroup[],
  { keys, values }: { keys: Sql; values: Sql },
): Promise<PairRow<Key>[]> {
  const { rows } = await db.query<PairRow<Key>>(sql`
    select x.at, g.n as "group", x.key, sum(x.sum)::text as sum
    from (
      select at, "planId", "routeId", "carrierId", country, key, sum(value) as sum
      from (
        select ${periodOf(selection)} as at, ${keysOf(selection)}, unnest(${keys}) as key, unnest(${values}) as value
        from ${rowsOf(selection)}
        where ${keys} <> '{}'
      ) p
      group by 1, 2, 3, 4, 5, 6
    ) x ${groupJoin(groups)}
    group by 1, 2, 3`)
  return rows
}

const SUMS_OF_ROWS = raw([...COUNTS, ...BUCKET_COLUMNS].map((name) => `sum(s.${name}) as ${name}`).join(', '))
const SUMS = raw(
  [
    ...COUNTS.map((name) => `sum(x.${name}) as ${name}`),
    ...LATENCIES.map((kind) => {
      const sums = bucketColumns(kind).map((column) => `sum(x.${column})::bigint`)
      return `array[${sums.join(', ')}] as ${kind}`
    }),
  ].join(', '),
)

/** Each period begins at a multiple of its length since 1970, in UTC. */
function periodOf({ stepMs }: StatisticsSelection): Sql {
  return sql`date_bin(${stepMs}::integer * interval '1 ms', s.at, 'epoch')`
}

function columnOf({ by }: StatisticsSelection, name: keyof RowGroup): Sql {
  return raw(by.includes(name) ? GROUP_COLUMNS[name] : name === 'country' ? `''` : '0')
}

function keysOf(selection: StatisticsSelection): Sql {
  const names = Object.keys(GROUP_COLUMNS) as (keyof RowGroup)[]
  return join(names.map((name) => sql`${columnOf(selection, name)} as "${raw(name)}"`))
}

function rowsOf({ ranges, ofPlans, planIds, carrierId, routeId, country }: StatisticsSelection): Sql {
  const periods = ranges.map(
    ({ interval, fromMs, toMs }) =>
      sql`(${INTERVALS[interval] / 1_000}::integer, ${new Date(fromMs)}::timestamptz, ${new Date(toMs)}::timestamptz)`,
  )
  const ofPlan = planIds === null ? raw('s.plan_id > 0') : sql`s.plan_id = any (${planIds}::integer[])`
  return sql`(values ${join(periods)}) as p (step_s, "from", "to")
    join statistics s on s.step_s = p.step_s and s.at >= p."from" and s.at < p."to"
      and ${ofPlans ? ofPlan : raw('s.plan_id = 0')}
      and ${allOf([equals('s.carrier_id', carrierId), equals('s.route_id', routeId), equals('s.country', country)])}`
}

/** Numbers the groups of sums, which are few where rows are many. A sum of another group has no number. */
function groupJoin(groups: readonly RowGroup[]): Sql {
  const numbered = JSON.stringify(groups.map((group, n) => ({ n, ...group })))
  return sql`left join json_to_recordset(${numbered}) as g (
      n integer, "planId" integer, "routeId" integer, "carrierId" integer, country text)
    on g."planId" = x."planId" and g."routeId" = x."routeId" and g."carrierId" = x."carrierId"
      and g.country = x.country`
}

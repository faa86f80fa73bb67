import sql, { join, raw, type Sql } from 'sql-template-tag'
import {
  BUCKETS,
  COUNTS,
  type Count,
  INTERVALS,
  LATENCIES,
  type LatencyKind,
  type StatisticsRow,
} from '../domain/statistics.ts'
import type { RowRange, StatisticsFilters } from '../domain/statistics-query.ts'
import type { Cell, CodeCell, PriceCell, RowGroup } from '../domain/statistics-series.ts'
import type { Queryable } from './database.ts'
import { allOf, equals } from './list-conditions.ts'

/** A number for the rows of one process, which no other living process has. */
export async function nextWriter(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ writer: number }>({
    text: `select nextval('statistics_writers')::integer as writer`,
  })
  return rows[0]!.writer
}

/** Writes minutes of a writer. A row replaces the one before, which was of the same minute's beginning. */
export async function writeStatistics(
  db: Queryable,
  writer: number,
  minutes: readonly StatisticsRow[],
): Promise<void> {
  await db.query({
    name: 'write_statistics',
    text: `
      insert into statistics as s (
        step_s, at, plan_id, route_id, carrier_id, country, writer, accepted, sent, delivered, failed, unknown, inbound,
        segments, codes, code_counts, currencies, prices, accept_latency, submit_latency, receipt_latency, webhook_latency)
      select 60, to_timestamp("atMs" / 1000.0), "planId", "routeId", "carrierId", country, $2, accepted, sent, delivered,
             failed, unknown, inbound, segments, codes, "codeCounts", currencies, prices, accept, submit, receipt, webhook
      from json_to_recordset($1) as i (
        "atMs" bigint, "planId" integer, "routeId" integer, "carrierId" integer, country text, accepted integer,
        sent integer, delivered integer, failed integer, unknown integer, inbound integer, segments integer,
        codes smallint[], "codeCounts" integer[], currencies text[], prices bigint[], accept integer[],
        submit integer[], receipt integer[], webhook integer[])
      on conflict (plan_id, step_s, at, route_id, carrier_id, country, writer) do update
      set accepted = excluded.accepted, sent = excluded.sent, delivered = excluded.delivered, failed = excluded.failed,
          unknown = excluded.unknown, inbound = excluded.inbound, segments = excluded.segments, codes = excluded.codes,
          code_counts = excluded.code_counts, currencies = excluded.currencies, prices = excluded.prices,
          accept_latency = excluded.accept_latency, submit_latency = excluded.submit_latency,
          receipt_latency = excluded.receipt_latency, webhook_latency = excluded.webhook_latency`,
    values: [JSON.stringify(minutes), writer],
  })
}

const COMBINATION = 'plan_id, route_id, carrier_id, country'

/** The sums of a histogram's places, as an array; null when no row has the histogram. */
function summed(column: string): string {
  const places = Array.from({ length: BUCKETS }, (_, index) => `sum(${column}[${index + 1}])`)
  return `case when count(${column}) > 0 then array[${places.join(', ')}] end`
}

const ROLL_UP = `
  with claimed as (
    update statistics_rolled_up set until = until + $1 * interval '1 s'
    where step_s = $1 and until + $1 * interval '1 s' <= $3
      and ($2 = 60 or until + $1 * interval '1 s' <= (select until from statistics_rolled_up where step_s = $2))
    returning until - $1 * interval '1 s' as at, until
  ), finer as (
    select s.*, c.at as since from claimed c
    join statistics s on s.step_s = $2 and s.at >= c.at and s.at < c.until
  ), code_sums as (
    select ${COMBINATION}, array_agg(code) as codes, array_agg(count) as counts
    from (
      select ${COMBINATION}, code, sum(count)::integer as count
      from finer, unnest(codes, code_counts) as u (code, count) group by ${COMBINATION}, code
    ) c group by ${COMBINATION}
  ), price_sums as (
    select ${COMBINATION}, array_agg(currency) as currencies, array_agg(price) as prices
    from (
      select ${COMBINATION}, currency, sum(price)::bigint as price
      from finer, unnest(currencies, prices) as u (currency, price) group by ${COMBINATION}, currency
    ) c group by ${COMBINATION}
  ), sums as (
    select ${COMBINATION}, since, ${COUNTS.map((name) => `sum(${name}) as ${name}`).join(', ')},
           ${LATENCIES.map((kind) => `${summed(`${kind}_latency`)} as ${kind}_latency`).join(', ')}
    from finer group by ${COMBINATION}, since
  ), written as (
    insert into statistics (
      step_s, at, ${COMBINATION}, writer, ${COUNTS.join(', ')}, codes, code_counts, currencies, prices,
      ${LATENCIES.map((kind) => `${kind}_latency`).join(', ')})
    select $1, s.since, ${COMBINATION}, 0, ${COUNTS.map((name) => `s.${name}`).join(', ')},
           coalesce(c.codes, '{}'), coalesce(c.counts, '{}'), coalesce(p.currencies, '{}'), coalesce(p.prices, '{}'),
           ${LATENCIES.map((kind) => `s.${kind}_latency`).join(', ')}
    from sums s left join code_sums c using (${COMBINATION}) left join price_sums p using (${COMBINATION})
    order by ${COMBINATION}
  )
  select from claimed`

/**
 * Sums the next hour or day from the minutes or hours of all processes, if it ended before `ready`. Of several nodes that try at
 * once, one does it. Returns whether there was one.
 */
export async function rollUpStatistics(db: Queryable, step: 'hour' | 'day', ready: Date): Promise<boolean> {
  const [stepS, finerS] = step === 'hour' ? [3_600, 60] : [86_400, 3_600]
  const { rowCount } = await db.query({
    name: 'roll_up_statistics',
    text: ROLL_UP,
    values: [stepS, finerS, ready],
  })
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
    name: 'rolled_up_to',
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
    select ${PERIOD(selection)}, g.n as "group", ${SUMS}
    from ${rowsOf(selection)} ${groupJoin(selection, groups)}
    group by 1, 2`)
  return rows.map((row) => ({
    group: row.group,
    atMs: Number(row.atMs),
    counts: Object.fromEntries(COUNTS.map((name) => [name, Number(row[name])])) as Record<Count, number>,
    latencies: Object.fromEntries(
      LATENCIES.map((kind) => [kind, row[kind]?.map((count) => Number(count ?? 0)) ?? null]),
    ) as Record<LatencyKind, number[] | null>,
  }))
}

interface SumsRow extends Record<Count, string>, Record<LatencyKind, (string | null)[] | null> {
  readonly atMs: string
  readonly group: number | null
}

export async function sumPrices(
  db: Queryable,
  selection: StatisticsSelection,
  groups: readonly RowGroup[],
): Promise<PriceCell[]> {
  const { rows } = await db.query<Omit<PriceCell, 'atMs' | 'millionths'> & { atMs: string; sum: string }>(sql`
    select ${PERIOD(selection)}, g.n as "group", u.currency, sum(u.price)::text as sum
    from ${rowsOf(selection)} ${groupJoin(selection, groups)}
    cross join unnest(s.currencies, s.prices) as u (currency, price)
    group by 1, 2, 3`)
  return rows.map(({ sum, atMs, ...row }) => ({ ...row, atMs: Number(atMs), millionths: BigInt(sum) }))
}

export async function sumCodes(
  db: Queryable,
  selection: StatisticsSelection,
  groups: readonly RowGroup[],
): Promise<CodeCell[]> {
  const { rows } = await db.query<Omit<CodeCell, 'atMs' | 'count'> & { atMs: string; count: string }>(sql`
    select ${PERIOD(selection)}, g.n as "group", u.code as key, sum(u.count) as count
    from ${rowsOf(selection)} ${groupJoin(selection, groups)}
    cross join unnest(s.codes, s.code_counts) as u (code, count)
    group by 1, 2, 3`)
  return rows.map((row) => ({ ...row, atMs: Number(row.atMs), count: Number(row.count) }))
}

const SUMS = raw(
  [
    ...COUNTS.map((name) => `sum(s.${name}) as ${name}`),
    ...LATENCIES.map((kind) => `${summed(`s.${kind}_latency`)} as ${kind}`),
  ].join(', '),
)
/** Each period begins at a multiple of its length since 1970, in UTC. */
const PERIOD = ({ stepMs }: StatisticsSelection): Sql =>
  sql`(extract(epoch from date_bin(${stepMs}::integer * interval '1 ms', s.at, 'epoch')) * 1000)::bigint as "atMs"`

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

/** Numbers the groups. A row of another group has none. */
function groupJoin(selection: StatisticsSelection, groups: readonly RowGroup[]): Sql {
  const numbered = JSON.stringify(groups.map((group, n) => ({ n, ...group })))
  const names = Object.keys(GROUP_COLUMNS) as (keyof RowGroup)[]
  const isSame = names.map((name) => sql`g."${raw(name)}" = ${columnOf(selection, name)}`)
  return sql`left join json_to_recordset(${numbered}) as g (
      n integer, "planId" integer, "routeId" integer, "carrierId" integer, country text)
    on ${join(isSame, ' and ')}`
}

import type { QualityCounts, QualityMinute, RouteCarrier } from '../domain/carriers/quality.ts'
import type { Queryable } from './database.ts'

/** Adds counts to their minutes. A batch has at most one row for each minute, route and carrier. */
export async function addQualityMinutes(db: Queryable, minutes: readonly QualityMinute[]): Promise<void> {
  await db.query({
    name: 'add_quality_minutes',
    text: `
      insert into quality_minutes as q (
        route_id, carrier_id, minute, accepted, refused, throttled, no_answer, submit_latency, submit_latency_max,
        sent, delivered, failed, unknown, receipt_latency)
      select "routeId", "carrierId", to_timestamp("minuteMs" / 1000.0), accepted, refused, throttled, "noAnswer",
             "submitLatency", ceil("submitLatencyMaxMs")::integer, sent, delivered, failed, unknown, "receiptLatency"
      from json_to_recordset($1) as i (
        "routeId" integer, "carrierId" integer, "minuteMs" bigint, accepted integer, refused integer,
        throttled integer, "noAnswer" integer, "submitLatency" integer[], "submitLatencyMaxMs" double precision,
        sent integer, delivered integer, failed integer, unknown integer, "receiptLatency" integer[])
      order by 1, 2, 3
      on conflict (route_id, carrier_id, minute) do update
      set accepted = q.accepted + excluded.accepted, refused = q.refused + excluded.refused,
          throttled = q.throttled + excluded.throttled, no_answer = q.no_answer + excluded.no_answer,
          submit_latency = (select array_agg(a + b order by place)
                            from unnest(q.submit_latency, excluded.submit_latency) with ordinality as u (a, b, place)),
          submit_latency_max = greatest(q.submit_latency_max, excluded.submit_latency_max),
          sent = q.sent + excluded.sent, delivered = q.delivered + excluded.delivered,
          failed = q.failed + excluded.failed, unknown = q.unknown + excluded.unknown,
          receipt_latency = (select array_agg(a + b order by place)
                             from unnest(q.receipt_latency, excluded.receipt_latency) with ordinality as u (a, b, place))`,
    values: [JSON.stringify(minutes.map(({ counts, ...minute }) => ({ ...minute, ...counts })))],
  })
}

/** Minutes from `from` on, optionally of one carrier and one route. */
export interface QualitySelection {
  readonly from: Date
  /** Minutes before this may have messages without a receipt. */
  readonly missingBefore: Date
  readonly carrierId: number | null
  readonly routeId: number | null
}

export interface QualitySums extends QualityCounts {
  /** Messages of minutes before `missingBefore` that have no final receipt. */
  readonly missing: number
}

/** The sum of a histogram column, place by place. */
function summed(column: string, places: number): string {
  const sums = Array.from({ length: places }, (_, index) => `sum(q.${column}[${index + 1}])`)
  return `array[${sums.join(', ')}]::bigint[]`
}

/** Counts lost in a crash may make a difference negative. */
const SUMS = `
  sum(q.accepted) as accepted, sum(q.refused) as refused, sum(q.throttled) as throttled,
  sum(q.no_answer) as "noAnswer", ${summed('submit_latency', 15)} as "submitLatency",
  max(q.submit_latency_max) as "submitLatencyMaxMs", sum(q.sent) as sent, sum(q.delivered) as delivered,
  sum(q.failed) as failed, greatest(sum(q.unknown), 0) as unknown,
  ${summed('receipt_latency', 18)} as "receiptLatency",
  coalesce(sum(greatest(q.sent - q.delivered - q.failed - q.unknown, 0)) filter (where q.minute < $2), 0) as missing`

const SELECTED = `q.minute >= $1 and ($3::integer is null or q.carrier_id = $3)
                  and ($4::integer is null or q.route_id = $4)`

function selection({ from, missingBefore, carrierId, routeId }: QualitySelection): unknown[] {
  return [from, missingBefore, carrierId, routeId]
}

export interface PairQuality extends QualitySums {
  readonly carrier: string
  readonly route: string
}

/** Sums by carrier and route, by name. If there are more than `limit`, those with most submit_sm are returned. */
export async function sumQuality(
  db: Queryable,
  selected: QualitySelection,
  limit: number,
): Promise<PairQuality[]> {
  const { rows } = await db.query<PairQuality>({
    text: `
      with pairs as (
        select q.carrier_id, q.route_id, ${SUMS}
        from quality_minutes q where ${SELECTED}
        group by q.carrier_id, q.route_id
        order by sum(q.accepted + q.refused + q.throttled + q.no_answer) desc, q.carrier_id, q.route_id limit $5
      )
      select c.name as carrier, r.name as route, p.*
      from pairs p join carriers c on c.id = p.carrier_id join routes r on r.id = p.route_id
      order by c.name, r.name`,
    values: [...selection(selected), limit],
  })
  return rows
}

/** Sums of everything selected, in steps of this many seconds, oldest first. Steps without messages are left out. */
export async function qualitySeries(
  db: Queryable,
  selected: QualitySelection,
  stepSeconds: number,
): Promise<(QualitySums & { at: Date })[]> {
  const { rows } = await db.query<QualitySums & { at: Date }>({
    text: `
      select date_bin($5 * interval '1 second', q.minute, 'epoch') as at, ${SUMS}
      from quality_minutes q where ${SELECTED}
      group by 1 order by 1`,
    values: [...selection(selected), stepSeconds],
  })
  return rows
}

/** Messages of some minutes that a carrier, by its name, was sent, and how many of them have no final receipt. */
export interface MissingReceipts {
  readonly carrier: string
  readonly sent: number
  readonly missing: number
}

/** For carriers that were sent any. */
export async function missingReceipts(
  db: Queryable,
  { from, before }: { from: Date; before: Date },
): Promise<MissingReceipts[]> {
  const { rows } = await db.query<MissingReceipts>({
    name: 'missing_receipts',
    text: `
      select c.name as carrier, sum(q.sent) as sent,
             sum(greatest(q.sent - q.delivered - q.failed - q.unknown, 0)) as missing
      from quality_minutes q join carriers c on c.id = q.carrier_id
      where q.minute >= $1 and q.minute < $2
      group by c.name`,
    values: [from, before],
  })
  return rows
}

export interface FloorFigures extends RouteCarrier {
  readonly delivered: number
  readonly failed: number
  readonly unknown: number
}

/**
 * The figures that the floors of these routes look at: for each of their carriers, the messages of the route's window,
 * and only those of whole minutes since its last pause. A carrier that is out of use is left out.
 */
export async function readFloorFigures(
  db: Queryable,
  routes: readonly { readonly routeId: number; readonly windowMinutes: number }[],
  now: Date,
): Promise<FloorFigures[]> {
  const { rows } = await db.query<FloorFigures>({
    name: 'read_floor_figures',
    text: `
      select rc.route_id as "routeId", rc.carrier_id as "carrierId", s.*
      from json_to_recordset($1) as i ("routeId" integer, "windowMinutes" integer)
      join route_carriers rc on rc.route_id = i."routeId"
      left join carrier_pauses p on p.route_id = rc.route_id and p.carrier_id = rc.carrier_id
      cross join lateral (
        select coalesce(sum(q.delivered), 0) as delivered, coalesce(sum(q.failed), 0) as failed,
               greatest(coalesce(sum(q.unknown), 0), 0) as unknown
        from quality_minutes q
        where q.route_id = rc.route_id and q.carrier_id = rc.carrier_id
          and q.minute >= greatest($2::timestamptz - i."windowMinutes" * interval '1 minute', p.until)
      ) s
      where p.until is null or p.until <= $2`,
    values: [JSON.stringify(routes), now],
  })
  return rows
}

export interface CarrierPause extends RouteCarrier {
  readonly carrier: string
  readonly route: string
  readonly since: Date
  readonly until: Date
  readonly reason: string
}

/**
 * Takes carriers out of use, judged by figures read at `now`. A carrier that another node has taken out meanwhile, or
 * whose pause has ended since, is left as it is. Returns the pairs that this call took out of use.
 */
export async function pauseCarriers(
  db: Queryable,
  pauses: readonly (RouteCarrier & { readonly minutes: number; readonly reason: string })[],
  now: Date,
): Promise<RouteCarrier[]> {
  const { rows } = await db.query<RouteCarrier>({
    text: `
      insert into carrier_pauses as p (route_id, carrier_id, since, until, reason)
      select rc.route_id, rc.carrier_id, $2::timestamptz, $2::timestamptz + minutes * interval '1 minute', reason
      from json_to_recordset($1) as i ("routeId" integer, "carrierId" integer, minutes integer, reason text)
      join route_carriers rc on rc.route_id = i."routeId" and rc.carrier_id = i."carrierId"
      order by 1, 2
      on conflict (route_id, carrier_id) do update
        set since = excluded.since, until = excluded.until, reason = excluded.reason
        where p.until <= excluded.since
      returning route_id as "routeId", carrier_id as "carrierId"`,
    values: [JSON.stringify(pauses), now],
  })
  return rows
}

/** Carriers out of use at `now`, in routes that still have a floor; by name. */
export async function listPauses(db: Queryable, now: Date): Promise<CarrierPause[]> {
  const { rows } = await db.query<CarrierPause>({
    name: 'list_pauses',
    text: `
      select p.route_id as "routeId", p.carrier_id as "carrierId", c.name as carrier, r.name as route, p.since,
             p.until, p.reason
      from carrier_pauses p
      join route_carriers rc on rc.route_id = p.route_id and rc.carrier_id = p.carrier_id
      join carriers c on c.id = p.carrier_id
      join routes r on r.id = p.route_id
      where p.until > $1 and r.quality_floor is not null
      order by c.name, r.name`,
    values: [now],
  })
  return rows
}

/** Ends the pause of a carrier in a route, both given by name or number. Returns it as it was; null: there is none at `now`. */
export async function endPause(
  db: Queryable,
  { route, carrier }: { route: string; carrier: string },
  now: Date,
): Promise<CarrierPause | null> {
  const { rows } = await db.query<CarrierPause>({
    text: `
      update carrier_pauses p set until = $3
      from routes r, carriers c, carrier_pauses w
      where (r.name = $1 or r.id::text = $1) and (c.name = $2 or c.id::text = $2)
        and p.route_id = r.id and p.carrier_id = c.id and p.until > $3
        and w.route_id = p.route_id and w.carrier_id = p.carrier_id
      returning p.route_id as "routeId", p.carrier_id as "carrierId", c.name as carrier, r.name as route, p.since,
                w.until, p.reason`,
    values: [route, carrier, now],
  })
  return rows[0] ?? null
}

/** Deletes minutes older than `ageMs`, at most `limit`. Returns how many. */
export async function deleteOldQualityMinutes(db: Queryable, ageMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      delete from quality_minutes q
      using (select route_id, carrier_id, minute from quality_minutes
             where minute < now() - $1 * interval '1 ms' order by minute limit $2) old
      where q.route_id = old.route_id and q.carrier_id = old.carrier_id and q.minute = old.minute`,
    values: [ageMs, limit],
  })
  return rowCount ?? 0
}

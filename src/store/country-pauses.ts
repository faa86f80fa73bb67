import type { FinalResult } from '../domain/carriers/quality.ts'
import { HOUR_MS } from '../domain/instants.ts'
import type { Queryable } from './database.ts'

/** Countries that plans may not send to for a while, and what leads to that. */

export interface CountryPause {
  readonly planId: number
  readonly country: string
  readonly since: Date
  readonly until: Date
  readonly reason: string
}

export interface NewPause extends Pick<CountryPause, 'planId' | 'country' | 'reason'> {
  readonly minutes: number
}

const COLUMNS = `plan_id as "planId", country, since, until, reason`

/** Pauses countries. One that is paused already stays as it is. Returns the pauses that are new. */
export async function pauseCountries(
  db: Queryable,
  pauses: readonly NewPause[],
  now: Date,
): Promise<CountryPause[]> {
  const { rows } = await db.query<CountryPause>(
    `insert into country_pauses as p (plan_id, country, since, until, reason)
     select distinct on ("planId", country) "planId", country, $2::timestamptz,
            $2::timestamptz + minutes * interval '1 minute', reason
     from json_to_recordset($1) as i ("planId" integer, country text, minutes integer, reason text)
     order by 1, 2
     on conflict (plan_id, country) do update
       set since = excluded.since, until = excluded.until, reason = excluded.reason
       where p.until <= excluded.since
     returning ${COLUMNS}`,
    [JSON.stringify(pauses), now],
  )
  return rows
}

/** The pauses at `now`. `planId` null: of all plans. */
export async function listCountryPauses(
  db: Queryable,
  planId: number | null,
  now: Date,
): Promise<CountryPause[]> {
  const { rows } = await db.query<CountryPause>({
    text: `select ${COLUMNS} from country_pauses
           where until > $2 and ($1::integer is null or plan_id = $1) order by plan_id, country`,
    values: [planId, now],
  })
  return rows
}

/** Ends a pause, and forgets the plan's counts of this hour. Returns it as it was; null: there is none at `now`. */
export async function endCountryPause(
  db: Queryable,
  { planId, country }: Pick<CountryPause, 'planId' | 'country'>,
  now: Date,
): Promise<CountryPause | null> {
  const { rows } = await db.query<CountryPause>(
    `with paused as (
       select * from country_pauses where plan_id = $1 and country = $2 and until > $3 for update
     ), ended as (
       update country_pauses p set until = $3 from paused w where p.plan_id = w.plan_id and p.country = w.country
     ), forgotten as (
       delete from prefix_counts c using paused w where c.plan_id = w.plan_id
     )
     select ${COLUMNS} from paused`,
    [planId, country, now],
  )
  return rows[0] ?? null
}

export interface PrefixReport {
  readonly planId: number
  readonly prefix: string
  readonly count: number
}

/**
 * Adds what processes have counted in an hour, each prefix of a plan once. Returns the sums of all processes, in the order of
 * the reports. Older hours of these prefixes are overwritten.
 */
export async function addPrefixCounts(
  db: Queryable,
  reports: readonly PrefixReport[],
  nowMs: number,
): Promise<readonly number[]> {
  const { rows } = await db.query<Omit<PrefixReport, 'count'> & { count: number }>({
    name: 'add_prefix_counts',
    text: `
      insert into prefix_counts as c (plan_id, prefix, hour, count)
      select "planId", prefix, $2, count
      from json_to_recordset($1) as i ("planId" integer, prefix text, count integer) order by 1, 2
      on conflict (plan_id, prefix) do update
        set hour = excluded.hour,
            count = excluded.count + case when c.hour = excluded.hour then c.count else 0 end
      returning plan_id as "planId", prefix, count`,
    values: [JSON.stringify(reports), new Date(Math.floor(nowMs / HOUR_MS) * HOUR_MS)],
  })
  const counts = new Map(rows.map(({ planId, prefix, count }) => [`${planId} ${prefix}`, count]))
  return reports.map(({ planId, prefix }) => counts.get(`${planId} ${prefix}`) ?? 0)
}

/** Deletes counts of hours before this time. */
export async function deleteOldPrefixCounts(db: Queryable, before: Date): Promise<void> {
  await db.query('delete from prefix_counts where hour < $1', [before])
}

export interface CountryResults extends Readonly<Record<FinalResult, number>> {
  readonly planId: number
  readonly country: string
}

/**
 * What became of the messages of these plans in each country, by the statistics of the last minutes. Only of whole minutes
 * since the country's last pause, and not of countries that are paused.
 */
export async function readCountryResults(
  db: Queryable,
  plans: readonly { readonly planId: number; readonly windowMinutes: number }[],
  now: Date,
): Promise<CountryResults[]> {
  const { rows } = await db.query<CountryResults>({
    text: `
      select s.plan_id as "planId", s.country, sum(s.delivered) as delivered, sum(s.failed) as failed,
             sum(s.unknown) as unknown
      from json_to_recordset($1) as i ("planId" integer, "windowMinutes" integer)
      join statistics s on s.plan_id = i."planId" and s.step_s = 60
        and s.at >= $2::timestamptz - i."windowMinutes" * interval '1 minute'
      left join country_pauses p on p.plan_id = s.plan_id and p.country = s.country
      where s.country <> '' and (p.until is null or p.until <= $2 and s.at >= p.until)
      group by 1, 2`,
    values: [JSON.stringify(plans), now],
  })
  return rows
}

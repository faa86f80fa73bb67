import type { Cap, CapPeriod, CapStep } from '../domain/limits/plan-limits.ts'
import type { Queryable } from './database.ts'

/** How much of its caps each plan has used, or has given to processes for messages to come. */

interface Counted extends Pick<Cap, 'unit' | 'step'>, Pick<CapPeriod, 'begins'> {
  readonly planId: number
}

export interface ShareRequest extends Counted {
  readonly most: number
  /** The process has messages for so much. */
  readonly needed: number
}

export interface GrantedShare {
  /** Up to `needed`, or a hundredth of what was left if that is more. */
  readonly granted: number
  /** What was taken by all processes, without this. */
  readonly before: number
}

const KEY = `"planId" integer, unit text, step text, begins date`

/** Takes shares of caps. The answers are in the order of the requests, none of which names the same counter as another. */
export async function takeShares(
  db: Queryable,
  requests: readonly ShareRequest[],
): Promise<readonly GrantedShare[]> {
  const { rows } = await db.query<GrantedShare & { index: number }>({
    text: `
      with locked as (
        select i.*, u.taken as before,
               greatest(least(i.most - u.taken, greatest(i.needed, (i.most - u.taken) / 100)), 0) as granted
        from json_to_recordset($1) as i (${KEY}, most bigint, needed bigint, index integer)
        join plan_usage u
          on u.plan_id = i."planId" and u.unit = i.unit and u.step = i.step and u.begins = i.begins
        order by u.plan_id, u.unit, u.step for update of u
      )
      update plan_usage u set taken = l.before + l.granted
      from locked l
      where u.plan_id = l."planId" and u.unit = l.unit and u.step = l.step and u.begins = l.begins
      returning l.index, l.granted, l.before`,
    values: [JSON.stringify(requests.map((request, index) => ({ ...request, index })))],
  })
  const grants = new Map(rows.map(({ index, ...grant }) => [index, grant]))
  const absent = requests.filter((_, index) => !grants.has(index))
  if (absent.length === 0) return requests.map((_, index) => grants.get(index)!)
  await beginPeriods(db, absent)
  // The others have theirs, and asked again would take them twice.
  const late = (await takeShares(db, absent)).values()
  return requests.map((_, index) => grants.get(index) ?? late.next().value!)
}

const KEPT_DAYS = 400

/** Adds the counters that are not there yet, and deletes very old ones of the same plans. */
async function beginPeriods(db: Queryable, counters: readonly Counted[]): Promise<void> {
  await db.query(
    `with i as (select * from json_to_recordset($1) as i (${KEY})), old as (
       delete from plan_usage u using i where u.plan_id = i."planId" and u.begins < i.begins - $2::integer
     )
     insert into plan_usage (plan_id, unit, step, begins)
     select * from i order by 1, 2, 3 on conflict do nothing`,
    [JSON.stringify(counters), KEPT_DAYS],
  )
}

/** Gives unused parts of shares back. */
export async function returnShares(
  db: Queryable,
  shares: readonly (Counted & { readonly unused: number })[],
): Promise<void> {
  await db.query({
    text: `
      with locked as (
        select u.plan_id, u.unit, u.step, u.begins, greatest(u.taken - i.unused, 0) as taken
        from json_to_recordset($1) as i (${KEY}, unused bigint)
        join plan_usage u
          on u.plan_id = i."planId" and u.unit = i.unit and u.step = i.step and u.begins = i.begins
        order by u.plan_id, u.unit, u.step for update of u
      )
      update plan_usage u set taken = l.taken
      from locked l
      where u.plan_id = l.plan_id and u.unit = l.unit and u.step = l.step and u.begins = l.begins`,
    values: [JSON.stringify(shares)],
  })
}

/** What a plan has taken of its present periods. */
export async function readUsage(
  db: Queryable,
  planId: number,
  begins: Readonly<Record<CapStep, string>>,
): Promise<{ unit: string; step: CapStep; taken: number }[]> {
  const { rows } = await db.query<{ unit: string; step: CapStep; taken: number }>(
    `select unit, step, taken from plan_usage
     where plan_id = $1 and begins = case step when 'day' then $2::date else $3::date end`,
    [planId, begins.day, begins.month],
  )
  return rows
}

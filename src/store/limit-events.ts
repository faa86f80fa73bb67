import { type LimitEvent, type StoredLimitEvent, subjectOf } from '../domain/limits/plan-limits.ts'
import type { Queryable } from './database.ts'

/** Events of the limits of plans, and which of them are still to be pushed. */

const COLUMNS = `e.id, e.plan_id as "planId", e.at, e.contents`
const KEPT_DAYS = 400

/**
 * Stores events that are not there yet, and returns these. They are due at once if their plan asks for them. Very old ones of
 * the same plans are deleted.
 */
export async function insertLimitEvents(
  db: Queryable,
  events: readonly LimitEvent[],
): Promise<StoredLimitEvent[]> {
  const { rows } = await db.query<StoredLimitEvent>(
    `with i as (
       select * from json_to_recordset($1) as i ("planId" integer, subject text, contents json)
     ), old as (
       delete from limit_events e using i where e.plan_id = i."planId" and e.at < now() - $2 * interval '1 day'
     )
     insert into limit_events as e (plan_id, subject, contents, due_at)
     select i."planId", i.subject, i.contents, case when p.limit_events and p.inbound_url is not null then now() end
     from i join service_plans p on p.id = i."planId"
     order by 1, 2
     on conflict (plan_id, subject) do nothing
     returning ${COLUMNS}`,
    [JSON.stringify(events.map((event) => ({ ...event, subject: subjectOf(event.contents) }))), KEPT_DAYS],
  )
  return rows
}

/**
 * Events that are due, the oldest of each plan first, each with its attempt: at most `limit`, and `limitOfPlan` of a plan. Each is
 * due again after the wait for its next attempt, so that another process takes it up if this one dies; after the last one it is
 * given up. `waitsMs`: after attempt 1, 2, …
 */
export async function takeDueLimitEvents(
  db: Queryable,
  waitsMs: readonly number[],
  { limit, limitOfPlan }: { limit: number; limitOfPlan: number },
): Promise<(StoredLimitEvent & { attempt: number })[]> {
  const { rows } = await db.query<StoredLimitEvent & { attempt: number }>({
    text: `
      with due as (
        select id, row_number() over (partition by plan_id order by id) as place
        from limit_events where due_at <= now()
      )
      update limit_events e
      set attempts = attempts + 1, due_at = now() + ($1::bigint[])[attempts + 1] * interval '1 ms'
      where id in (select id from due where place <= $3 order by place, id limit $2)
        -- Another process may have taken it meanwhile.
        and due_at <= now()
      returning ${COLUMNS}, attempts as attempt`,
    values: [waitsMs, limit, limitOfPlan],
  })
  return rows
}

/** The event was answered 2xx. */
export async function limitEventTaken(db: Queryable, id: number): Promise<void> {
  await db.query('update limit_events set due_at = null, taken_at = now() where id = $1', [id])
}

/** Caps that were used up since `from`, at most 1,000. */
export async function listUsedCaps(db: Queryable, from: Date): Promise<StoredLimitEvent[]> {
  const { rows } = await db.query<StoredLimitEvent>(
    `select ${COLUMNS} from limit_events e
     where at >= $1 and contents->>'type' = 'capReached' and contents->>'percent' = '100'
     order by at desc limit 1000`,
    [from],
  )
  return rows
}

export interface ShownLimitEvent extends StoredLimitEvent {
  readonly attempts: number
  readonly takenAt: Date | null
}

/** The newest events of a plan. */
export async function listLimitEvents(
  db: Queryable,
  planId: number,
  limit: number,
): Promise<ShownLimitEvent[]> {
  const { rows } = await db.query<ShownLimitEvent>(
    `select ${COLUMNS}, e.attempts, e.taken_at as "takenAt" from limit_events e
     where plan_id = $1 order by id desc limit $2`,
    [planId, limit],
  )
  return rows
}

import type { Alarm, AlarmCondition, AlarmKey } from '../domain/alarms.ts'
import type { Queryable } from './database.ts'

/** Alarms that are raised, and those whose clearing is still to be told. One row for each name and object. */

export interface AlarmRecord extends Alarm {
  /** To tell its present state. */
  readonly attempts: number
  /** It is time for an attempt. */
  readonly isDue: boolean
}

const COLUMNS = `
  alarm_id as "alarmId", name, object, state, since, value, summary, raised_at as "raisedAt",
  cleared_at as "clearedAt", attempts, coalesce(due_at <= now(), false) as "isDue"`

export async function listAlarms(db: Queryable): Promise<AlarmRecord[]> {
  const { rows } = await db.query<AlarmRecord>({
    text: `select ${COLUMNS} from alarms order by raised_at, name, object`,
  })
  return rows
}

/** Raises alarms, to be told at once. One that is raised already stays as it is. Returns those that this call raised. */
export async function raiseAlarms(
  db: Queryable,
  conditions: readonly AlarmCondition[],
): Promise<AlarmRecord[]> {
  const { rows } = await db.query<AlarmRecord>({
    text: `
      insert into alarms as a (name, object, since, value, summary)
      select name, object, since, value, summary
      from json_to_recordset($1) as i (name text, object text, since timestamptz, value double precision, summary text)
      order by name, object
      on conflict (name, object) do update
      set alarm_id = gen_random_uuid(), state = 'raised', since = excluded.since, value = excluded.value,
          summary = excluded.summary, raised_at = now(), cleared_at = null, attempts = 0, due_at = now()
      where a.state = 'cleared'
      returning ${COLUMNS}`,
    values: [JSON.stringify(conditions)],
  })
  return rows
}

/** Clears alarms, to be told at once. Returns those that this call cleared. */
export async function clearAlarms(db: Queryable, alarms: readonly AlarmKey[]): Promise<AlarmRecord[]> {
  const { rows } = await db.query<AlarmRecord>({
    text: `
      update alarms set state = 'cleared', cleared_at = now(), attempts = 0, due_at = now()
      where state = 'raised' and (name, object) in (
        select name, object from json_to_recordset($1) as i (name text, object text))
      returning ${COLUMNS}`,
    values: [JSON.stringify(alarms)],
  })
  return rows
}

/**
 * Takes alarms that are due, at most `limit`, each for one attempt. It is due again after the wait for the next one, whether
 * or not this process lives; after the last, never. `waitsMs`: after attempt 1, 2, …
 */
export async function takeDueAlarms(
  db: Queryable,
  waitsMs: readonly number[],
  limit: number,
): Promise<AlarmRecord[]> {
  const { rows } = await db.query<AlarmRecord>({
    text: `
      update alarms
      set attempts = attempts + 1, due_at = now() + ($1::float8[])[attempts + 1] * interval '1 ms'
      where (name, object) in (
        select name, object from alarms where due_at <= now()
        order by due_at, name, object limit $2 for update skip locked)
      returning ${COLUMNS}`,
    values: [waitsMs, limit],
  })
  return rows
}

/** The alarm's state was told, or is not to be told any more. One that is cleared goes; one that has changed since stays. */
export async function endTelling(db: Queryable, { alarmId, state }: AlarmRecord): Promise<void> {
  await db.query({
    text: `
      with told as (
        update alarms set due_at = null where alarm_id = $1 and state = $2 and state = 'raised'
      )
      delete from alarms where alarm_id = $1 and state = $2 and state = 'cleared'`,
    values: [alarmId, state],
  })
}

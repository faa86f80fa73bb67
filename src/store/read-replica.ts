/** What tells whether a standby has everything that its primary has committed (docs/adr/0032). */
import type { Queryable } from './database.ts'

/** A place in the write-ahead log. Places are compared on one timeline only: each promotion begins another. */
export interface WalPlace {
  /** The same text on a primary and its standbys, and on no other server, database or schema. */
  readonly database: string
  readonly timeline: number
  /** In octets. */
  readonly position: number | bigint
}

/** A hung standby is noticed after this time. */
const LOOK_TIMEOUT_MS = 1_000

/** With `pg_control_system() s`. */
const DATABASE = `concat_ws(' ', s.system_identifier, current_database(), current_schema()) as database`

/**
 * Everything that a statement on the primary could see when this began is in the log up to here: a COMMIT is flushed before
 * others see it.
 */
export async function primaryPlace(primary: Queryable): Promise<WalPlace> {
  const { rows } = await primary.query<WalPlace>({
    name: 'primary_place',
    text: `
      select ${DATABASE}, (wal - '0/0')::bigint as position,
             ('x' || left(pg_walfile_name(wal), 8))::bit(32)::integer as timeline
      from pg_control_system() s, pg_current_wal_flush_lsn() as wal`,
  })
  return rows[0]!
}

/**
 * How much of it this server has replayed; null: it is no standby. The control file names a new timeline only some time
 * after the standby has followed its primary there, and never one that it has not followed.
 */
export async function replayedPlace(replica: Queryable): Promise<WalPlace | null> {
  const { rows } = await replica.query<WalPlace & { isStandby: boolean }>({
    name: 'replayed_place',
    text: `
      select pg_is_in_recovery() as "isStandby", ${DATABASE},
             (pg_last_wal_replay_lsn() - '0/0')::bigint as position,
             greatest(c.timeline_id, r.min_recovery_end_timeline) as timeline
      from pg_control_system() s, pg_control_checkpoint() c, pg_control_recovery() r`,
    query_timeout: LOOK_TIMEOUT_MS,
  })
  const { isStandby, ...place } = rows[0]!
  return isStandby ? place : null
}

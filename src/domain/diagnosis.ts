/** The findings of `aldis doctor` and its advice (docs/doctor.md). */

/** warning: it works, but not as it should; fault: it does not work, or accepted messages can be lost. */
export type Level = 'ok' | 'warning' | 'fault'

export interface Finding {
  readonly check: string
  readonly level: Level
  readonly found: string
  /** What to do about it; null: nothing. */
  readonly advice: string | null
}

export function fine(check: string, found: string): Finding {
  return { check, level: 'ok', found, advice: null }
}

export function warning(check: string, found: string, advice: string): Finding {
  return { check, level: 'warning', found, advice }
}

export function defect(check: string, found: string, advice: string): Finding {
  return { check, level: 'fault', found, advice }
}

interface Standby {
  readonly name: string
  /** As in pg_stat_replication; null: the role may not see it. */
  readonly state: string | null
  readonly syncState: string | null
  readonly lagSeconds: number | null
}

export interface Replication {
  readonly standbys: readonly Standby[]
  readonly synchronous: boolean
}

/** `isExpected`: DATABASE_URL names several servers. Patroni empties synchronous_standby_names when the last standby is lost. */
export function judgeReplication({ standbys, synchronous }: Replication, isExpected: boolean): Finding {
  const check = 'replication'
  if (standbys.length === 0 && synchronous)
    return defect(
      check,
      'a COMMIT waits for a standby, and none is connected',
      'start the standby, or empty synchronous_standby_names',
    )
  if (standbys.length === 0 && isExpected)
    return warning(
      check,
      'no standby is connected, though DATABASE_URL names several servers: COMMITs wait for none',
      'start the standby: if the primary is lost now, nothing can take its place',
    )
  if (standbys.length === 0) return fine(check, 'no standby')
  const said = standbys
    .map(({ name, state, syncState, lagSeconds }) => {
      const lag = lagSeconds === null ? [] : [`${lagSeconds.toFixed(1)} s behind`]
      return [name, state ?? 'state not visible', syncState, ...lag].filter(Boolean).join(' ')
    })
    .join('; ')
  if (!synchronous)
    return warning(
      check,
      `asynchronous: ${said}`,
      'if the primary is lost, so are the messages accepted last: set synchronous_standby_names',
    )
  const behind = standbys.some(({ lagSeconds }) => lagSeconds !== null && lagSeconds > MOST_LAG_SECONDS)
  return behind
    ? warning(check, `synchronous: ${said}`, 'find out why the standby is behind: every accept waits for it')
    : fine(check, `synchronous: ${said}`)
}

const MOST_LAG_SECONDS = 5

/** `rivals`: servers of DATABASE_URL that take writes, though another has been promoted in their place. */
export function judgePrimaries(rivals: readonly string[]): Finding {
  const check = 'primaries'
  return rivals.length === 0
    ? fine(check, 'one server takes writes')
    : defect(check, rivals.join('; '), 'stop it, and make it a standby: what is written there is lost')
}

/** A look at the standby of DATABASE_REPLICA_URL. */
export type ReplicaLook =
  | { readonly lagMs: number }
  | { readonly trouble: 'unreachable' | 'foreign' | 'behind' | 'failed'; readonly message: string }

export function judgeReadReplica(look: ReplicaLook): Finding {
  const check = 'read replica'
  if ('lagMs' in look) return fine(check, `has what the primary has after ${Math.round(look.lagMs)} ms`)
  const { trouble, message } = look
  if (trouble === 'foreign')
    return defect(check, message, 'DATABASE_REPLICA_URL must name a standby of the primary of DATABASE_URL')
  const advice =
    trouble === 'behind'
      ? 'find out what holds its replay up: pg_stat_replication of the primary, long statements on the standby'
      : 'check DATABASE_REPLICA_URL, and whether the server runs'
  return warning(check, message, `${advice}; the primary answers its reads meanwhile`)
}

/** `aheadMs`: of this machine before the database. The node is not ready from `mostMs` on. */
export function judgeClock(aheadMs: number, mostMs: number): Finding {
  const check = 'clock'
  const off = Math.abs(aheadMs)
  const found = `${Math.round(off)} ms ${aheadMs < 0 ? 'behind' : 'ahead of'} the database`
  const advice = 'synchronise both clocks by NTP'
  if (off > mostMs) return defect(check, found, advice)
  return off > CLOCK_WARNING_MS ? warning(check, found, advice) : fine(check, found)
}

const CLOCK_WARNING_MS = 1_000

export interface Vacuum {
  /** Tables with many dead rows. */
  readonly bloated: readonly { readonly table: string; readonly dead: number; readonly live: number }[]
  /** Of the oldest transaction that is still open; null: there is none. */
  readonly oldestSeconds: number | null
  /** Age of the oldest unfrozen row, in transactions. At 2^31 PostgreSQL stops. */
  readonly frozenAge: number
}

export function judgeVacuum({ bloated, oldestSeconds, frozenAge }: Vacuum): Finding {
  const check = 'vacuum'
  if (frozenAge > MOST_FROZEN_AGE)
    return defect(
      check,
      `the oldest unfrozen row is ${frozenAge} transactions old`,
      'run VACUUM (FREEZE): PostgreSQL stops at 2,147,483,648',
    )
  if (oldestSeconds !== null && oldestSeconds > MOST_OPEN_SECONDS)
    return warning(
      check,
      `a transaction has been open for ${Math.round(oldestSeconds)} s`,
      'find it in pg_stat_activity: dead rows stay until it ends, and tables grow',
    )
  if (bloated.length > 0) {
    const tables = bloated.map(({ table, dead, live }) => `${table}: ${dead} dead, ${live} live rows`)
    return warning(check, tables.join('; '), 'let autovacuum run, or run VACUUM on these tables')
  }
  return fine(check, 'dead rows are removed')
}

const MOST_FROZEN_AGE = 1_500_000_000
const MOST_OPEN_SECONDS = 600

export interface Growth {
  readonly bytes: number
  /** What the messages of the last whole day take; null: there were none. */
  readonly dayBytes: number | null
}

/** The size of the database, now and expected. PostgreSQL does not tell how much space its disk has left. */
export function describeGrowth({ bytes, dayBytes }: Growth, retentionDays: number): Finding {
  const now = `${gigabytes(bytes)} GB now`
  if (dayBytes === null) return fine('disk', now)
  const later = bytes + dayBytes * retentionDays
  return fine(
    'disk',
    `${now}; yesterday's messages take ${gigabytes(dayBytes)}, ${retentionDays} such days ${gigabytes(later)}`,
  )
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(bytes < 1e10 ? 2 : 0)
}

/** `missing`: partitions of today and tomorrow that do not exist. */
export function judgePartitions(missing: readonly string[]): Finding {
  return missing.length === 0
    ? fine('partitions', 'those of today and tomorrow exist')
    : defect(
        'partitions',
        `missing: ${missing.join(', ')}`,
        'messages of that day cannot be recorded: a running node makes them every hour, and its log says why it cannot',
      )
}

/** `daysLeft`: days that the next run of the retention drops later, because it drops one. */
export function judgeRetention(daysLeft: number): Finding {
  return daysLeft === 0
    ? fine('retention', 'at most one day is older than it should be, and is dropped within the hour')
    : warning(
        'retention',
        `${daysLeft + 1} days are older than they should be`,
        'stop the nodes if a clock is ahead, because each drops a day an hour; after a pause of the service, or with a lower RETENTION_DAYS, wait',
      )
}

/** `needed`: of this node; `most`: that the role may have. */
export function judgeConnections(needed: number, most: number): Finding {
  const found = `this node opens up to ${needed}, the server allows ${most} in all`
  return needed > most
    ? defect('connections', found, 'raise max_connections, or lower DATABASE_POOL_SIZE')
    : fine('connections', found)
}

export interface NodeVersion {
  readonly name: string
  /** Null: it has not reported yet. */
  readonly version: string | null
}

export function judgeNodes(nodes: readonly NodeVersion[], own: string): Finding {
  if (nodes.length === 0) return warning('nodes', 'none runs', 'start one: aldis serve')
  const versions = new Set(nodes.map(({ version }) => version ?? own))
  const said = nodes.map(({ name, version }) => `${name} ${version ?? '(has not reported)'}`).join(', ')
  return versions.size > 1 || !versions.has(own)
    ? warning(
        'nodes',
        `${said}; this is ${own}`,
        'finish the upgrade: all nodes should have the same version',
      )
    : fine('nodes', said)
}

/** `lacking`: what no living node does. */
export function judgeRoles(lacking: readonly string[]): Finding {
  return lacking.length === 0
    ? fine('roles', 'living nodes have every role')
    : defect('roles', lacking.join('; '), 'docs/many-nodes.md says what each role does')
}

export interface CarrierState {
  readonly name: string
  readonly state: 'started' | 'draining' | 'stopped'
  readonly bound: number
  readonly binds: number
  readonly lastError: string | null
}

/** The binds that living nodes have of a carrier. */
export function judgeBinds({ name, state, bound, binds, lastError }: CarrierState): Finding {
  const check = `carrier ${name}`
  if (state !== 'started') return fine(check, state)
  const found = `${bound} of ${binds} binds are bound${lastError === null ? '' : `; last error: ${lastError}`}`
  if (bound === binds) return fine(check, found)
  const advice = `aldis carrier binds ${name} shows each; docs/carriers.md says what the errors mean`
  return bound === 0 ? defect(check, found, advice) : warning(check, found, advice)
}

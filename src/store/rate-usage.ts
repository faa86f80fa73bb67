import type { Queryable } from './database.ts'

/** The tokens of rate limits that several processes share (docs/adr/0034). */

export type LimitScope = 'account' | 'plan'

export interface TokenRequest {
  readonly scope: LimitScope
  /** Of the account or the plan. */
  readonly id: number
  readonly perSecond: number
  readonly burst: number
  /** Tokens of a bucket that is not there yet. */
  readonly initial: number
  /** How many tokens the process wants, and how many messages it has had since it last asked. */
  readonly wanted: number
  readonly asked: number
  /** Tokens that it does not use; negative: that it owes. */
  readonly returned: number
}

export interface TokenGrant {
  readonly granted: number
  /** What is left for everybody. */
  readonly left: number
}

const TIMEOUT_MS = 2_000
/** A clock that says less than `as_of` by more than this was set back. By less, it is that of a standby that was promoted. */
const CLOCKS_APART = '1 second'

/**
 * Takes and returns tokens. Each process asks about every `intervalMs`. While all of them together want more than there is,
 * each gets a part by what it wants, and a quarter if it wants no more than that; otherwise all that it wants, or a
 * twentieth of what is left if that is more. The answers are in the order of the requests, none of which names the same
 * bucket as another. Nobody gets more than there is, although those whose messages wait want more than they have asked for.
 *
 * Buckets fill by the clock of the database when the row is locked. The time at which a process asked would count a second
 * twice: a statement that waited is older than the row, and would set it back. A row from the future begins anew.
 */
export async function exchangeTokens(
  db: Queryable,
  requests: readonly TokenRequest[],
  intervalMs: number,
): Promise<readonly TokenGrant[]> {
  const { rows } = await db.query<TokenGrant & { index: number }>({
    text: `
      with locked as (
        select i.*, u.tokens, u.asked as before, u.as_of
        from json_to_recordset($1) as i (scope text, id integer, "perSecond" double precision,
          burst double precision, wanted double precision, asked double precision, returned double precision,
          index integer)
        join rate_usage u on u.scope = i.scope and u.id = i.id
        order by u.scope, u.id for update of u
      ), timed as materialized (
        select *, clock_timestamp() as now from locked
      ), aged as (
        select *, greatest(extract(epoch from now - as_of)::double precision, 0) as seconds from timed
      ), filled as (
        select index, scope, id, wanted, as_of, now,
               least(greatest(burst, "perSecond"), tokens + seconds * "perSecond" + returned) as tokens,
               floor(before * greatest(1 - seconds, 0) * 1000) / 1000 + asked as asked
        from aged
      ), granted as (
        select *, case
                 when wanted = 0 or tokens <= 0 then 0
                 when tokens >= asked * $2 then least(tokens, greatest(wanted, tokens / 20))
                 else least(wanted, tokens, tokens * greatest(wanted / (asked * $2), 0.25)) end as granted
        from filled
      )
      update rate_usage u set tokens = g.tokens - g.granted, asked = g.asked,
        as_of = case when g.as_of > g.now + $3::interval then g.now else greatest(g.as_of, g.now) end
      from granted g
      where u.scope = g.scope and u.id = g.id
      returning g.index, g.granted, u.tokens as left`,
    values: [
      JSON.stringify(requests.map((request, index) => ({ ...request, index }))),
      intervalMs / 1_000,
      CLOCKS_APART,
    ],
    query_timeout: TIMEOUT_MS,
  })
  const grants = new Map(rows.map(({ index, ...grant }) => [index, grant]))
  const absent = requests.filter((_, index) => !grants.has(index))
  if (absent.length === 0) return requests.map((_, index) => grants.get(index)!)
  await beginBuckets(db, absent)
  // The others have theirs, and asked again would take them twice.
  const late = (await exchangeTokens(db, absent, intervalMs)).values()
  return requests.map((_, index) => grants.get(index) ?? late.next().value!)
}

async function beginBuckets(db: Queryable, requests: readonly TokenRequest[]): Promise<void> {
  await db.query(
    `insert into rate_usage (scope, id, tokens, as_of)
     select scope, id, initial, clock_timestamp()
     from json_to_recordset($1) as i (scope text, id integer, initial double precision)
     order by 1, 2 on conflict do nothing`,
    [JSON.stringify(requests)],
  )
}

/** Deletes up to `limit` buckets that nobody has asked for in a day. Returns how many there were. */
export async function deleteIdleBuckets(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from rate_usage where (scope, id) in (
       select scope, id from rate_usage where as_of < now() - interval '1 day' limit $1 for update skip locked)`,
    [limit],
  )
  return rowCount ?? 0
}

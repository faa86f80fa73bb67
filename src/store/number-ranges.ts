import type { Queryable } from './database.ts'

/** The network that numbers with this beginning are in. */
export interface NumberRange {
  /** `+` and digits. */
  readonly prefix: string
  readonly mccmnc: string
}

export interface NumberRangeRecord extends NumberRange {
  readonly createdAt: Date
}

const SELECT = 'select prefix, mccmnc, created_at as "createdAt" from number_ranges'

/**
 * Writes ranges, each prefix once, over those that are there; in one order, so that two imports wait for each other. Gives
 * how many were not there before.
 */
export async function putNumberRanges(db: Queryable, ranges: readonly NumberRange[]): Promise<number> {
  const { rows } = await db.query<{ created: number }>(
    `with put as (
       insert into number_ranges (prefix, mccmnc)
       select prefix, mccmnc from json_to_recordset($1) as r (prefix text, mccmnc text) order by prefix
       on conflict (prefix) do update set mccmnc = excluded.mccmnc
       returning xmax = 0 as created
     )
     select count(*) filter (where created)::int as created from put`,
    [JSON.stringify(ranges)],
  )
  return rows[0]!.created
}

export async function countNumberRanges(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*)::int as count from number_ranges')
  return rows[0]!.count
}

export async function findNumberRange(db: Queryable, prefix: string): Promise<NumberRangeRecord | undefined> {
  const { rows } = await db.query<NumberRangeRecord>(`${SELECT} where prefix = $1`, [prefix])
  return rows[0]
}

/** By prefix, from the one behind `after`; of one network when `mccmnc` is given. */
export async function listNumberRanges(
  db: Queryable,
  page: { after: string; limit: number; mccmnc: string | null },
): Promise<NumberRangeRecord[]> {
  const { rows } = await db.query<NumberRangeRecord>(
    `${SELECT} where prefix > $1 and ($3::text is null or mccmnc = $3) order by prefix limit $2`,
    [page.after, page.limit, page.mccmnc],
  )
  return rows
}

/** False when there is none. */
export async function deleteNumberRange(db: Queryable, prefix: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from number_ranges where prefix = $1', [prefix])
  return rowCount === 1
}

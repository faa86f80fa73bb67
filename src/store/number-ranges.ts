import { ConfigurationTable } from './configuration-table.ts'
import type { Queryable } from './database.ts'

/** The network of the numbers with this prefix. */
export interface NumberRange {
  /** `+` and digits. */
  readonly prefix: string
  readonly mccmnc: string
}

export interface NumberRangeRecord extends NumberRange {
  readonly createdAt: Date
}

export const numberRanges = new ConfigurationTable<NumberRangeRecord, NumberRange>({
  noun: 'number range',
  table: 'number_ranges',
  reads: {},
  key: 'prefix',
  columns: { prefix: 'prefix', mccmnc: 'mccmnc' },
  filters: { mccmnc: 't.mccmnc = ?' },
})

/** Waits for a transaction that is adding the same prefix. False when there is a range with this prefix. */
export async function addNumberRange(db: Queryable, { prefix, mccmnc }: NumberRange): Promise<boolean> {
  const { rowCount } = await db.query(
    'insert into number_ranges (prefix, mccmnc) values ($1, $2) on conflict (prefix) do nothing',
    [prefix, mccmnc],
  )
  return rowCount === 1
}

/**
 * Writes ranges, replacing existing ones; no prefix may be repeated. Rows are written in a fixed order, so that two
 * imports wait for each other. Returns how many ranges are new.
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

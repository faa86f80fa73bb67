import type { Queryable } from './database.ts'
import type { JournalEntry } from './journal.ts'

/** News of a lane: its cut, and the next entries behind the requested position, or behind the cut. */
export interface LaneNews {
  readonly lane: number
  readonly cut: number
  readonly entries: JournalEntry[]
}

/** How much of a lane is read at once. */
export interface LaneBounds {
  readonly entries: number
  /** The entry with which this many octets are reached is the last. */
  readonly octets: number
}

/**
 * News since `positions` of every lane except `own`: entries in order and without a gap, as `readEntries` returns them.
 * An entry of 0 octets is the fence where the lane ends. A lane without a position is read from its cut. All of it is one
 * snapshot: what is up to the cut is in the records for every statement that begins later.
 */
export async function readLanes(
  db: Queryable,
  positions: readonly { readonly lane: number; readonly n: number }[],
  own: number | null,
  bounds: LaneBounds,
): Promise<LaneNews[]> {
  const { rows } = await db.query<{ lane: number; cut: number; n: number | null; data: Buffer }>({
    name: 'read_lanes',
    text: `
      select l.lane, l.cut, e.n, e.data
      from lanes l
      left join json_to_recordset($1) as i (lane integer, n bigint) on i.lane = l.lane
      left join lateral (
        select n, data, row_number() over (order by n) as place,
               sum(octet_length(data)) over (order by n) - octet_length(data) as before
        from journal where lane = l.lane and n > greatest(l.cut, i.n) order by n limit $3
      ) e on e.n = greatest(l.cut, i.n) + e.place and e.before < $4
      where l.lane is distinct from $2
      order by l.lane, e.n`,
    values: [JSON.stringify(positions), own, bounds.entries, bounds.octets],
  })
  const lanes = new Map<number, LaneNews>()
  for (const { lane, cut, n, data } of rows) {
    const news = lanes.get(lane) ?? { lane, cut, entries: [] }
    lanes.set(lane, news)
    if (n !== null) news.entries.push({ n, data })
  }
  return [...lanes.values()]
}

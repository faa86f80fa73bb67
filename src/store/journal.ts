import type { Queryable } from './database.ts'

/**
 * The journal is append-only. An entry (lane, n) is written once: by the lane's writer, or, as a fence, by who takes the
 * lane over. So the primary key alone keeps a writer out that was taken for dead, and settles a COMMIT of unknown outcome.
 * See docs/adr/0019.
 */

/** A lane as its writer holds it. */
export interface Lane {
  readonly lane: number
  readonly epoch: number
}

/** One group commit. */
export interface JournalEntry {
  readonly lane: number
  readonly n: number
  readonly data: Buffer
}

/**
 * Entries that a writer may have under way, the oldest unacknowledged one included. A takeover fences so many positions
 * behind the last entry without a gap before it: the writer can never get past them.
 */
export const MOST_APPENDS = 4

/** Opens a lane of its own for a process that starts. */
export async function openLane(db: Queryable, nodeId: number): Promise<Lane> {
  const { rows } = await db.query<Lane>({
    text: 'insert into lanes (node_id) values ($1) returning lane, epoch',
    values: [nodeId],
  })
  return rows[0]!
}

/**
 * Appends an entry. `fenced`: the lane was taken over, and this entry is not in it. Asked again after a lost answer, it is
 * written once. An entry may go out while earlier ones are unacknowledged, fewer than `MOST_APPENDS` in all, and stands
 * only when they do: what waits for it waits for them.
 */
export async function appendEntry(
  db: Queryable,
  { lane, epoch }: Lane,
  n: number,
  data: Buffer,
): Promise<'written' | 'fenced'> {
  const { rows } = await db.query<{ written: boolean }>({
    name: 'append_entry',
    text: `
      insert into journal (lane, n, data) select $1, $2, $3 from lanes where lane = $1 and epoch = $4
      on conflict do nothing returning true as written`,
    values: [lane, n, data, epoch],
  })
  return rows.length > 0 || (await isWritten(db, lane, n, data)) ? 'written' : 'fenced'
}

/** Whether the entry is there by an earlier try of its writer. */
async function isWritten(db: Queryable, lane: number, n: number, data: Buffer): Promise<boolean> {
  const { rows } = await db.query({
    name: 'find_entry',
    text: 'select from journal where lane = $1 and n = $2 and data = $3',
    values: [lane, n, data],
  })
  return rows.length > 0
}

/** How far a reader has got in a lane: up to this entry it has all. */
export interface LanePosition {
  readonly lane: number
  readonly n: number
}

/**
 * The next entries of these lanes, each lane's in order and without a gap: an entry whose predecessor is still being
 * written comes later. A lane ends before its first fence. At most `limit` of a lane.
 */
export async function readEntries(
  db: Queryable,
  positions: readonly LanePosition[],
  limit: number,
): Promise<{ readonly entries: JournalEntry[]; readonly positions: LanePosition[] }> {
  const { rows } = await db.query<JournalEntry>({
    name: 'read_entries',
    text: `
      select e.lane, e.n, e.data
      from json_to_recordset($1) as i (lane integer, n bigint)
      cross join lateral (
        select lane, n, data, row_number() over (order by n) as place from journal
        where lane = i.lane and n > i.n order by n limit $2
      ) e
      where e.n = i.n + e.place
      order by e.lane, e.n`,
    values: [JSON.stringify(positions), limit],
  })
  const last = new Map<number, number>()
  const ended = new Set<number>()
  const entries = rows.filter(({ lane, n, data }) => {
    if (data.length === 0) ended.add(lane)
    if (ended.has(lane)) return false
    last.set(lane, n)
    return true
  })
  return {
    entries,
    positions: positions.map(({ lane, n }) => ({ lane, n: last.get(lane) ?? n })),
  }
}

/** Part of a projection's transaction: everything up to `cut` is in the records. False when the lane was taken over. */
export async function cutJournal(tx: Queryable, { lane, epoch }: Lane, cut: number): Promise<boolean> {
  const { rows } = await tx.query<{ held: boolean }>({
    name: 'cut_journal',
    text: `
      with held as (
        update lanes set cut = $3 where lane = $1 and epoch = $2 returning lane
      ), gone as (
        delete from journal where lane = (select lane from held) and n <= $3
      )
      select exists (select from held) as held`,
    values: [lane, epoch, cut],
  })
  return rows[0]!.held
}

/**
 * Takes a lane over whose writer is dead, or taken for it: nothing is written to it any more when this resolves. Gives the
 * lane as it is held from now on, and its entries from the cut, in order. Waits for appends and projections under way.
 */
export async function takeOverLane(
  db: Queryable,
  lane: number,
  nodeId: number,
): Promise<{ readonly held: Lane; readonly entries: JournalEntry[] }> {
  // Committed before the fences: what is under way beside them began earlier, and is no more than they are.
  const { rows: lanes } = await db.query<Lane & { cut: number }>({
    text: 'update lanes set epoch = epoch + 1, node_id = $2 where lane = $1 returning lane, epoch, cut',
    values: [lane, nodeId],
  })
  const { epoch, cut } = lanes[0]!
  await db.query({
    text: `
      insert into journal (lane, n, data)
      select $1, last.n + behind, ''
      from (
        select coalesce(max(n) filter (where n = $2 + place), $2) as n
        from (select n, row_number() over (order by n) as place from journal where lane = $1 and n > $2) e
      ) last
      cross join generate_series(1, $3) as behind
      order by behind
      on conflict do nothing`,
    values: [lane, cut, MOST_APPENDS],
  })
  const { rows: entries } = await db.query<JournalEntry>({
    // Entries behind the first fence may be there, but do not stand: their writer was told of none before them.
    text: `
      select lane, n, data from journal
      where lane = $1 and n > $2 and n < (select min(n) from journal where lane = $1 and n > $2 and data = '')
      order by n`,
    values: [lane, cut],
  })
  return { held: { lane, epoch }, entries }
}

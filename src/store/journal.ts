import { encodeEntry } from '../domain/journal/entries.ts'
import type { Queryable } from './database.ts'

/**
 * The journal is append-only. An entry (lane, n) is written once: by the lane's writer or, as a fence, by whoever takes
 * the lane over. So the primary key alone keeps out a writer that was taken for dead, and decides what became of a COMMIT
 * of unknown outcome. See docs/adr/0019.
 */

/** A lane as its writer holds it. */
export interface Lane {
  readonly lane: number
  readonly epoch: number
}

/** One group commit. */
export interface JournalEntry {
  readonly n: number
  readonly data: Buffer
}

/**
 * Entries that a writer may have in flight, including the oldest unacknowledged one. A takeover fences this many
 * positions behind the last entry that has no gap before it, so the writer can never get past them.
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

/** Moves a lane to another node id of the same process, its writer. False when the lane was taken over. */
export async function moveLane(db: Queryable, { lane, epoch }: Lane, nodeId: number): Promise<boolean> {
  const { rows } = await db.query({
    text: 'update lanes set node_id = $3 where lane = $1 and epoch = $2 returning true',
    values: [lane, epoch, nodeId],
  })
  return rows.length > 0
}

/**
 * Appends an entry. `fenced`: the lane was taken over, and this entry is not in it. An append that is repeated after a lost
 * answer writes the entry once. Fewer than `MOST_APPENDS` may be in flight. An entry counts only when all earlier ones do,
 * so whatever waits for it also waits for them.
 */
export async function appendEntry(
  db: Queryable,
  { lane, epoch }: Lane,
  n: number,
  data: Buffer,
): Promise<'written' | 'fenced'> {
  // Counted, not returned: `pg` spends 24 instead of 31 µs on a statement without rows.
  const { rowCount } = await db.query({
    name: 'append_entry',
    text: `
      insert into journal (lane, n, data) select $1, $2, $3 from lanes where lane = $1 and epoch = $4
      on conflict do nothing`,
    values: [lane, n, data, epoch],
  })
  return rowCount === 1 || (await isWritten(db, lane, n, data)) ? 'written' : 'fenced'
}

/** An entry without facts. */
export const EMPTY_GROUP = encodeEntry([])

/**
 * Finds out what became of an entry whose COMMIT was not answered. `void`: it is not committed and never will be, because
 * a group without facts has its place. `fenced`: the lane was taken over, perhaps with the entry in it.
 */
export async function decideEntry(
  db: Queryable,
  lane: Lane,
  n: number,
  data: Buffer,
): Promise<'written' | 'void' | 'fenced'> {
  if ((await appendEntry(db, lane, n, EMPTY_GROUP)) === 'written') return 'void'
  return (await isWritten(db, lane.lane, n, data)) ? 'written' : 'fenced'
}

/**
 * Whether an earlier try of its writer wrote the entry. The lock makes the answer wait for a synchronous standby: a
 * primary that was killed while a COMMIT waited shows, when it is back, what the standby may not have.
 */
async function isWritten(db: Queryable, lane: number, n: number, data: Buffer): Promise<boolean> {
  const { rows } = await db.query({
    name: 'find_entry',
    text: 'select from journal where lane = $1 and n = $2 and data = $3 for key share',
    values: [lane, n, data],
  })
  return rows.length > 0
}

/** About 0.2 s of a busy node. Ten times as much blocks the event loop for 0.4 s where it is decoded. */
const PAGE_OCTETS = 256 * 1024

/**
 * The next entries of a lane behind `after`, in order and without a gap: an entry whose predecessor is still being
 * written is returned later. The lane ends before its first fence. At most `limit`, and none behind PAGE_OCTETS of data.
 */
export async function readEntries(
  db: Queryable,
  lane: number,
  after: number,
  limit: number,
): Promise<JournalEntry[]> {
  const { rows } = await db.query<JournalEntry>({
    name: 'read_entries',
    text: `
      select n, data from (
        select n, data, row_number() over (order by n) as place, sum(length(data)) over (order by n) - length(data) as before
        from journal where lane = $1 and n > $2::bigint order by n limit $3
      ) e
      where n = $2::bigint + place and before < $4::bigint order by n`,
    values: [lane, after, limit, PAGE_OCTETS],
  })
  const fence = rows.findIndex(({ data }) => data.length === 0)
  return fence === -1 ? rows : rows.slice(0, fence)
}

/** Numbers without an entry, from the lane's cut up to `last`. Null when the lane was taken over. */
export async function findGaps(
  db: Queryable,
  { lane, epoch }: Lane,
  last: number,
): Promise<readonly number[] | null> {
  const { rows } = await db.query<{ gaps: number[] }>({
    text: `
      select array(
        select g.n from generate_series(l.cut + 1, $3::bigint) as g (n)
        where not exists (select from journal j where j.lane = $1 and j.n = g.n) order by g.n
      ) as gaps
      from lanes l where l.lane = $1 and l.epoch = $2`,
    values: [lane, epoch, last],
  })
  return rows[0]?.gaps ?? null
}

/**
 * Writes entries into gaps. False when one of them was not written. The lock keeps a takeover waiting, because it fences fewer
 * places than may be written here.
 */
export async function fillGaps(
  db: Queryable,
  { lane, epoch }: Lane,
  entries: readonly JournalEntry[],
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `
      with held as (
        select lane from lanes where lane = $1 and epoch = $2 for share
      )
      insert into journal (lane, n, data)
      select held.lane, e.n, e.data from held cross join unnest($3::bigint[], $4::bytea[]) as e (n, data)
      on conflict do nothing`,
    values: [lane, epoch, entries.map(({ n }) => n), entries.map(({ data }) => data)],
  })
  return rowCount === entries.length
}

/**
 * Part of a projection's transaction: everything up to `cut` is in the records. A cut that is further on already stays,
 * since a lane is read without a gap from there. False when the lane was taken over.
 */
export async function cutJournal(tx: Queryable, { lane, epoch }: Lane, cut: number): Promise<boolean> {
  const { rows } = await tx.query<{ held: boolean }>({
    name: 'cut_journal',
    text: `
      with held as (
        update lanes set cut = greatest(cut, $3) where lane = $1 and epoch = $2 returning lane
      ), gone as (
        delete from journal where lane = (select lane from held) and n <= $3
      )
      select exists (select from held) as held`,
    values: [lane, epoch, cut],
  })
  return rows[0]!.held
}

/**
 * For a transaction that writes records on several servers: keeps others from taking the lane over until it is over, and hinders
 * no other such transaction. False when the lane was taken over.
 */
export async function holdLane(tx: Queryable, { lane, epoch }: Lane): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: 'select from lanes where lane = $1 and epoch = $2 for share',
    values: [lane, epoch],
  })
  return rowCount === 1
}

/**
 * As `cutJournal`, for after such a transaction. Cuts nothing while another one holds the lane: it may wait for a server that
 * hangs.
 */
export async function cutFreeJournal(db: Queryable, { lane, epoch }: Lane, cut: number): Promise<boolean> {
  const { rows } = await db.query<{ held: boolean }>({
    text: `
      with free as (
        select lane from lanes where lane = $1 and epoch = $2 for no key update skip locked
      ), held as (
        update lanes set cut = greatest(cut, $3) where lane = (select lane from free) returning lane
      ), gone as (
        delete from journal where lane = (select lane from held) and n <= $3
      )
      select exists (select from lanes where lane = $1 and epoch = $2) as held`,
    values: [lane, epoch, cut],
  })
  return rows[0]!.held
}

/** A lane as found by a node that may take it over. */
export interface DeadLane extends Lane {
  readonly nodeId: number
  /** When it was found, by the database's clock, Unix ms: nodes' own clocks may differ. */
  readonly foundAtMs: number
}

/** Lanes whose writer is not a node any more, and those that this node has taken over and not dropped yet. */
export async function findDeadLanes(db: Queryable, nodeId: number): Promise<DeadLane[]> {
  const { rows } = await db.query<DeadLane>({
    text: `
      select lane, epoch, node_id as "nodeId", (extract(epoch from now()) * 1000)::bigint as "foundAtMs" from lanes
      where node_id not in (select node_id from nodes) or node_id = $1 and epoch > 1
      order by lane`,
    values: [nodeId],
  })
  return rows
}

/**
 * Takes over a lane whose writer is dead, or is taken for dead: when this resolves, nothing more is written to it.
 * Returns the lane as it is held from now on, with its cut, behind which its entries are read; null when another node was
 * quicker, or its writer has moved it (`moveLane`). Waits for appends and projections in flight. Called again by the node
 * that has the lane, it continues where the takeover stopped.
 */
export async function takeOverLane(
  db: Queryable,
  { lane, epoch, nodeId: holder }: Omit<DeadLane, 'foundAtMs'>,
  nodeId: number,
): Promise<(Lane & { readonly cut: number }) | null> {
  // Committed before the fences: appends still in flight began earlier, and there are no more of them than fences.
  const { rows } = await db.query<Lane & { cut: number }>({
    text:
      holder === nodeId
        ? 'select lane, epoch, cut from lanes where lane = $1 and epoch = $2 and node_id = $3'
        : `update lanes set epoch = epoch + 1, node_id = $3 where lane = $1 and epoch = $2 and node_id = $4
           returning lane, epoch, cut`,
    values: holder === nodeId ? [lane, epoch, nodeId] : [lane, epoch, nodeId, holder],
  })
  const held = rows[0]
  if (held === undefined) return null
  await db.query({
    text: `
      insert into journal (lane, n, data)
      select $1, last.n + behind, ''
      from (
        select coalesce(max(n) filter (where n = $2 + place), $2) as n
        from (select n, row_number() over (order by n) as place from journal where lane = $1 and n > $2) e
      ) last
      cross join generate_series(1, $3) as behind
      where not exists (select from journal where lane = $1 and n > $2 and data = '')
      order by behind
      on conflict do nothing`,
    values: [lane, held.cut, MOST_APPENDS],
  })
  return held
}

/** As long as a session may be idle in a transaction (`idle_in_transaction_session_timeout`). */
const STANDING_COPY_MS = 6_000

/**
 * Ends the session that holds this lane, if it has been stuck in a COPY for this long. Returns its process id.
 * PostgreSQL takes such a session for active, and cancels no statement while it waits for data, so no time-out ends it, and a
 * takeover waits for it.
 */
export async function endStandingCopy(
  db: Queryable,
  lane: number,
  standingMs = STANDING_COPY_MS,
): Promise<readonly number[]> {
  const { rows } = await db.query<{ pid: number }>({
    text: `
      with holder as materialized (
        select a.pid
        from lanes l
        join pg_locks k on k.locktype = 'transactionid' and k.mode = 'ExclusiveLock' and k.transactionid = l.xmax
        join pg_stat_activity a on a.pid = k.pid
        where l.lane = $1 and a.state = 'active' and a.wait_event = 'ClientRead'
          and a.query_start <= clock_timestamp() - $2 * interval '1 ms'
      )
      select pid, pg_terminate_backend(pid) from holder`,
    values: [lane, standingMs],
  })
  return rows.map(({ pid }) => pid)
}

/** Leaves a lane that was taken over to a node that can read it. It is dead again, and stays as it is. */
export async function leaveLane(db: Queryable, { lane, epoch }: Lane): Promise<void> {
  await db.query({
    // No node has this id.
    text: 'update lanes set node_id = 0 where lane = $1 and epoch = $2',
    values: [lane, epoch],
  })
}

/**
 * Drops a lane that was taken over and written to the records, with its fences. False while a statement that began before
 * may still be running: an append with the old epoch meets the fences only while they are there.
 */
export async function deleteLane(db: Queryable, { lane, epoch }: Lane): Promise<boolean> {
  const { rows } = await db.query<{ dropped: boolean }>({
    text: `
      with dropped as (
        delete from lanes l where lane = $1 and epoch = $2 and not exists (
          select from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and age(backend_xmin) >= age(l.xmin)
            and backend_type is distinct from 'autovacuum worker')
        returning lane
      ), gone as (
        delete from journal where lane = (select lane from dropped)
      )
      select exists (select from dropped) as dropped`,
    values: [lane, epoch],
  })
  return rows[0]!.dropped
}

/** Ends a lane whose writer stops in order. False when part of it is not projected, or it was taken over. */
export async function closeLane(db: Queryable, { lane, epoch }: Lane): Promise<boolean> {
  const { rows } = await db.query<{ closed: boolean }>({
    text: `
      with closed as (
        delete from lanes l where lane = $1 and epoch = $2
          and not exists (select from journal j where j.lane = l.lane and j.n > l.cut)
        returning lane
      ), gone as (
        delete from journal where lane = (select lane from closed)
      )
      select exists (select from closed) as closed`,
    values: [lane, epoch],
  })
  return rows[0]!.closed
}

import { expect, test } from 'vitest'
import type { Database } from '../../src/store/database.ts'
import {
  appendEntry,
  cutJournal,
  type Lane,
  MOST_APPENDS,
  openLane,
  readEntries,
  takeOverLane,
} from '../../src/store/journal.ts'
import { eventually } from '../support/eventually.ts'
import { installedDatabase } from '../support/installation.ts'

const { db } = await installedDatabase()
const [NODE, SUCCESSOR] = [1, 2]
const ALL = 1_000

const data = (n: number) => Buffer.from(`facts of ${n}`)
const append = (lane: Lane, n: number) => appendEntry(db, lane, n, data(n))
const numbersOf = (entries: readonly { n: number }[]) => entries.map(({ n }) => n)

/** The lane as its successor holds it, and the entries that it has of it. */
async function takeOver({ lane, epoch }: Lane) {
  const held = (await takeOverLane(db, { lane, epoch, nodeId: NODE }, SUCCESSOR))!
  const entries = await readEntries(db, lane, held.cut, ALL)
  return { held, entries }
}

/** The numbers of the entries that another node reads of a lane behind the `after`th. */
async function read({ lane }: Lane, after = 0) {
  return numbersOf(await readEntries(db, lane, after, ALL))
}

/** An append whose COMMIT is still to come. */
async function appendSlowly(lane: Lane, n: number) {
  const client = await db.connect()
  await client.query('begin')
  expect(await appendEntry(client, lane, n, data(n))).toBe('written')
  return async (end: 'commit' | 'rollback') => {
    await client.query(end)
    client.release()
  }
}

test('entries are read in order, each once, by lane', async () => {
  const [lane, other] = [await openLane(db, NODE), await openLane(db, SUCCESSOR)]
  for (const n of [1, 2, 3]) expect(await append(lane, n)).toBe('written')
  await append(other, 1)
  expect(await readEntries(db, lane.lane, 1, ALL)).toEqual([
    { n: 2, data: data(2) },
    { n: 3, data: data(3) },
  ])
  expect(await readEntries(db, other.lane, 0, ALL)).toEqual([{ n: 1, data: data(1) }])
})

test('no more than the limit of a lane is read at once', async () => {
  const lane = await openLane(db, NODE)
  for (const n of [1, 2, 3]) await append(lane, n)
  expect(numbersOf(await readEntries(db, lane.lane, 0, 2))).toEqual([1, 2])
})

test('large entries are read a few at a time, and one that is larger than a page alone', async () => {
  const lane = await openLane(db, NODE)
  for (const [index, kib] of [100, 100, 100, 1_000, 1].entries())
    await appendEntry(db, lane, index + 1, Buffer.alloc(kib * 1024, 1))
  const pages = [await read(lane, 0), await read(lane, 3), await read(lane, 4)]
  expect(pages).toEqual([[1, 2, 3], [4], [5]])
})

test('an entry is read when all before it are there', async () => {
  const lane = await openLane(db, NODE)
  await append(lane, 1)
  const end = await appendSlowly(lane, 2)
  await append(lane, 3)
  expect(await read(lane)).toEqual([1])
  await end('commit')
  expect(await read(lane, 1)).toEqual([2, 3])
})

test('an entry whose answer was lost is written once, however often it is asked for', async () => {
  const lane = await openLane(db, NODE)
  for (let time = 0; time < 3; time += 1) expect(await append(lane, 1)).toBe('written')
  expect(await read(lane)).toEqual([1])
})

test('what is cut is gone, and what comes behind it is read on', async () => {
  const lane = await openLane(db, NODE)
  for (const n of [1, 2, 3]) await append(lane, n)
  expect(await cutJournal(db, lane, 2)).toBe(true)
  expect(await read(lane, 2)).toEqual([3])
})

test('a cut never goes back: what is behind it would not be found any more', async () => {
  const lane = await openLane(db, NODE)
  for (const n of [1, 2, 3]) await append(lane, n)
  for (const cut of [2, 1]) expect(await cutJournal(db, lane, cut)).toBe(true)
  const { held, entries } = await takeOver(lane)
  expect([held.cut, numbersOf(entries)]).toEqual([2, [3]])
})

test('a lane that was taken over takes nothing more, and cannot be cut by its writer', async () => {
  const lane = await openLane(db, NODE)
  for (const n of [1, 2, 3]) await append(lane, n)
  await cutJournal(db, lane, 1)
  const { held, entries } = await takeOver(lane)
  expect(numbersOf(entries)).toEqual([2, 3])
  expect(held).toEqual({ lane: lane.lane, epoch: lane.epoch + 1, cut: 1 })
  for (let n = 4; n < 4 + MOST_APPENDS; n += 1) expect(await append(lane, n)).toBe('fenced')
  expect(await cutJournal(db, lane, 3)).toBe(false)
  expect(await append(lane, 3)).toBe('written')
  expect(await cutJournal(db, held, 3)).toBe(true)
})

test('an entry behind a fence does not stand: neither its successor nor a reader has it', async () => {
  const lane = await openLane(db, NODE)
  await append(lane, 1)
  // The second is delayed on its way, and comes after the takeover.
  expect(await append(lane, 3)).toBe('written')
  const { entries } = await takeOver(lane)
  expect(await append(lane, 2)).toBe('fenced')
  expect(numbersOf(entries)).toEqual([1])
  expect(await read(lane)).toEqual([1])
})

test('a lane to which nothing was written yet is taken over too', async () => {
  const lane = await openLane(db, NODE)
  expect((await takeOver(lane)).entries).toEqual([])
  expect(await append(lane, 1)).toBe('fenced')
})

test.each(['commit', 'rollback'] as const)(
  'an append under way is waited for by a takeover, and its %s decides',
  async (end) => {
    const lane = await openLane(db, NODE)
    await append(lane, 1)
    const finish = await appendSlowly(lane, 2)
    const takeover = takeOver(lane)
    await eventually(() => isWaiting(db))
    await finish(end)
    const { entries } = await takeover
    expect(numbersOf(entries)).toEqual(end === 'commit' ? [1, 2] : [1])
    expect(await append(lane, 2)).toBe(end === 'commit' ? 'written' : 'fenced')
    expect(await append(lane, 3)).toBe('fenced')
  },
)

/** Whether a statement waits for a transaction. */
async function isWaiting(pool: Database): Promise<boolean> {
  const { rows } = await pool.query<{ waiting: boolean }>(
    "select exists (select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid') as waiting",
  )
  return rows[0]!.waiting
}

test('whenever a lane is taken over, its successor has all that its writer was told is written', async () => {
  for (let round = 0; round < 20; round += 1) {
    const lane = await openLane(db, NODE)
    const acknowledged: number[] = []
    const successor = Promise.withResolvers<Awaited<ReturnType<typeof takeOver>>>()
    const fencedAt = await writeUntilFenced(lane, (n) => {
      acknowledged.push(n)
      // As if the writer were taken for dead, while more is under way.
      if (n === 3 + (round % 5)) takeOver(lane).then(successor.resolve, successor.reject)
    })
    const numbers = numbersOf((await successor.promise).entries)
    expect(numbers.slice(0, acknowledged.length)).toEqual(acknowledged)
    expect(numbers).not.toContain(fencedAt)
  }
})

/** A writer with as many appends under way as it may have. Gives the first entry that was fenced. */
async function writeUntilFenced(lane: Lane, onAcknowledged: (n: number) => void): Promise<number> {
  const inFlight: { n: number; outcome: ReturnType<typeof append> }[] = []
  for (let n = 1; ; n += 1) {
    inFlight.push({ n, outcome: append(lane, n) })
    if (inFlight.length < MOST_APPENDS) continue
    const oldest = inFlight.shift()!
    if ((await oldest.outcome) === 'fenced') {
      await Promise.all(inFlight.map(({ outcome }) => outcome))
      return oldest.n
    }
    onAcknowledged(oldest.n)
  }
}

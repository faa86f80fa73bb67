import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { highestIdAt, lowestIdAt, messageId } from '../../src/domain/identifiers.ts'
import type { MessageFilters } from '../../src/domain/lists.ts'
import { MESSAGE_STATUSES, type Status } from '../../src/domain/messages/messages.ts'
import { dropOldPartitions, ensurePartitions, findKept } from '../../src/services/upkeep/day-partitions.ts'
import { openLane } from '../../src/store/journal.ts'
import { dayOf, withKindsNoted } from '../../src/store/message-kinds.ts'
import { listMessages } from '../../src/store/message-list.ts'
import { projectMessages } from '../../src/store/projection.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { NO_FILTERS } from '../support/list-walks.ts'
import { noteKindsOf } from '../support/message-kinds.ts'
import { inMemory, projected, settledFact } from '../support/messages-in-memory.ts'
import { rowsRead } from '../support/rows-read.ts'

/** The lists find by `message_kinds` what they would find by looking at every message. */

const DAY_MS = 86_400_000
const NOW_MS = Date.now()
const TODAY_MS = NOW_MS - (NOW_MS % DAY_MS)
const { db, announcedPlan: plan, silentPlan: otherPlan } = await installedDatabase({ state: 'started' })

interface Row {
  plan_id: number
  msg_id: string
  sender: string
  recipient: string
  status: Status
  country: string | null
  mccmnc: string | null
}

const oneOf = <T>(values: readonly T[]) => fc.constantFrom(...values)
/** More kinds than a first step takes, on each of three days. */
const row = fc.record({
  atMs: fc.integer({ min: TODAY_MS - DAY_MS, max: TODAY_MS + 2 * DAY_MS - 1 }),
  plan_id: oneOf([plan, plan, otherPlan]),
  sender: oneOf(['Often', 'Often', 'Often', 'S1', 'S2', 'S3', 'S/4', 'Ünal']),
  recipient: oneOf(['+15551230000', '+15551230001']),
  status: oneOf(MESSAGE_STATUSES),
  country: oneOf([null, 'US', 'US', 'DE', 'FR']),
  mccmnc: oneOf([null, '310260', '26201', '20801']),
})
const ROWS: Row[] = fc.sample(row, { numRuns: 900, seed: 28 }).map(({ atMs, ...rest }, n) => ({
  ...rest,
  msg_id: messageId(atMs, randomBytes(9), n % 256),
}))
/** No message of the first day is of a German network. */
for (const one of ROWS) if (one.msg_id < lowestIdAt(TODAY_MS) && one.mccmnc === '26201') one.mccmnc = null

await insert(ROWS)
await change(ROWS.filter((_, n) => n % 3 === 0))

async function insert(rows: readonly Row[]): Promise<void> {
  await db.query(
    `insert into messages (plan_id, msg_id, sender, recipient, status, country, mccmnc, body, segments, updated_at)
     select i.*, 'text', 1, now() from json_to_recordset($1) as i (
       plan_id integer, msg_id uuid, sender text, recipient text, status message_status, country text, mccmnc text)`,
    [JSON.stringify(rows)],
  )
  await noteKindsOf(db, rows)
}

/** Some are of another status and network now, as their receipts said. */
async function change(rows: readonly Row[]): Promise<void> {
  for (const [n, one] of rows.entries()) {
    one.status = MESSAGE_STATUSES[n % MESSAGE_STATUSES.length]!
    one.mccmnc = one.msg_id < lowestIdAt(TODAY_MS) ? '20801' : '310260'
  }
  await db.query(
    `update messages m set status = i.status, mccmnc = i.mccmnc
     from json_to_recordset($1) as i (plan_id integer, msg_id uuid, status message_status, mccmnc text)
     where m.plan_id = i.plan_id and m.msg_id = i.msg_id`,
    [JSON.stringify(rows)],
  )
  await noteKindsOf(db, rows)
}

function looked(planId: number, filters: MessageFilters, after: string | null, limit: number): string[] {
  const isWanted = (one: Row) =>
    one.plan_id === planId &&
    (after === null || one.msg_id < after) &&
    (filters.from === null || one.sender === filters.from) &&
    (filters.to === null || one.recipient === filters.to) &&
    (filters.status === null || one.status === filters.status) &&
    (filters.country === null || one.country === filters.country) &&
    (filters.mccmnc === null || one.mccmnc === filters.mccmnc) &&
    (filters.fromDate === null || one.msg_id >= lowestIdAt(filters.fromDate)) &&
    (filters.toDate === null || one.msg_id <= highestIdAt(filters.toDate))
  return ROWS.filter(isWanted)
    .map(({ msg_id }) => msg_id)
    .sort()
    .reverse()
    .slice(0, limit)
}

const orNone = <T>(values: readonly T[]) => fc.oneof(fc.constant(null), oneOf(values))
const aDate = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.integer({ min: TODAY_MS - DAY_MS, max: TODAY_MS + 2 * DAY_MS }) },
)
const filters: fc.Arbitrary<MessageFilters> = fc.record({
  from: orNone(['Often', 'S1', 'S/4', 'Ünal', 'Never']),
  to: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: oneOf(['+15551230000']) },
  ),
  status: orNone(MESSAGE_STATUSES),
  country: orNone(['US', 'FR', 'LI']),
  mccmnc: orNone(['310260', '26201', '29501']),
  fromDate: aDate,
  toDate: aDate,
})

test('every filter and combination, from anywhere, gives what looking at each message gives', async () => {
  const after = fc.oneof(fc.constant(null), oneOf(ROWS.map(({ msg_id }) => msg_id)))
  const limit = oneOf([1, 3, 21, 101, 500])
  let [shown, none] = [0, 0]
  await fc.assert(
    fc.asyncProperty(
      oneOf([plan, otherPlan]),
      filters,
      after,
      limit,
      async (planId, filters, after, limit) => {
        const rows = await listMessages(db, { planId, filters, after, limit })
        const ids = rows.map(({ msgId }) => msgId)
        expect(ids).toEqual(looked(planId, filters, after, limit))
        shown += ids.length
        if (ids.length === 0) none += 1
      },
    ),
    { numRuns: 400, seed: 1 },
  )
  expect(shown).toBeGreaterThan(400)
  expect(none).toBeGreaterThan(20)
})

test('what few messages or none have is found without looking at the others', async () => {
  const seldom = { ...ROWS[0]!, plan_id: plan, sender: 'Seldom', country: 'IS', mccmnc: '27401' }
  const rows: Row[] = Array.from({ length: 6_000 }, (_, n) => ({
    ...seldom,
    msg_id: messageId(TODAY_MS + 3 * DAY_MS + n, randomBytes(9), 0),
    sender: `Many${n % 50}`,
    status: 'DELIVERED',
    country: 'NO',
    mccmnc: n % 50 < 25 ? '24201' : '24202',
  }))
  const few: Row[] = [10, 2_900, 5_999].map((n) => ({ ...seldom, msg_id: newIdBeside(rows[n]!.msg_id) }))
  // Of a day's kinds many match, with eight messages of each: none of them is among the newest.
  const failed: Row[] = rows
    .slice(0, 400)
    .map((one) => ({ ...one, msg_id: newIdBeside(one.msg_id), status: 'FAILED' }))
  await insert([...rows, ...few, ...failed])
  await db.query('analyze')
  const read = async (
    changes: Partial<MessageFilters>,
    ids: readonly string[],
    limit = 21,
    after: string | null = null,
  ) => {
    const page = { planId: plan, filters: { ...NO_FILTERS, ...changes }, after, limit }
    const newest = ids.toSorted().reverse().slice(0, limit)
    expect((await listMessages(db, page)).map(({ msgId }) => msgId)).toEqual(newest)
    return await rowsRead(db, 'messages_', (explained) => listMessages(explained, page))
  }
  const ofFew = few.map(({ msg_id }) => msg_id)
  expect(await read({ from: 'Seldom' }, ofFew)).toBeLessThan(10)
  expect(await read({ country: 'IS' }, ofFew)).toBeLessThan(10)
  expect(await read({ country: 'IS', mccmnc: '27401' }, ofFew)).toBeLessThan(10)
  for (const nothing of [
    { from: 'Never' },
    { country: 'IS', mccmnc: '24201' },
    { from: 'Many1', mccmnc: '24202' },
  ])
    expect(await read(nothing, [])).toBe(0)
  const ofFailed = failed.map(({ msg_id }) => msg_id)
  const ofFirstNetwork = [...rows, ...failed]
    .filter(({ mccmnc }) => mccmnc === '24201')
    .map(({ msg_id }) => msg_id)
  // 250 of the newest, one of each of 50 kinds, and the page.
  expect(await read({ country: 'NO', status: 'FAILED' }, ofFailed, 4)).toBeLessThan(310)
  const { recipient: to } = seldom
  expect(await read({ to, from: 'Never' }, [])).toBe(0)
  const delivered = rows.map(({ msg_id }) => msg_id)
  // A recipient has all of them: 100 of those, and then what few have, or 500 of what many have and a page in order.
  expect(await read({ to, from: 'Seldom' }, ofFew)).toBeLessThan(110)
  expect(await read({ to, country: 'NO', status: 'FAILED' }, ofFailed)).toBeLessThan(510)
  expect(await read({ to, country: 'NO', mccmnc: '24201' }, ofFirstNetwork)).toBeLessThan(700)
  expect(await read({ country: 'NO', status: 'DELIVERED' }, delivered)).toBeLessThan(100)
  // A page over the end of a day, both of many kinds.
  const later = rows
    .slice(0, 50)
    .map((one, n) => ({ ...one, msg_id: messageId(TODAY_MS + 4 * DAY_MS + n, randomBytes(9), 0) }))
  await insert(later)
  const both = [...delivered, ...later.slice(0, 9).map(({ msg_id }) => msg_id)]
  expect(await read({ country: 'NO', status: 'DELIVERED' }, both, 21, later[9]!.msg_id)).toBeLessThan(300)
})

test('no more days are read than a page needs', async () => {
  const daily: Row[] = [3, 4, 5, 6].flatMap((day) =>
    Array.from({ length: 60 }, (_, n) => ({
      ...ROWS[0]!,
      plan_id: plan,
      sender: 'Daily',
      status: n % 2 === 0 ? 'DELIVERED' : 'FAILED',
      msg_id: messageId(TODAY_MS + day * DAY_MS + n, randomBytes(9), 0),
    })),
  )
  await insert(daily)
  const page = { planId: plan, filters: { ...NO_FILTERS, from: 'Daily' }, after: null, limit: 20 }
  const newest = daily
    .map(({ msg_id }) => msg_id)
    .toSorted()
    .reverse()
  expect((await listMessages(db, page)).map(({ msgId }) => msgId)).toEqual(newest.slice(0, 20))
  // A page of each kind, of the newest day and of the day before it.
  expect(await rowsRead(db, 'messages_', (explained) => listMessages(explained, page))).toBeLessThanOrEqual(
    80,
  )
  const later = { ...page, after: newest[49]! }
  expect((await listMessages(db, later)).map(({ msgId }) => msgId)).toEqual(newest.slice(50, 70))
})

function newIdBeside(msgId: string): string {
  return msgId.slice(0, 24) + randomBytes(6).toString('hex')
}

test('a projection notes each kind once, and the kinds of what it changes', async () => {
  const lane = await openLane(db, 1)
  const kinds = async () =>
    (
      await db.query<{ kind: string }>(
        `select concat_ws(' ', sender, country, mccmnc, status) as kind from message_kinds
         where plan_id = $1 and sender = 'Projected' order by status`,
        [plan],
      )
    ).rows.map(({ kind }) => kind)
  const written = async (status: 'SENT' | 'FAILED') =>
    await projectMessages(
      db,
      lane,
      [1, 2].map(() =>
        projected(
          inMemory(
            plan,
            (_, atMs) => [settledFact(atMs, { status, mccmnc: '310260' })],
            { sender: 'Projected' },
            newId(NOW_MS),
          ),
        ),
      ),
      0,
    )
  await written('SENT')
  await written('SENT')
  expect(await kinds()).toEqual(['Projected US 310260 SENT'])
  await written('FAILED')
  expect(await kinds()).toEqual(['Projected US 310260 SENT', 'Projected US 310260 FAILED'])
  // As if another server had taken over that lacks what was noted last.
  await db.query(`delete from message_kinds where sender = 'Projected'`)
  await expect(withKindsNoted(db, [], (tx) => tx.query('select 1 / 0'))).rejects.toThrow('division by zero')
  await written('FAILED')
  expect(await kinds()).toEqual(['Projected US 310260 FAILED'])
})

test('that messages were on their way is deleted some days after they have come to their end', async () => {
  const statuses = async () =>
    (
      await db.query<{ status: string }>(
        `select status from message_kinds where plan_id = $1 and sender = 'Passed' order by status`,
        [plan],
      )
    ).rows.map(({ status }) => status)
  await ensurePartitions(db, NOW_MS - 8 * DAY_MS)
  const of8Days = { ...ROWS[0]!, plan_id: plan, sender: 'Passed' }
  const messages: Row[] = (['QUEUED', 'SENT', 'SENT', 'UNKNOWN'] as const).map((status, n) => ({
    ...of8Days,
    msg_id: newId(NOW_MS - 8 * DAY_MS, n),
    mccmnc: n < 2 ? '26201' : null,
    status,
  }))
  await insert(messages)
  await db.query(`update messages set status = 'DELIVERED' where sender = 'Passed' and mccmnc is not null`)
  await noteKindsOf(db, [{ ...messages[0]!, status: 'DELIVERED' }])
  expect(await statuses()).toEqual(['QUEUED', 'SENT', 'SENT', 'DELIVERED', 'UNKNOWN'])
  await dropOldPartitions(db, NOW_MS, await findKept(db, NOW_MS, 35))
  expect(await statuses()).toEqual(['SENT', 'DELIVERED', 'UNKNOWN'])
})

test('what was noted goes with the days that it is of', async () => {
  const days = async () =>
    (await db.query<{ day: number }>('select distinct day from message_kinds order by 1')).rows.map(
      ({ day }) => day,
    )
  const today = dayOf(lowestIdAt(NOW_MS))
  const old = { planId: plan, sender: 'Old', country: null, mccmnc: null, status: 'SENT' } as const
  const messages = [40, 36, 35].map((age) => ({ ...old, msgId: lowestIdAt(NOW_MS - age * DAY_MS) }))
  await withKindsNoted(db, messages, async () => undefined)
  expect((await days()).slice(0, 3)).toEqual([today - 40, today - 36, today - 35])
  await dropOldPartitions(db, NOW_MS, await findKept(db, NOW_MS, 35))
  expect((await days())[0]).toBe(today - 35)
})

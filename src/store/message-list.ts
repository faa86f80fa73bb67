import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { Page } from '../domain/cursors.ts'
import type { MessageFilters } from '../domain/message-filters.ts'
import { highestIdAt, lowestIdAt } from '../domain/message-ids.ts'
import type { Message } from '../domain/messages.ts'
import type { Queryable } from './database.ts'
import { dayOf, firstIdOfDay } from './message-kinds.ts'
import { type InLane, MESSAGE_COLUMNS } from './messages.ts'

type MessagePage = Page<MessageFilters, string>
type Recorded = Message & InLane

const COLUMNS = raw(`${MESSAGE_COLUMNS}, m.lane`)

/**
 * Messages of one plan, newest first: msg_id begins with createdAt, so its order is that of the list and a
 * window of dates is a range of ids, which also leaves out the partitions of other days.
 *
 * A recipient's messages are together in an index. For the other filters `message_kinds` says on which days which kinds of
 * messages match, and an index has each kind's messages in order, so that rare ones are found without looking at those
 * between them, and what never was costs one look (docs/adr/0021).
 */
export async function listMessages(
  db: Queryable,
  page: MessagePage,
  nowMs: number = Date.now(),
): Promise<Recorded[]> {
  const { from, to, status, country, mccmnc } = page.filters
  const ofKinds = [from, status, country, mccmnc].some((filter) => filter !== null)
  if (ofKinds && to === null) return listByKinds(db, page)
  const days = ofKinds ? await findDaysOfKinds(db, page, lastDayOf(page), FIRST_KINDS) : null
  if (days?.length === 0) return []
  const isWhole = days !== null && days.length < FIRST_KINDS
  const oldest = isWhole ? days.at(-1)! : firstDayOf(page)
  const newest = days?.[0] ?? Math.min(lastDayOf(page), dayOf(lowestIdAt(nowMs)))
  const first = Math.max(oldest, newest - FIRST_DAYS + 1)
  // Without days there is no upper end: a node whose clock is ahead makes messages of a later day.
  const below = days === null ? empty : sql`and m.msg_id < ${firstIdOfDay(newest + 1)}`
  const rows = await listInOrder(db, page, sql`m.msg_id >= ${firstIdOfDay(first)} ${below}`)
  if (rows.length === page.limit || first === oldest) return rows
  const rest = { ...page, limit: page.limit - rows.length }
  return [...rows, ...(await listInOrder(db, rest, onDays(oldest, first - 1)))]
}

/** So many days are looked at before all others: each costs the planner some 50 µs, and ten times that once a connection. */
const FIRST_DAYS = 8

async function listInOrder(db: Queryable, page: MessagePage, range: Sql): Promise<Recorded[]> {
  const { text, values } = sql`
    select ${COLUMNS} from messages m
    where m.plan_id = ${page.planId} and ${range} ${within(page)} ${matching(page.filters)}
    order by m.msg_id desc
    limit ${page.limit}`
  return (await db.query<Recorded>({ text, values })).rows
}

/** Kinds that the first step looks for, and how many times as many each later one does. */
const FIRST_KINDS = 32
const KINDS_GROWTH = 8

async function listByKinds(db: Queryable, page: MessagePage): Promise<Recorded[]> {
  const rows: Recorded[] = []
  let lastDay = lastDayOf(page)
  for (let step = 0, kinds = FIRST_KINDS; ; step += 1) {
    const found = await findDaysOfKinds(db, page, lastDay, kinds)
    // The day at which it was cut off is not whole, but for one that has them all.
    const [newest, oldest] = [found[0], found.at(-1)]
    if (newest === undefined || oldest === undefined) return rows
    const isCut = found.length === kinds && newest !== oldest
    const days = [...new Set(isCut ? found.filter((day) => day > oldest) : found)]
    const rest = { ...page, limit: page.limit - rows.length }
    // Where so many kinds match, most often many messages do, and some of them are among the newest.
    const isBroad = found.length === kinds && newest === oldest
    rows.push(...(await (isBroad ? listOfDay(db, rest, newest) : listOfKinds(db, rest, days))))
    if (rows.length === page.limit || found.length < kinds) return rows
    // What is left of a broad day may be little, and the day before is most often as broad.
    if (step > 0 || !isBroad) kinds *= KINDS_GROWTH
    lastDay = days.at(-1)! - 1
  }
}

/** The newest days for which kinds were noted that match, one for each of so many kinds at most. */
async function findDaysOfKinds(
  db: Queryable,
  page: MessagePage,
  lastDay: number,
  kinds: number,
): Promise<number[]> {
  const { planId, filters } = page
  const { text, values } = sql`
    select k.day from message_kinds k
    where k.plan_id = ${planId} and k.day between ${firstDayOf(page)} and ${lastDay} ${matching(filters, 'k')}
    order by k.day desc
    limit ${kinds}`
  return (await db.query<{ day: number }>({ text, values })).rows.map(({ day }) => day)
}

/**
 * The newest messages of these days, kind by kind. The kinds are read again in the statement: a message that changes
 * meanwhile is of the one or the other, and both are known.
 */
async function listOfKinds(db: Queryable, page: MessagePage, days: readonly number[]): Promise<Recorded[]> {
  const { planId, filters, limit } = page
  const { text, values } = sql`
    select ${COLUMNS}
    from (
      select distinct first_msg_id(k.day) as lowest, first_msg_id(k.day + 1) as below,
             message_kind(k.sender, nullif(k.country, ''), nullif(k.mccmnc, ''), k.status) as kind
      from message_kinds k
      where k.plan_id = ${planId} and k.day = any (${days}::integer[]) ${matching(filters, 'k')}
      offset 0
    ) k
    cross join lateral (
      select * from messages m
      where m.plan_id = ${planId} and message_kind(m.sender, m.country, m.mccmnc, m.status) = k.kind
        and m.msg_id >= k.lowest and m.msg_id < k.below
        and ${onDays(days.at(-1)!, days[0]!)} ${within(page)} ${matching(filters)}
      order by m.msg_id desc
      limit ${limit}
    ) m
    order by m.msg_id desc
    limit ${limit}`
  return (await db.query<Recorded>({ text, values })).rows
}

/** The newest messages of a day of which many kinds match. */
async function listOfDay(db: Queryable, page: MessagePage, day: number): Promise<Recorded[]> {
  const among = await listAmongNewest(db, page, day)
  return among.length === page.limit ? among : await listOfNewestKinds(db, page, day)
}

/** Of each kind the newest message says which kinds the newest of all are of: no more of them than messages are wanted. */
async function listOfNewestKinds(db: Queryable, page: MessagePage, day: number): Promise<Recorded[]> {
  const { planId, filters, limit } = page
  const ofKind = sql`
    m.plan_id = ${planId} and message_kind(m.sender, m.country, m.mccmnc, m.status) = k.kind
    and ${onDays(day, day)} ${within(page)} ${matching(filters)}`
  const { text, values } = sql`
    select ${COLUMNS}
    from (
      select k.kind
      from (
        select distinct message_kind(k.sender, nullif(k.country, ''), nullif(k.mccmnc, ''), k.status) as kind
        from message_kinds k
        where k.plan_id = ${planId} and k.day = ${day} ${matching(filters, 'k')}
        offset 0
      ) k
      cross join lateral (
        select m.msg_id from messages m where ${ofKind} order by m.msg_id desc limit 1
      ) newest
      order by newest.msg_id desc
      limit ${limit}
    ) k
    cross join lateral (
      select * from messages m where ${ofKind} order by m.msg_id desc limit ${limit}
    ) m
    order by m.msg_id desc
    limit ${limit}`
  return (await db.query<Recorded>({ text, values })).rows
}

/** So many messages are looked at, matching or not: a few milliseconds. */
const LOOKED_AT = 5_000

/** The newest of a day, as many as there are among those that are looked at. */
async function listAmongNewest(db: Queryable, page: MessagePage, day: number): Promise<Recorded[]> {
  const { text, values } = sql`
    select ${COLUMNS}
    from (
      select * from messages m where m.plan_id = ${page.planId} and ${onDays(day, day)} ${within(page)}
      order by m.msg_id desc limit ${LOOKED_AT}
    ) m
    where true ${matching(page.filters)}
    order by m.msg_id desc
    limit ${page.limit}`
  return (await db.query<Recorded>({ text, values })).rows
}

/** As values that the planner knows: it leaves out the partitions of all other days. */
function onDays(first: number, last: number): Sql {
  return sql`m.msg_id >= ${firstIdOfDay(first)} and m.msg_id < ${firstIdOfDay(last + 1)}`
}

/** No day is later. */
const LAST_DAY = 2 ** 31 - 2

function firstDayOf({ filters }: MessagePage): number {
  return filters.fromDate === null ? 0 : dayOf(lowestIdAt(filters.fromDate))
}

function lastDayOf({ filters, after }: MessagePage): number {
  const ends = [after, filters.toDate === null ? null : highestIdAt(filters.toDate)]
  return Math.min(LAST_DAY, ...ends.filter((end) => end !== null).map(dayOf))
}

/** The ids of the page and of its window. */
function within({ filters, after }: MessagePage): Sql {
  return allOf([
    after === null ? empty : sql`m.msg_id < ${after}`,
    filters.fromDate === null ? empty : sql`m.msg_id >= ${lowestIdAt(filters.fromDate)}`,
    filters.toDate === null ? empty : sql`m.msg_id <= ${highestIdAt(filters.toDate)}`,
  ])
}

/** Of a message, or of a kind, which has no recipient. */
function matching({ from, to, status, country, mccmnc }: MessageFilters, of: 'm' | 'k' = 'm'): Sql {
  const row = raw(of)
  return allOf([
    from === null ? empty : sql`${row}.sender = ${from}`,
    to === null || of === 'k' ? empty : sql`${row}.recipient = ${to}`,
    status === null ? empty : sql`${row}.status = ${status}`,
    country === null ? empty : sql`${row}.country = ${country}`,
    mccmnc === null ? empty : sql`${row}.mccmnc = ${mccmnc}`,
  ])
}

function allOf(conditions: readonly Sql[]): Sql {
  const given = conditions.filter((condition) => condition !== empty)
  return given.length === 0 ? empty : sql`and ${join(given, ' and ')}`
}

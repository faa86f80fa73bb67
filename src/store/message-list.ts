import sql, { join, raw, type Sql } from 'sql-template-tag'
import { highestIdAt, lowestIdAt } from '../domain/identifiers.ts'
import type { MessageFilters, Page } from '../domain/lists.ts'
import type { Message } from '../domain/messages/messages.ts'
import { mustBeHere } from './citus.ts'
import type { Queryable } from './database.ts'
import { allOf, below, createdIn, equals } from './list-conditions.ts'
import { dayOf, firstIdOfDay } from './message-kinds.ts'
import { type InLane, MESSAGE_COLUMNS } from './messages.ts'

type MessagePage = Page<MessageFilters, string>
type Recorded = Message & InLane
/** Newest first. In a list of kinds, a day is repeated for each of its kinds. */
type Days = readonly number[]

const COLUMNS = raw(`${MESSAGE_COLUMNS}, m.lane`)

/**
 * Recorded messages of one plan, newest first. Those in progress are filtered by `isWanted` (domain/messages/message-search.ts).
 *
 * A recipient's messages are together in an index. For the other filters `message_kinds` says on which days which kinds of
 * messages match, and an index has each kind's messages in order. So rare messages are found without looking at those
 * between them, and a value that never occurred costs one look-up (docs/adr/0021).
 */
export async function listMessages(
  db: Queryable,
  page: MessagePage,
  nowMs: number = Date.now(),
): Promise<Recorded[]> {
  mustBeHere(db, [page.planId])
  const { from, to, status, country, mccmnc } = page.filters
  const isOfKinds = [from, status, country, mccmnc].some((filter) => filter !== null)
  if (!isOfKinds) return await listInOrder(db, page, nowMs)
  return await (to === null ? listByKinds(db, page) : listByRecipient(db, page))
}

/**
 * Reads messages that nobody has, in the two ways of a list, so that this connection knows the partitions of every day. Its
 * first lists would otherwise wait 20 to 30 ms for that.
 */
export async function learnPartitions(db: Queryable): Promise<void> {
  const conditions = [`m.recipient = ''`, 'message_kind(m.sender, m.country, m.mccmnc, m.status) = 0']
  for (const condition of conditions) {
    await db.query(sql`
      select ${COLUMNS} from messages m
      where m.plan_id = 0 and ${raw(condition)} order by m.msg_id desc limit 1`)
  }
}

/**
 * The newest this many days are looked at first, because a list plans for each partition that it may read: some 50 µs a
 * day.
 */
const FIRST_DAYS = 8

/** By the plan's key, or by the index of recipients. */
async function listInOrder(db: Queryable, page: MessagePage, nowMs: number): Promise<Recorded[]> {
  const newest = Math.min(lastDayOf(page), dayOf(lowestIdAt(nowMs)))
  const first = Math.max(firstDayOf(page), newest - FIRST_DAYS + 1)
  // Without an upper end: a node whose clock is ahead creates messages of a later day.
  const rows = await listRange(db, page, sql`m.msg_id >= ${firstIdOfDay(first)}`)
  return await withOlder(db, page, rows, { first, oldest: firstDayOf(page) })
}

/** Goes on before the `first` of the days that were looked at, if the page is not full. */
async function withOlder(
  db: Queryable,
  page: MessagePage,
  rows: Recorded[],
  { first, oldest }: { readonly first: number; readonly oldest: number },
): Promise<Recorded[]> {
  if (rows.length === page.limit || first <= oldest) return rows
  const rest = { ...page, limit: page.limit - rows.length }
  return [...rows, ...(await listRange(db, rest, onDays(oldest, first - 1)))]
}

async function listRange(db: Queryable, page: MessagePage, range: Sql): Promise<Recorded[]> {
  const { rows } = await db.query<Recorded>(sql`
    select ${COLUMNS} from messages m
    where ${ofPage(page)} and ${range} and ${ofFilters(page.filters)}
    order by m.msg_id desc
    limit ${page.limit}`)
  return rows
}

/** A recipient who has this many messages on the first days is frequent: few of them may match otherwise. */
const FREQUENT = 100
/** Below this number of kinds their messages may be few; `listAmongFew` looks at this many. */
const FEW_KINDS = 256
const FEW = 500

/** The messages of one recipient that match otherwise too, on the days from the oldest such kind to the newest. */
async function listByRecipient(db: Queryable, page: MessagePage): Promise<Recorded[]> {
  const days = await findDaysOfKinds(db, page, lastDayOf(page), FEW_KINDS)
  const newest = days[0]
  if (newest === undefined) return []
  const mayBeFew = days.length < FEW_KINDS
  const oldest = mayBeFew ? days.at(-1)! : firstDayOf(page)
  const first = Math.max(oldest, newest - FIRST_DAYS + 1)
  const range = onDays(first, newest)
  const amongNewest = mayBeFew ? await listAmongNewest(db, page, range, FREQUENT) : null
  const amongFew = mayBeFew && amongNewest === null ? await listAmongFew(db, page, days) : null
  if (amongFew !== null) return amongFew
  const rows = amongNewest ?? (await listRange(db, page, range))
  return await withOlder(db, page, rows, { first, oldest })
}

/** The recipient's messages among those that match otherwise; null when those are not few. */
async function listAmongFew(db: Queryable, page: MessagePage, days: Days): Promise<Recorded[] | null> {
  const few = sql`
    select ${COLUMNS}, m.n
    from (
      select m.*, row_number() over () as n
      from ${kindsOf(page, days)}
      cross join lateral (select * from messages m where ${ofKind(page, days)} offset 0) m
      limit ${FEW}
    ) m
    where m.recipient = ${page.filters.to} or m.n = ${FEW}
    order by m.n = ${FEW} desc, m.msg_id desc
    limit ${page.limit}`
  return await listUpTo(db, few, FEW)
}

/** Matches among the newest messages, of the recipient if there is one; null when there may be more behind them. */
async function listAmongNewest(db: Queryable, page: MessagePage, range: Sql, most: number) {
  const among = sql`
    select ${COLUMNS}, m.n
    from (
      select m.*, row_number() over (order by m.msg_id desc) as n
      from messages m where ${ofPage(page)} and ${allOf([equals('m.recipient', page.filters.to)])} and ${range}
      order by m.msg_id desc limit ${most}
    ) m
    where m.n = ${most} or ${ofFilters(page.filters)}
    order by m.msg_id desc
    limit ${page.limit}`
  return await listUpTo(db, among, most)
}

/** Null when the statement stopped at its limit, so that more messages may match. */
async function listUpTo(db: Queryable, statement: Sql, lookedAt: number): Promise<Recorded[] | null> {
  const { rows } = await db.query<Recorded & { readonly n: number }>(statement)
  return rows.some(({ n }) => n === lookedAt) ? null : rows.map(({ n: _, ...row }) => row)
}

/** The newest days with matching kinds, one entry for each of at most `most` kinds. */
async function findDaysOfKinds(db: Queryable, page: MessagePage, last: number, most: number): Promise<Days> {
  const { planId, filters } = page
  const { rows } = await db.query<{ day: number }>(sql`
    select k.day from message_kinds k
    where k.plan_id = ${planId} and k.day between ${firstDayOf(page)} and ${last} and ${ofKinds(filters)}
    order by k.day desc
    limit ${most}`)
  return rows.map(({ day }) => day)
}

/** A list by kinds takes the days with the newest 24 kinds; if these have little, the days with the next 192, and so on. */
const FIRST_KINDS = 24
const KINDS_GROWTH = 8
/** Five times as many kinds are counted, to see which days are broad. */
const COUNTED = 5
/** A day with this many kinds is broad. It is looked at alone. */
const BROAD = 16

async function listByKinds(db: Queryable, page: MessagePage): Promise<Recorded[]> {
  const rows: Recorded[] = []
  let lastDay = lastDayOf(page)
  for (let kinds = FIRST_KINDS; ; ) {
    const counted = await findDaysOfKinds(db, page, lastDay, kinds * COUNTED)
    if (counted.length === 0) return rows
    const isCutOff = counted.length === kinds * COUNTED
    const { days, isBroad } = nextDays(counted, kinds, isCutOff)
    const list = isBroad ? listOfBroadDay : listOfDays
    const found = await list(db, { ...page, limit: page.limit - rows.length }, days)
    rows.push(...found)
    const isLast = !isCutOff && days.at(-1) === counted.at(-1)
    if (rows.length === page.limit || isLast) return rows
    if (found.length < page.limit / 4) kinds *= KINDS_GROWTH
    lastDay = days.at(-1)! - 1
  }
}

/** The newest day if it is broad; otherwise the days with `kinds` kinds, but only those before the next broad one. */
function nextDays(counted: Days, kinds: number, isCutOff: boolean): { days: Days; isBroad: boolean } {
  const [newest, oldest] = [counted[0]!, counted.at(-1)!]
  if (counted[BROAD - 1] === newest) return { days: counted.filter((day) => day === newest), isBroad: true }
  // Some kinds of the oldest day may not have been counted.
  const whole = isCutOff ? counted.filter((day) => day > oldest) : counted
  const nextBroad = whole.find((day, n) => whole[n + BROAD - 1] === day) ?? 0
  const last = whole[kinds - 1] ?? 0
  return { days: whole.filter((day) => day > nextBroad && day >= last), isBroad: false }
}

/**
 * The newest messages of these days. Days are read one after the other, the newest first, until the page is full. The
 * statement reads the kinds again: a message that changes meanwhile is of one kind or the other, and both are known. The last
 * day comes whole, and is sorted here: PostgreSQL 15 would read all days to sort them by id.
 */
async function listOfDays(db: Queryable, page: MessagePage, days: Days): Promise<Recorded[]> {
  const { limit } = page
  const { rows } = await db.query<Recorded>(sql`
    with kinds as materialized (select * from ${kindsOf(page, days)})
    select ${COLUMNS}
    from (select distinct lowest from kinds order by lowest desc offset 0) day
    cross join lateral (
      select m.*
      from kinds k
      cross join lateral (
        select * from messages m where ${ofKind(page, days)} order by m.msg_id desc limit ${limit}
      ) m
      where k.lowest = day.lowest
      order by m.msg_id desc
      limit ${limit}
    ) m
    order by day.lowest desc
    fetch first ${limit} rows with ties`)
  return rows.sort((one, other) => (one.msgId < other.msgId ? 1 : -1)).slice(0, limit)
}

/**
 * When many kinds match, usually many messages do, and some are among the newest: this many are looked at first, or more
 * (some milliseconds) when the day has more kinds than were counted.
 */
const LOOKED_AT = 250
const MOST_LOOKED_AT = 5_000

async function listOfBroadDay(db: Queryable, page: MessagePage, days: Days): Promise<Recorded[]> {
  const lookedAt = days.length < FIRST_KINDS * COUNTED ? LOOKED_AT : MOST_LOOKED_AT
  const among = await listAmongNewest(db, page, onDays(days[0]!, days[0]!), lookedAt)
  return among ?? (await listOfManyKinds(db, page, days))
}

/**
 * The newest message or two of each kind show which kinds the newest of all are of, and an id below which none of them is.
 * Only messages of these kinds above this id are read.
 */
async function listOfManyKinds(db: Queryable, page: MessagePage, days: Days): Promise<Recorded[]> {
  const { limit } = page
  const { rows } = await db.query<Recorded>(sql`
    with newest as (
      select k.*, m.msg_id
      from ${kindsOf(page, days)}
      cross join lateral (
        select m.msg_id from messages m
        where ${ofKind(page, days)} order by m.msg_id desc limit ${Math.ceil((2 * limit) / days.length)}
      ) m
      order by m.msg_id desc
      limit ${limit}
    )
    select ${COLUMNS}
    from (select distinct lowest, below, kind from newest offset 0) k
    cross join lateral (
      select * from messages m
      where ${ofKind(page, days)}
        and m.msg_id >= coalesce((select msg_id from newest order by msg_id desc offset ${limit - 1}), k.lowest)
      order by m.msg_id desc
      limit ${limit}
    ) m
    order by m.msg_id desc
    limit ${limit}`)
  return rows
}

/** The kinds of these days, once each, as `k`. */
function kindsOf({ planId, filters }: MessagePage, days: Days): Sql {
  return sql`(
      select distinct first_msg_id(k.day) as lowest, first_msg_id(k.day + 1) as below,
             message_kind(k.sender, nullif(k.country, ''), nullif(k.mccmnc, ''), k.status) as kind
      from message_kinds k
      where k.plan_id = ${planId} and k.day = any (${[...new Set(days)]}::integer[]) and ${ofKinds(filters)}
      offset 0
    ) k`
}

/** The messages of one of them. */
function ofKind(page: MessagePage, days: Days): Sql {
  return sql`
    ${ofPage(page)} and message_kind(m.sender, m.country, m.mccmnc, m.status) = k.kind
    and m.msg_id >= k.lowest and m.msg_id < k.below
    and ${onEach(days)} and ${ofFilters({ ...page.filters, to: null })}`
}

/** As values that the planner knows, so that it leaves out the partitions of all other days. */
function onDays(first: number, last: number): Sql {
  return sql`m.msg_id >= ${firstIdOfDay(first)} and m.msg_id < ${firstIdOfDay(last + 1)}`
}

/** If three of four days in between are others, each day is named: there are fewer partitions to plan for. */
function onEach(days: Days): Sql {
  const [first, last, each] = [days.at(-1)!, days[0]!, [...new Set(days)]]
  if (last - first < 4 * each.length) return onDays(first, last)
  const ranges = each.map((day) => sql`(${onDays(day, day)})`)
  return sql`(${join(ranges, ' or ')})`
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

/** The plan's messages in the window, behind the last page. */
function ofPage({ planId, filters, after }: MessagePage): Sql {
  return allOf([equals('m.plan_id', planId), below('m.msg_id', after), createdIn('m.msg_id', filters)])
}

/** Conditions of a message. */
function ofFilters(filters: MessageFilters): Sql {
  return allOf([ofKinds(filters, 'm'), equals('m.recipient', filters.to)])
}

/** Conditions that decide a message's kind. */
function ofKinds({ from, status, country, mccmnc }: MessageFilters, row: 'm' | 'k' = 'k'): Sql {
  return allOf([
    equals(`${row}.sender`, from),
    equals(`${row}.status`, status),
    equals(`${row}.country`, country),
    equals(`${row}.mccmnc`, mccmnc),
  ])
}

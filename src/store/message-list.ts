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
/** Newest first; a day is repeated for each of its kinds. */
type Days = readonly number[]

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
  const days = ofKinds ? await findDaysOfKinds(db, page, lastDayOf(page), FEW_KINDS) : null
  if (days?.length === 0) return []
  const isWhole = days !== null && days.length < FEW_KINDS
  const oldest = isWhole ? days.at(-1)! : firstDayOf(page)
  const newest = days?.[0] ?? Math.min(lastDayOf(page), dayOf(lowestIdAt(nowMs)))
  const first = Math.max(oldest, newest - FIRST_DAYS + 1)
  // Without days there is no upper end: a node whose clock is ahead creates messages of a later day.
  const range = days === null ? sql`m.msg_id >= ${firstIdOfDay(first)}` : onDays(first, newest)
  const among = isWhole ? await listNewest(db, page, range, FREQUENT) : null
  const few = isWhole && among === null ? await listAmongFew(db, page, days) : null
  if (few !== null) return few
  const rows = among ?? (await listInOrder(db, page, range))
  if (rows.length === page.limit || first === oldest) return rows
  const rest = { ...page, limit: page.limit - rows.length }
  return [...rows, ...(await listInOrder(db, rest, onDays(oldest, first - 1)))]
}

/**
 * Reads messages that nobody has, in the two ways of a list, so that this connection knows the partitions of every day. Its
 * first lists would otherwise wait 20 to 30 ms for that.
 */
export async function learnPartitions(db: Queryable): Promise<void> {
  const conditions = [`m.recipient = ''`, 'message_kind(m.sender, m.country, m.mccmnc, m.status) = 0']
  for (const condition of conditions) {
    const { text } = sql`
      select ${COLUMNS} from messages m
      where m.plan_id = 0 and ${raw(condition)} order by m.msg_id desc limit 1`
    await db.query({ text })
  }
}

/** This many days are looked at first: each costs the planner some 50 µs, and ten times that once per connection. */
const FIRST_DAYS = 8

async function listInOrder(db: Queryable, page: MessagePage, range: Sql): Promise<Recorded[]> {
  const { text, values } = sql`
    select ${COLUMNS} from messages m
    where m.plan_id = ${page.planId} and ${range} ${within(page)} ${matching(page.filters)}
    order by m.msg_id desc
    limit ${page.limit}`
  return (await db.query<Recorded>({ text, values })).rows
}

/** A recipient with this many messages on the first days is frequent; fewer messages, of fewer kinds, than this are few. */
const FREQUENT = 100
const FEW = 500
const FEW_KINDS = 256

/** A frequent recipient's messages among the few that match otherwise; null when those are not few. */
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

/** A step looks at the newest days that have this many kinds. After a step that found little, the next looks at more. */
const FIRST_KINDS = 24
const KINDS_GROWTH = 8
/**
 * Days with this many kinds, and the first days with this many in all, are looked at separately. Kinds are counted up to
 * BROADER times what a step wants.
 */
const MANY_KINDS = 16
const BROADER = 5

async function listByKinds(db: Queryable, page: MessagePage): Promise<Recorded[]> {
  const rows: Recorded[] = []
  let lastDay = lastDayOf(page)
  for (let kinds = FIRST_KINDS; ; ) {
    const found = await findDaysOfKinds(db, page, lastDay, kinds * BROADER)
    const [newest, oldest] = [found[0], found.at(-1)]
    if (newest === undefined || oldest === undefined) return rows
    // The day at which the list was cut off is incomplete, unless it has all of them.
    const isCut = found.length === kinds * BROADER
    const whole = isCut && newest !== oldest ? found.filter((day) => day > oldest) : found
    const dayOfMany = whole[MANY_KINDS - 1] ?? 0
    const isMany = dayOfMany > newest - FIRST_DAYS
    const last = isMany ? dayOfMany : (whole[kinds - 1] ?? whole.at(-1)!)
    const days = whole.filter((day) => day >= last)
    const list = dayOfMany === newest ? listOfDay : isMany ? listOfNewestKinds : listOfKinds
    const ofStep = await list(db, { ...page, limit: page.limit - rows.length }, days)
    rows.push(...ofStep)
    if (rows.length === page.limit || (!isCut && last <= oldest)) return rows
    if (ofStep.length < page.limit / 4) kinds *= KINDS_GROWTH
    lastDay = last - 1
  }
}

/** The newest days with matching kinds, one entry for each of at most `most` kinds. */
async function findDaysOfKinds(db: Queryable, page: MessagePage, last: number, most: number): Promise<Days> {
  const { planId, filters } = page
  const { text, values } = sql`
    select k.day from message_kinds k
    where k.plan_id = ${planId} and k.day between ${firstDayOf(page)} and ${last} ${matching(filters, 'k')}
    order by k.day desc
    limit ${most}`
  return (await db.query<{ day: number }>({ text, values })).rows.map(({ day }) => day)
}

/** This many messages are looked at, matching or not; more (some milliseconds) when there were too many kinds to count. */
const LOOKED_AT = 250
const MOST_LOOKED_AT = 5_000

/** When this many kinds of one day match, usually many messages do, and some of them are among the newest. */
async function listOfDay(db: Queryable, page: MessagePage, days: Days): Promise<Recorded[]> {
  const lookedAt = days.length < FIRST_KINDS * BROADER ? LOOKED_AT : MOST_LOOKED_AT
  const among = await listNewest(db, page, onDays(days[0]!, days[0]!), lookedAt)
  return among ?? (await listOfNewestKinds(db, page, days))
}

/**
 * The newest messages of these days, kind by kind. The statement reads the kinds again: a message that changes meanwhile
 * is of one kind or the other, and both are known.
 */
async function listOfKinds(db: Queryable, page: MessagePage, days: Days): Promise<Recorded[]> {
  const { text, values } = sql`
    select ${COLUMNS}
    from ${kindsOf(page, days)}
    cross join lateral (
      select * from messages m where ${ofKind(page, days)} order by m.msg_id desc limit ${page.limit}
    ) m
    order by m.msg_id desc
    limit ${page.limit}`
  return (await db.query<Recorded>({ text, values })).rows
}

/**
 * Like listOfKinds, but the newest messages of each kind first show which kinds the newest of all are of, and an id below
 * which none of them is. That reads less, but all these days are planned for twice.
 */
async function listOfNewestKinds(db: Queryable, page: MessagePage, days: Days): Promise<Recorded[]> {
  const { limit } = page
  const { text, values } = sql`
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
    limit ${limit}`
  return (await db.query<Recorded>({ text, values })).rows
}

/** The kinds of these days, once each, as `k`. */
function kindsOf({ planId, filters }: MessagePage, days: Days): Sql {
  return sql`(
      select distinct first_msg_id(k.day) as lowest, first_msg_id(k.day + 1) as below,
             message_kind(k.sender, nullif(k.country, ''), nullif(k.mccmnc, ''), k.status) as kind
      from message_kinds k
      where k.plan_id = ${planId} and k.day = any (${[...new Set(days)]}::integer[]) ${matching(filters, 'k')}
      offset 0
    ) k`
}

/** The messages of one of them. */
function ofKind(page: MessagePage, days: Days): Sql {
  return sql`
    m.plan_id = ${page.planId} and message_kind(m.sender, m.country, m.mccmnc, m.status) = k.kind
    and m.msg_id >= k.lowest and m.msg_id < k.below
    and ${onEach(days)} ${within(page)} ${matching({ ...page.filters, to: null })}`
}

/** Matches among the newest messages, of the recipient if there is one; null when there may be more behind them. */
async function listNewest(db: Queryable, page: MessagePage, range: Sql, most: number) {
  const recipient = page.filters.to === null ? empty : sql`and m.recipient = ${page.filters.to}`
  const among = sql`
    select ${COLUMNS}, m.n
    from (
      select m.*, row_number() over (order by m.msg_id desc) as n
      from messages m where m.plan_id = ${page.planId} ${recipient} and ${range} ${within(page)}
      order by m.msg_id desc limit ${most}
    ) m
    where m.n = ${most} or (true ${matching(page.filters)})
    order by m.msg_id desc
    limit ${page.limit}`
  return await listUpTo(db, among, most)
}

/** Null when the last message that was looked at is among them: what is behind it is not known. */
async function listUpTo(db: Queryable, { text, values }: Sql, lookedAt: number): Promise<Recorded[] | null> {
  const { rows } = await db.query<Recorded & { readonly n: number }>({ text, values })
  return rows.some(({ n }) => n === lookedAt) ? null : rows.map(({ n: _, ...row }) => row)
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

/** The ids of the page and of its window. */
function within({ filters, after }: MessagePage): Sql {
  return allOf([
    after === null ? empty : sql`m.msg_id < ${after}`,
    filters.fromDate === null ? empty : sql`m.msg_id >= ${lowestIdAt(filters.fromDate)}`,
    filters.toDate === null ? empty : sql`m.msg_id <= ${highestIdAt(filters.toDate)}`,
  ])
}

/** Conditions for a message, or for a kind, which has no recipient. */
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

/**
 * Messages with the same sender, country, network and status are of one kind. `message_kinds` has every kind that a
 * plan's messages of a day have or had, which tells a list with a rare filter where matches can be at all. A message is
 * never visible without its kind: whoever writes messages notes their kinds first, or leaves it to the triggers of
 * `messages`.
 */

import type pg from 'pg'
import { createdAtMs, lowestIdAt } from '../domain/identifiers.ts'
import { DAY_MS } from '../domain/instants.ts'
import type { Message } from '../domain/messages/messages.ts'
import { byPlan, isSharded, ofPlan } from './citus.ts'
import { storable } from './copy.ts'
import { type Database, inTime, type Queryable, withTransaction } from './database.ts'

/** The fields of a message that decide its kind. */
export type OfAKind = Pick<Message, 'planId' | 'msgId' | 'sender' | 'country' | 'mccmnc' | 'status'>

/** Days since 1970. */
export function dayOf(msgId: string): number {
  return Math.floor(createdAtMs(msgId) / DAY_MS)
}

export function firstIdOfDay(day: number): string {
  return lowestIdAt(day * DAY_MS)
}

/**
 * Kinds that this process has noted, by the database written to. Cleared when there are too many: they are then noted
 * again.
 */
const NOTED = new WeakMap<Queryable, Set<string>>()
const MOST_NOTED = 100_000

const KINDS_ARE_NOTED = `set local aldis.kinds_are_noted = 'on'`

/**
 * Runs `work` in a transaction that writes these messages and no others. Their kinds are noted before, once for all
 * batches of this process, and the triggers do nothing.
 */
export async function withKindsNoted<T>(
  db: Database,
  messages: readonly OfAKind[],
  work: (transaction: pg.PoolClient) => Promise<T>,
): Promise<T> {
  try {
    await noteKinds(db, messages)
    return await withTransaction(db, work, KINDS_ARE_NOTED)
  } catch (error) {
    // Another server may have taken over without what was noted last.
    NOTED.delete(db)
    throw error
  }
}

/** What the triggers do, where there are none: notes the kinds of messages that `tx` writes. */
export async function noteKindsInstead(tx: Queryable, messages: readonly OfAKind[]): Promise<void> {
  if (isSharded(tx) && messages.length > 0) await noteFresh(tx, messages, new Set())
}

/** In most calls nothing is new. */
async function noteKinds(db: Queryable, messages: readonly OfAKind[]): Promise<void> {
  const noted = notedOf(db)
  const fresh = await noteFresh(db, messages, noted)
  if (noted.size + fresh.size > MOST_NOTED) noted.clear()
  for (const key of fresh) noted.add(key)
}

/** Citus reads on the plan's server and then copies in what is new: see `markAsWritten`. Deletes nothing. */
const MARKED = 'with none as (delete from message_kinds where plan_id = $2 and day < 0 returning 1)'

/** Notes the kinds that are not in `noted`. Returns their keys. */
async function noteFresh(
  db: Queryable,
  messages: readonly OfAKind[],
  noted: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const fresh = new Map<string, { readonly planId: number; readonly day: number } & Omit<OfAKind, 'msgId'>>()
  for (const { planId, msgId, sender, country, mccmnc, status } of messages) {
    const day = dayOf(msgId)
    const key = `${planId}\n${day}\n${sender}\n${country}\n${mccmnc}\n${status}`
    if (!noted.has(key)) fresh.set(key, { planId, day, sender: storable(sender), country, mccmnc, status })
  }
  if (fresh.size === 0) return new Set()
  for (const { planId, items } of byPlan(db, [...fresh.values()], (kind) => kind.planId))
    await db.query({
      text: `${isSharded(db) ? MARKED : ''}
      insert into message_kinds (plan_id, day, sender, country, mccmnc, status)
      select i."planId", i.day, i.sender, coalesce(i.country, ''), coalesce(i.mccmnc, ''), i.status
      from json_to_recordset($1) as i (
        "planId" integer, day integer, sender text, country text, mccmnc text, status message_status)
      where not (select exists (
        select from message_kinds k
        where k.plan_id = i."planId" and ${ofPlan('k', '$2')} and k.sender = i.sender and k.day = i.day
          and k.status = i.status and k.country = coalesce(i.country, '') and k.mccmnc = coalesce(i.mccmnc, '')))`,
      values: [JSON.stringify(items), planId],
      ...inTime(db),
    })
  return new Set(fresh.keys())
}

function notedOf(db: Queryable): Set<string> {
  const noted = NOTED.get(db) ?? new Set()
  NOTED.set(db, noted)
  return noted
}

/** Deletes the kinds of days that have no messages any more. */
export async function deleteKindsBefore(db: Queryable, day: number): Promise<void> {
  await db.query({ text: 'delete from message_kinds where day < $1', values: [day] })
}

/**
 * Deletes the QUEUED and SENT kinds of a day that none of its messages has any more. For days whose messages no longer
 * change: a kind that is noted meanwhile may be lost.
 */
export async function deletePassedKinds(db: Queryable, day: number): Promise<void> {
  // Citus can only delete what is in the records by one statement as one join.
  const [lacks, end] = isSharded(db) ? ['not exists (', ')'] : ['not (select exists (', '))']
  await db.query({
    text: `
      delete from message_kinds k
      where k.day = $1 and k.status in ('QUEUED', 'SENT') and ${lacks}
        select from messages m
        where m.plan_id = k.plan_id and m.msg_id >= first_msg_id($1) and m.msg_id < first_msg_id($1 + 1)
          and message_kind(m.sender, m.country, m.mccmnc, m.status)
            = message_kind(k.sender, nullif(k.country, ''), nullif(k.mccmnc, ''), k.status)${end}`,
    values: [day],
  })
}

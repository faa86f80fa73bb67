import type { Message } from '../domain/messages.ts'
import type { Queryable } from './database.ts'

/** The columns of a Message, in the order of the table; `m` is the alias of messages. */
export const MESSAGE_COLUMNS = `
  m.plan_id as "planId", m.msg_id as "msgId", m.status, m.sender, m.recipient, m.body, m.segments,
  m.callback_url as "callbackUrl", m.country, m.mccmnc, m.error_code as "errorCode", m.price, m.ptf, m.currency,
  m.sent_at as "sentAt", m.updated_at as "updatedAt"`

/** Of a record: the lane whose process has the message in progress; null: none, and the record is what the message is. */
export interface InLane {
  readonly lane: number | null
}

/** A message to be stored, and whether this node keeps it in memory to submit it at once (`holder`). */
export interface NewMessage {
  readonly plan_id: number
  readonly msg_id: string
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly segments: number
  readonly country: string | null
  readonly callback_url: string | null
  readonly holder: number | null
  /** It is submitted at once: from now on it is in doubt when its holder dies. */
  readonly begun: boolean
  /** The route it is to take; null: to be found out. */
  readonly route_id: number | null
  /** The carrier of another node that it is handed to; absent: none. */
  readonly chosen_carrier_id?: number
  readonly created_ms: number
  readonly validity_ms: number
  /** Whether its plan keeps opt-outs: only then are they looked at. */
  readonly opt_outs: boolean
}

export interface KeyedMessage extends NewMessage {
  /** SHA-256, hex. */
  readonly key_hash: string
  readonly request_hash: string
}

/** Whether the recipient of `i`, a row of the input, has opted out; one probe of the key, or none. */
const OPTED_OUT = `
  left join lateral (
    select true as refuses from opt_outs o
    where i.opt_outs and o.plan_id = i.plan_id and o.sender = i.sender and o.recipient = i.recipient
    limit 1
  ) o on true`

/**
 * Stores messages with their dispatch rows: one statement, so all of them or none. Gives the ids of those whose
 * recipient has opted out.
 */
export async function insertMessages(db: Queryable, messages: readonly NewMessage[]): Promise<string[]> {
  const { rows } = await db.query<{ msg_id: string }>({
    name: 'insert_messages',
    text: `
      with input as (
        select * from json_to_recordset($1) as i (
          plan_id integer, msg_id uuid, sender text, recipient text, body text, segments smallint, country text,
          callback_url text, holder integer, route_id integer, chosen_carrier_id integer, begun boolean,
          created_ms bigint, validity_ms bigint, opt_outs boolean)
      ), stored as (
        insert into messages (plan_id, msg_id, sender, recipient, body, segments, country, callback_url, updated_at)
        select plan_id, msg_id, sender, recipient, body, segments, country, callback_url,
               to_timestamp(created_ms / 1000.0) from input
      ), queued as (
        insert into dispatches (bucket, msg_id, plan_id, route_id, chosen_carrier_id, holder, begun, due_at,
                                expires_at)
        select get_byte(uuid_send(msg_id), 15), msg_id, plan_id, coalesce(route_id, 0), coalesce(chosen_carrier_id, 0),
               holder, begun, to_timestamp(created_ms / 1000.0),
               to_timestamp((created_ms + validity_ms) / 1000.0) from input
      )
      select i.msg_id from input i ${OPTED_OUT} where o.refuses`,
    values: [JSON.stringify(messages)],
  })
  return rows.map((row) => row.msg_id)
}

/**
 * The same for messages with an Idempotency-Key, which must differ within the batch. Gives those that were stored; the
 * others met a key that is still live. The key of a message that was refused (`refusedCode`) is free again.
 */
export async function insertKeyedMessages(
  db: Queryable,
  messages: readonly KeyedMessage[],
  keyLifetimeMs: number,
  refusedCode: string,
): Promise<{ msg_id: string; opted_out: boolean }[]> {
  const { rows } = await db.query<{ msg_id: string; opted_out: boolean }>({
    name: 'insert_keyed_messages',
    text: `
      with input as (
        select * from json_to_recordset($1) as i (
          plan_id integer, msg_id uuid, sender text, recipient text, body text, segments smallint, country text,
          callback_url text, holder integer, route_id integer, chosen_carrier_id integer, begun boolean,
          created_ms bigint, validity_ms bigint, opt_outs boolean, key_hash text, request_hash text)
      ), keys as (
        insert into idempotency_keys as k (plan_id, key_hash, request_hash, msg_id, created_at)
        select plan_id, decode(key_hash, 'hex'), decode(request_hash, 'hex'), msg_id,
               to_timestamp(created_ms / 1000.0) from input
        on conflict (plan_id, key_hash) do update
          set request_hash = excluded.request_hash, msg_id = excluded.msg_id, created_at = excluded.created_at
          where k.created_at < excluded.created_at - $2 * interval '1 ms'
             or exists (select from messages m where m.plan_id = k.plan_id and m.msg_id = k.msg_id
                                                 and m.status = 'FAILED' and m.error_code = $3)
        returning msg_id
      ), fresh as (
        select * from input where msg_id in (select msg_id from keys)
      ), stored as (
        insert into messages (plan_id, msg_id, sender, recipient, body, segments, country, callback_url, updated_at)
        select plan_id, msg_id, sender, recipient, body, segments, country, callback_url,
               to_timestamp(created_ms / 1000.0) from fresh
      ), queued as (
        insert into dispatches (bucket, msg_id, plan_id, route_id, chosen_carrier_id, holder, begun, due_at,
                                expires_at)
        select get_byte(uuid_send(msg_id), 15), msg_id, plan_id, coalesce(route_id, 0), coalesce(chosen_carrier_id, 0),
               holder, begun, to_timestamp(created_ms / 1000.0),
               to_timestamp((created_ms + validity_ms) / 1000.0) from fresh
      )
      select i.msg_id, coalesce(o.refuses, false) as opted_out from fresh i ${OPTED_OUT}`,
    values: [JSON.stringify(messages), keyLifetimeMs, refusedCode],
  })
  return rows
}

export interface KeyedFirst extends Message {
  readonly keyHash: string
  readonly requestHash: string
}

/** The messages first stored under these live keys. */
export async function findByIdempotencyKeys(
  db: Queryable,
  keys: readonly { plan_id: number; key_hash: string }[],
): Promise<KeyedFirst[]> {
  const { rows } = await db.query<KeyedFirst>({
    name: 'find_by_idempotency_keys',
    text: `
      select ${MESSAGE_COLUMNS}, encode(k.key_hash, 'hex') as "keyHash", encode(k.request_hash, 'hex') as "requestHash"
      from json_to_recordset($1) as i (plan_id integer, key_hash text)
      join idempotency_keys k on k.plan_id = i.plan_id and k.key_hash = decode(i.key_hash, 'hex')
      join messages m on m.plan_id = k.plan_id and m.msg_id = k.msg_id`,
    values: [JSON.stringify(keys)],
  })
  return rows
}

/**
 * Settles messages whose COMMIT was lost: stores each as FAILED unless it is there already. Ids that come back were not
 * there, or only by an earlier call whose answer was lost too, and can never be stored as QUEUED afterwards; every other
 * one was committed by the lost statement.
 */
export async function settleLostMessages(
  db: Queryable,
  messages: readonly NewMessage[],
  errorCode: string,
): Promise<string[]> {
  const { rows } = await db.query<{ msg_id: string }>({
    name: 'settle_lost_messages',
    text: `
      insert into messages as m (plan_id, msg_id, sender, recipient, body, segments, country, callback_url, updated_at,
                                 status, error_code)
      select i.*, now(), 'FAILED', $2 from json_to_recordset($1) as i (
        plan_id integer, msg_id uuid, sender text, recipient text, body text, segments smallint, country text,
        callback_url text)
      on conflict (plan_id, msg_id) do update set updated_at = m.updated_at
        where m.status = 'FAILED' and m.error_code = excluded.error_code
      returning msg_id`,
    values: [JSON.stringify(messages), errorCode],
  })
  return rows.map((row) => row.msg_id)
}

/** Makes sure that messages answered 500 are never sent: FAILED, whether they were stored or not, and not dispatched. */
export async function refuseMessages(
  db: Queryable,
  messages: readonly NewMessage[],
  errorCode: string,
): Promise<void> {
  await db.query({
    text: `
      with input as (
        select * from json_to_recordset($1) as i (
          plan_id integer, msg_id uuid, sender text, recipient text, body text, segments smallint, country text,
          callback_url text)
      ), gone as (
        delete from dispatches d using input i
        where d.bucket = any (array[get_byte(uuid_send(i.msg_id), 15)]) and d.msg_id = i.msg_id
      )
      insert into messages as m (plan_id, msg_id, sender, recipient, body, segments, country, callback_url,
                                 updated_at, status, error_code)
      select i.*, now(), 'FAILED', $2 from input i
      on conflict (plan_id, msg_id) do update
        set status = 'FAILED', error_code = excluded.error_code, updated_at = excluded.updated_at
        where m.status = 'QUEUED'`,
    values: [JSON.stringify(messages), errorCode],
  })
}

/** Ids of those of these messages whose recipient has opted out. */
export async function findOptedOutMessages(
  db: Queryable,
  messages: readonly NewMessage[],
): Promise<string[]> {
  const { rows } = await db.query<{ msg_id: string }>({
    text: `
      select i.msg_id from json_to_recordset($1) as i (
        plan_id integer, msg_id uuid, sender text, recipient text, opt_outs boolean)
      ${OPTED_OUT} where o.refuses`,
    values: [JSON.stringify(messages)],
  })
  return rows.map((row) => row.msg_id)
}

/** One message of any of these plans. */
export async function findMessage(
  db: Queryable,
  planIds: readonly number[],
  msgId: string,
): Promise<(Message & InLane) | null> {
  const { rows } = await db.query<Message & InLane>({
    name: 'find_message',
    text: `select ${MESSAGE_COLUMNS}, m.lane from messages m where m.plan_id = any ($1::integer[]) and m.msg_id = $2`,
    values: [planIds, msgId],
  })
  return rows[0] ?? null
}

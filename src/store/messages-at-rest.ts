/**
 * Messages at rest: no process has them in memory, so their records are up to date. A change locks the row and then
 * writes it back with `writeRecords`.
 */
import type { Accepted, DispatchState, Loaded, MessageState } from '../domain/journal/message-facts.ts'
import { loadedMessage, type MessageInProgress } from '../domain/journal/messages-in-progress.ts'
import { byPlan, isSharded, ofPlan } from './citus.ts'
import type { Queryable } from './database.ts'

export interface MessageKey {
  readonly planId: number
  readonly msgId: string
}

/** A row of messages, with its row of dispatches if there is one, and where the message was asked for. */
export interface RecordRow
  extends MessageKey,
    Pick<Accepted, 'sender' | 'recipient' | 'body' | 'country' | 'callbackUrl'>,
    Omit<MessageState, 'changedAtMs' | 'sentAtMs' | 'deliveredBits' | 'unknownBits' | 'charge' | 'dispatch'> {
  readonly lane: number | null
  readonly discardsText: boolean | null
  readonly changedAt: Date
  readonly sentAt: Date | null
  readonly deliveredBits: string
  readonly unknownBits: string
  readonly price: string | null
  readonly ptf: string | null
  readonly currency: string | null
  readonly hasWaitingEvents?: boolean
  readonly dispatch?: DispatchColumns | null
}

/** What is left to be submitted, as JSON. */
interface DispatchColumns extends Omit<DispatchState, 'acceptedPduBits' | 'begun'> {
  readonly acceptedPduBits: string
  readonly expiresAtMs: number
}

/** The columns of a RecordRow; `m` is the message. */
export const RECORD_COLUMNS = `
  m.plan_id as "planId", m.msg_id as "msgId", m.lane, m.sender, m.recipient, m.body, m.segments, m.country,
  m.callback_url as "callbackUrl", m.status, m.event_sequence as sequence, m.updated_at as "changedAt",
  m.sent_at as "sentAt", m.error_code as "errorCode", m.carrier_code as "carrierCode", m.carrier_id as "carrierId",
  m.route_id as "routeId", m.route_reason as "routeReason", m.segmentation, m.delivered_bits::text as "deliveredBits",
  m.unknown_bits::text as "unknownBits", m.discards_text as "discardsText", m.mccmnc, m.price, m.ptf, m.currency`

/** A RecordRow's `hasWaitingEvents`. */
const HAS_WAITING_EVENTS = `
  exists (select from event_deliveries e
          where e.plan_id = any (array[m.plan_id]) and e.msg_id = m.msg_id and e.state <> 'failed') as "hasWaitingEvents"`

/** Of a row `d` of dispatches: a RecordRow's `dispatch`. */
export const DISPATCH_COLUMNS = `json_build_object(
  'failedAttempts', d.failed_attempts, 'carrierId', d.carrier_id, 'acceptedPduBits', d.accepted_pdu_bits::text,
  'segmentation', d.segmentation, 'startedOver', d.started_over, 'ambiguous', d.ambiguous, 'routeId', d.route_id,
  'chosenCarrierId', d.chosen_carrier_id, 'dueAtMs', floor(extract(epoch from d.due_at) * 1000)::bigint,
  'expiresAtMs', floor(extract(epoch from d.expires_at) * 1000)::bigint)`

/** A message as its record has it. */
export interface LoadedMessage extends Omit<Loaded, 'kind'> {
  readonly msgId: string
}

export function messageOfRow(row: RecordRow): MessageInProgress {
  return loadedMessage(row.msgId, loadedOf(row, false))
}

/** `optedOut`: its recipient wants nothing more from its sender. */
export function loadedOf(row: RecordRow, optedOut: boolean): LoadedMessage {
  const { planId, msgId, sender, recipient, body, segments, country, callbackUrl } = row
  const { dispatch = null, hasWaitingEvents = false } = row
  const accepted = {
    planId,
    sender,
    recipient,
    body,
    segments,
    country,
    callbackUrl,
    optedOut,
    discardsText: row.discardsText === true,
    begun: false,
    routeId: dispatch?.routeId ?? 0,
    expiresAtMs: dispatch?.expiresAtMs ?? 0,
  }
  return { msgId, accepted, state: stateOf(row), hasWaitingEvents }
}

function stateOf(row: RecordRow): MessageState {
  const { status, sequence, errorCode, carrierCode, carrierId, routeId, routeReason } = row
  const { segments, segmentation, mccmnc, price, ptf, currency, dispatch = null } = row
  return {
    status,
    sequence,
    errorCode,
    carrierCode,
    carrierId,
    routeId,
    routeReason,
    segments,
    segmentation,
    mccmnc,
    changedAtMs: row.changedAt.getTime(),
    sentAtMs: row.sentAt?.getTime() ?? null,
    deliveredBits: bitsOf(row.deliveredBits),
    unknownBits: bitsOf(row.unknownBits),
    charge: price === null || ptf === null || currency === null ? null : { price, ptf, currency },
    dispatch: dispatch === null ? null : dispatchStateOf(dispatch),
  }
}

function dispatchStateOf(dispatch: DispatchColumns): DispatchState {
  const { acceptedPduBits, expiresAtMs: _, ...rest } = dispatch
  return { ...rest, acceptedPduBits: bitsOf(acceptedPduBits), begun: false }
}

/** 64 bits, the highest of which PostgreSQL has as the sign. */
function bitsOf(text: string): bigint {
  return BigInt.asUintN(64, BigInt(text))
}

/**
 * Locks these messages until the transaction ends, in the order of their keys, and returns their rows as they are then.
 * The rows are sorted before the first is locked: PostgreSQL 18 up to 18.4 reads freed memory when it has waited for a
 * lock and then looks into a partitioned table again.
 */
export async function lockRecords(tx: Queryable, keys: readonly MessageKey[]): Promise<RecordRow[]> {
  const records: RecordRow[] = []
  for (const { planId, items } of byPlan(tx, keys, (key) => key.planId)) {
    const { rows } = await tx.query<RecordRow>({
      name: 'lock_records',
      text: `
        select ${RECORD_COLUMNS}
        from json_to_recordset($1) as i ("planId" integer, "msgId" uuid)
        join messages m on m.plan_id = any (array[i."planId"]) and ${ofPlan('m', '$2')} and m.msg_id = i."msgId"
        order by i."planId", i."msgId" for no key update of m`,
      values: [JSON.stringify(items), planId],
    })
    records.push(...rows)
  }
  return isSharded(tx) ? await withoutClaims(tx, records) : records
}

/**
 * On several servers, a take that failed may have named its lane in messages (claimMessages). Nobody has those: their dispatches
 * are still there, and not locked. Locks these, and takes the lane out of the messages.
 */
async function withoutClaims(tx: Queryable, records: readonly RecordRow[]): Promise<RecordRow[]> {
  const claimed = records.filter(({ lane }) => lane !== null)
  if (claimed.length === 0) return [...records]
  const { rows } = await tx.query<{ msgId: string }>({
    text: `
      select d.msg_id as "msgId" from unnest($1::uuid[]) as i (msg_id)
      join dispatches d on d.bucket = any (array[get_byte(uuid_send(i.msg_id), 15)]) and d.msg_id = i.msg_id
      for update of d skip locked`,
    values: [claimed.map(({ msgId }) => msgId)],
  })
  const free = new Set(rows.map(({ msgId }) => msgId))
  const freed = claimed.filter(({ msgId }) => free.has(msgId))
  for (const { planId, items } of byPlan(tx, freed, (record) => record.planId))
    await tx.query({
      text: 'update messages set lane = null where plan_id = $1 and msg_id = any ($2::uuid[])',
      values: [planId, items.map(({ msgId }) => msgId)],
    })
  return records.map((record) => (free.has(record.msgId) ? { ...record, lane: null } : record))
}

/**
 * Locks these messages (lockRecords), and returns those that have a record and are at rest. `elsewhere`: ids of those
 * that a lane has in progress.
 */
export async function lockMessages(
  tx: Queryable,
  keys: readonly MessageKey[],
): Promise<{ readonly messages: Map<string, MessageInProgress>; readonly elsewhere: Set<string> }> {
  const records = await lockRecords(tx, keys)
  const atRest = records.filter(({ lane }) => lane === null)
  // Read after locking: another transaction may have changed them until then.
  const { rows } = await tx.query<Pick<RecordRow, 'msgId' | 'hasWaitingEvents' | 'dispatch'>>({
    name: 'read_waiting',
    text: `
      select m.msg_id as "msgId", ${HAS_WAITING_EVENTS},
             case when d.msg_id is not null then ${DISPATCH_COLUMNS} end as dispatch
      from unnest($1::integer[], $2::uuid[]) as m (plan_id, msg_id)
      left join lateral (
        select * from dispatches
        where bucket = any (array[get_byte(uuid_send(m.msg_id), 15)]) and msg_id = m.msg_id limit 1) d on true`,
    values: [atRest.map(({ planId }) => planId), atRest.map(({ msgId }) => msgId)],
  })
  const waiting = new Map(rows.map((row) => [row.msgId, row]))
  return {
    messages: new Map(atRest.map((row) => [row.msgId, messageOfRow({ ...row, ...waiting.get(row.msgId) })])),
    elsewhere: new Set(records.flatMap(({ lane, msgId }) => (lane === null ? [] : [msgId]))),
  }
}

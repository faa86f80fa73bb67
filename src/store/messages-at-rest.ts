/**
 * Messages at rest: those that nobody has in memory, so that their records are what they are. Who changes one locks its
 * row, and writes it back by `writeRecords`.
 */
import type { Loaded } from '../domain/journal-entries.ts'
import type { MessageState, OpenSubmission } from '../domain/message-facts.ts'
import type { Status } from '../domain/message-states.ts'
import { loadedMessage, type MessageInProgress, type StatusEvent } from '../domain/messages-in-progress.ts'
import { storable } from './copy.ts'
import type { Queryable } from './database.ts'

export interface MessageKey {
  readonly planId: number
  readonly msgId: string
}

/** A message was taken out of its record by another lane, or is written there already. */
export class NotInLaneError extends Error {
  override readonly name = 'NotInLaneError'
}

/** A row of messages, with that of dispatches where there is one. */
interface RecordRow {
  readonly planId: number
  readonly msgId: string
  readonly lane: number | null
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly segments: number
  readonly country: string | null
  readonly callbackUrl: string | null
  readonly status: Status
  readonly sequence: number
  readonly changedAt: Date
  readonly sentAt: Date | null
  readonly errorCode: string
  readonly carrierCode: string | null
  readonly carrierId: number | null
  readonly routeId: number | null
  readonly routeReason: string | null
  readonly cut: string | null
  readonly deliveredSegments: string
  readonly unknownSegments: string
  readonly mccmnc: string | null
  readonly price: string | null
  readonly ptf: string | null
  readonly currency: string | null
  readonly hasWaitingEvents: boolean
  readonly dispatch: DispatchColumns | null
}

/** What is left to be submitted, as JSON. */
interface DispatchColumns {
  readonly attempt: number
  readonly carrierId: number | null
  readonly submittedSegments: string
  readonly cut: string | null
  readonly startedOver: boolean
  readonly ambiguous: boolean
  readonly dueAtMs: number
  readonly expiresAtMs: number
  readonly routeId: number
  readonly chosenCarrierId: number
}

/** The columns of a RecordRow but `dispatch`; `m` is the message. */
const RECORD_COLUMNS = `
  m.plan_id as "planId", m.msg_id as "msgId", m.lane, m.sender, m.recipient, m.body, m.segments, m.country,
  m.callback_url as "callbackUrl", m.status, m.event_seq as sequence, m.updated_at as "changedAt",
  m.sent_at as "sentAt", m.error_code as "errorCode", m.carrier_code as "carrierCode", m.carrier_id as "carrierId",
  m.route_id as "routeId", m.route_reason as "routeReason", m.cut, m.delivered_segments::text as "deliveredSegments",
  m.unknown_segments::text as "unknownSegments", m.mccmnc, m.price, m.ptf, m.currency,
  exists (select from event_deliveries e
          where e.plan_id = any (array[m.plan_id]) and e.msg_id = m.msg_id and e.state <> 'failed') as "hasWaitingEvents"`

/** Of a row `d` of dispatches: a RecordRow's `dispatch`. */
const DISPATCH_COLUMNS = `json_build_object(
  'attempt', d.attempt, 'carrierId', d.carrier_id, 'submittedSegments', d.submitted_segments::text, 'cut', d.cut,
  'startedOver', d.started_over, 'ambiguous', d.ambiguous, 'routeId', d.route_id,
  'chosenCarrierId', d.chosen_carrier_id, 'dueAtMs', floor(extract(epoch from d.due_at) * 1000)::bigint,
  'expiresAtMs', floor(extract(epoch from d.expires_at) * 1000)::bigint)`

/** `optedOut`: its recipient wants nothing more from its sender. */
function messageOfRow(row: RecordRow, optedOut = false): MessageInProgress {
  return loadedMessage(row.msgId, loadedOf(row, optedOut))
}

function loadedOf(row: RecordRow, optedOut: boolean): Omit<Loaded, 'kind'> {
  const { dispatch } = row
  const accepted = {
    planId: row.planId,
    sender: row.sender,
    recipient: row.recipient,
    body: row.body,
    segments: row.segments,
    country: row.country,
    callbackUrl: row.callbackUrl,
    optedOut,
    begun: false,
    routeId: dispatch?.routeId ?? 0,
    expiresAtMs: dispatch?.expiresAtMs ?? 0,
  }
  return { accepted, state: stateOf(row), hasWaitingEvents: row.hasWaitingEvents }
}

function stateOf(row: RecordRow): MessageState {
  const { price, ptf, currency, dispatch } = row
  return {
    status: row.status,
    sequence: row.sequence,
    changedAtMs: row.changedAt.getTime(),
    sentAtMs: row.sentAt?.getTime() ?? null,
    errorCode: row.errorCode,
    carrierCode: row.carrierCode,
    carrierId: row.carrierId,
    routeId: row.routeId,
    routeReason: row.routeReason,
    segments: row.segments,
    cut: row.cut,
    deliveredSegments: bitsOf(row.deliveredSegments),
    unknownSegments: bitsOf(row.unknownSegments),
    mccmnc: row.mccmnc,
    charge: price === null || ptf === null || currency === null ? null : { price, ptf, currency },
    submission: dispatch === null ? null : submissionOf(dispatch),
  }
}

function submissionOf(dispatch: DispatchColumns): OpenSubmission {
  const { submittedSegments, expiresAtMs: _, ...submission } = dispatch
  return { ...submission, acceptedParts: bitsOf(submittedSegments), begun: false }
}

/** 64 bits, the last of which PostgreSQL has as the sign. */
function bitsOf(text: string): bigint {
  return BigInt.asUintN(64, BigInt(text))
}

/**
 * Locks these messages until the transaction ends, in the order of their keys, and gives those that have a record and are
 * at rest. `elsewhere`: ids of those that a lane has in progress.
 */
export async function lockMessages(
  tx: Queryable,
  keys: readonly MessageKey[],
): Promise<{ readonly messages: Map<string, MessageInProgress>; readonly elsewhere: Set<string> }> {
  // Read once they are locked: another transaction may have changed them until then, and their dispatches too.
  const values = [JSON.stringify(keys)]
  await tx.query({
    name: 'lock_messages',
    text: `
      select from (
        select * from json_to_recordset($1) as i ("planId" integer, "msgId" uuid) order by "planId", "msgId") i
      cross join lateral (
        select from messages where plan_id = i."planId" and msg_id = i."msgId" for no key update) m`,
    values,
  })
  const { rows } = await tx.query<RecordRow>({
    name: 'read_locked_messages',
    text: `
      select ${RECORD_COLUMNS}, case when d.msg_id is not null then ${DISPATCH_COLUMNS} end as dispatch
      from json_to_recordset($1) as i ("planId" integer, "msgId" uuid)
      cross join lateral (select * from messages where plan_id = i."planId" and msg_id = i."msgId" limit 1) m
      left join lateral (
        select * from dispatches
        where bucket = any (array[get_byte(uuid_send(i."msgId"), 15)]) and msg_id = i."msgId" limit 1) d on true`,
    values,
  })
  const atRest = rows.filter(({ lane }) => lane === null)
  return {
    messages: new Map(atRest.map((row) => [row.msgId, messageOfRow(row)])),
    elsewhere: new Set(rows.flatMap(({ lane, msgId }) => (lane === null ? [] : [msgId]))),
  }
}

/**
 * Part of `writeRecords`: what is new of messages that have a record. Their events and deliveries are written with those of
 * new ones, but for deliveries behind others that wait.
 *
 * @throws NotInLaneError where not all of them are with `lane`; null: at rest
 */
export async function updateRecords(
  tx: Queryable,
  records: readonly { readonly message: MessageInProgress }[],
  lane: number | null,
): Promise<void> {
  const messages = records.map(({ message }) => message)
  const { rowCount } = await tx.query({
    name: 'update_messages',
    text: `
      update messages m
      set lane = null, status = i.status, event_seq = i.sequence, segments = i.segments,
          delivered_segments = i.delivered, unknown_segments = i.unknown, carrier_id = i.carrier_id,
          sent_at = i.sent_at, updated_at = i.updated_at, mccmnc = i.mccmnc, error_code = i.error_code,
          carrier_code = i.carrier_code, price = i.price, ptf = i.ptf, currency = i.currency, route_id = i.route_id,
          route_reason = i.route_reason, cut = i.cut
      from json_to_recordset($1) as i (
        plan_id integer, msg_id uuid, status message_status, sequence smallint, segments smallint, delivered bigint,
        unknown bigint, carrier_id integer, sent_at timestamptz, updated_at timestamptz, mccmnc text, error_code text,
        carrier_code text, price numeric, ptf numeric, currency text, route_id integer, route_reason text, cut text)
      where m.plan_id = i.plan_id and m.msg_id = i.msg_id and m.lane is not distinct from $2::integer`,
    values: [jsonOf(messages.map(rowOf)), lane],
  })
  if (rowCount !== messages.length) throw new NotInLaneError(`${messages.length - (rowCount ?? 0)} messages`)
  // One that a lane has in progress has no row there.
  const waited =
    lane === null ? messages.filter((message) => wasDispatch(message) && changesDispatch(message)) : []
  if (waited.length > 0) await deleteDispatches(tx, waited)
  if (messages.some(hasParticulars)) await insertParticulars(tx, messages)
}

function wasDispatch({ loaded }: MessageInProgress): boolean {
  return loaded?.state.submission !== null
}

/** Its row in dispatches is another than at rest, or is to go. */
export function changesDispatch({ loaded, state }: MessageInProgress): boolean {
  return state.submission !== loaded?.state.submission
}

function rowOf({ msgId, accepted, state }: MessageInProgress) {
  return {
    plan_id: accepted.planId,
    msg_id: msgId,
    status: state.status,
    sequence: state.sequence,
    segments: state.segments,
    delivered: String(BigInt.asIntN(64, state.deliveredSegments)),
    unknown: String(BigInt.asIntN(64, state.unknownSegments)),
    carrier_id: state.carrierId,
    sent_at: state.sentAtMs === null ? null : new Date(state.sentAtMs).toISOString(),
    updated_at: new Date(state.changedAtMs).toISOString(),
    mccmnc: state.mccmnc,
    error_code: state.errorCode,
    carrier_code: state.carrierCode,
    price: state.charge?.price ?? null,
    ptf: state.charge?.ptf ?? null,
    currency: state.charge?.currency ?? null,
    route_id: state.routeId,
    route_reason: state.routeReason,
    cut: state.cut,
  }
}

async function deleteDispatches(tx: Queryable, messages: readonly MessageInProgress[]): Promise<void> {
  await tx.query({
    name: 'delete_dispatches',
    text: `
      delete from dispatches d using unnest($1::uuid[]) as i (msg_id)
      where d.bucket = any (array[get_byte(uuid_send(i.msg_id), 15)]) and d.msg_id = i.msg_id`,
    values: [messages.map(({ msgId }) => msgId)],
  })
}

function hasParticulars({ submissions, attempts, receipts }: MessageInProgress): boolean {
  return submissions.length + attempts.length + receipts.length > 0
}

/** What comes again (a carrier's id, a receipt) is there already. Of a segment the first final receipt is kept. */
async function insertParticulars(tx: Queryable, messages: readonly MessageInProgress[]): Promise<void> {
  await tx.query({
    name: 'insert_particulars',
    text: `
      with kept as (
        update submissions s
        set outcome = i.outcome, error_code = i.error_code, carrier_code = i.carrier_code, receipt_at = i.receipt_at
        from json_to_recordset($1) as i (
          carrier_id integer, carrier_message_id text, msg_id uuid, segment smallint, outcome message_status,
          error_code text, carrier_code text, receipt_at timestamptz)
        where i.outcome is not null and s.carrier_id = i.carrier_id and s.carrier_message_id = i.carrier_message_id
          and s.msg_id = i.msg_id and s.segment = i.segment
          and (s.outcome is null or s.outcome = 'UNKNOWN' and i.outcome <> 'UNKNOWN')
      ), accepted as (
        insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment, cut, outcome, error_code,
                                 carrier_code, receipt_at)
        select * from json_to_recordset($1) as i (
          carrier_id integer, carrier_message_id text, msg_id uuid, plan_id integer, segment smallint, cut text,
          outcome message_status, error_code text, carrier_code text, receipt_at timestamptz)
        on conflict do nothing
      ), attempted as (
        insert into submit_attempts (msg_id, attempted_at, carrier_id, outcome, command_status, resubmission, reason)
        select * from json_to_recordset($2) as i (
          msg_id uuid, attempted_at timestamptz, carrier_id integer, outcome attempt_outcome, command_status bigint,
          resubmission boolean, reason text)
        on conflict do nothing
      )
      insert into receipts (msg_id, carrier_message_id, received_at, carrier_id, outcome, error_code, receipt)
      select * from json_to_recordset($3) as i (
        msg_id uuid, carrier_message_id text, received_at timestamptz, carrier_id integer, outcome message_status,
        error_code text, receipt json)
      on conflict do nothing`,
    values: [
      jsonOf(messages.flatMap(submissionRows)),
      jsonOf(messages.flatMap(attemptRows)),
      jsonOf(messages.flatMap(receiptRows)),
    ],
  })
}

function submissionRows({ msgId, accepted, submissions }: MessageInProgress) {
  return submissions.map(({ carrierId, carrierMessageId, segment, cut, receipt }) => ({
    carrier_id: carrierId,
    carrier_message_id: carrierMessageId,
    msg_id: msgId,
    plan_id: accepted.planId,
    segment,
    cut,
    outcome: receipt?.evidence.outcome ?? null,
    error_code: receipt?.evidence.errorCode ?? null,
    carrier_code: receipt?.carrierCode ?? null,
    receipt_at: receipt?.evidence.receivedAt ?? null,
  }))
}

function attemptRows({ msgId, attempts }: MessageInProgress) {
  return attempts.map(({ atMs, carrierId, outcome, commandStatus, resubmission, reason }) => ({
    msg_id: msgId,
    attempted_at: new Date(atMs).toISOString(),
    carrier_id: carrierId,
    outcome,
    command_status: commandStatus,
    resubmission,
    reason,
  }))
}

function receiptRows({ msgId, receipts }: MessageInProgress) {
  return receipts.map(({ carrierId, carrierMessageId, receivedAt, outcome, errorCode, kept }) => ({
    msg_id: msgId,
    carrier_message_id: carrierMessageId,
    received_at: receivedAt,
    carrier_id: carrierId,
    outcome,
    error_code: errorCode,
    receipt: kept,
  }))
}

/** PostgreSQL stores no NUL in a text, and no half of a surrogate pair. */
function jsonOf(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value) =>
    typeof value === 'string' ? storable(value).toWellFormed() : value,
  )
}

/** Deliveries of messages that earlier ones of theirs wait for: nobody has them in memory, and none is due before those. */
export async function insertWaitingDeliveries(
  tx: Queryable,
  messages: readonly { readonly message: MessageInProgress; readonly events: readonly StatusEvent[] }[],
): Promise<void> {
  const rows = messages.flatMap(({ message: { msgId, accepted }, events }) =>
    events.map(({ sequence, occurredAtMs }) => ({
      plan_id: accepted.planId,
      msg_id: msgId,
      seq: sequence,
      occurred_at: new Date(occurredAtMs).toISOString(),
    })),
  )
  if (rows.length === 0) return
  await tx.query({
    name: 'insert_waiting_deliveries',
    text: `
      insert into event_deliveries (plan_id, msg_id, seq, bucket, due_at, began_at)
      select i.plan_id, i.msg_id, i.seq, get_byte(uuid_send(i.msg_id), 15), greatest(i.occurred_at, earlier.due_at),
             i.occurred_at
      from json_to_recordset($1) as i (plan_id integer, msg_id uuid, seq smallint, occurred_at timestamptz)
      cross join lateral (
        select max(e.due_at) filter (where e.holder is null) as due_at from event_deliveries e
        where e.plan_id = any (array[i.plan_id]) and e.msg_id = i.msg_id and e.state <> 'failed'
      ) earlier`,
    values: [JSON.stringify(rows)],
  })
}

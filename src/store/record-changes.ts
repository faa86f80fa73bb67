/** Part of `writeRecords`: writes what is new in messages that have a record. They are few at a time, so it uses JSON. */
import { bucketOf, createdAtMs } from '../domain/identifiers.ts'
import {
  isTextDiscarded,
  type MessageInProgress,
  type StatusEvent,
} from '../domain/journal/messages-in-progress.ts'
import { byPlan, isSharded, ofPlan } from './citus.ts'
import { storable } from './copy.ts'
import { type Queryable, RowFaultError } from './database.ts'
import { dueOf } from './event-deliveries.ts'
import { drawnPositions, drawPositions, type FeedPositions } from './event-feed.ts'

/** Another lane took the message out of its record, or it is written there already. */
export class NotInLaneError extends RowFaultError {
  override readonly name = 'NotInLaneError'
}

/** A message with a record. */
export interface Change {
  readonly message: MessageInProgress
  /** Its events that are to be delivered. `holder`: the node that has the event in memory, if none waits before it. */
  readonly undelivered: readonly { readonly event: StatusEvent; readonly holder: number | null }[]
}

/** The lane that has them; null: they are at rest. `stays`: the lane keeps them in progress. */
interface InLane {
  readonly lane: number | null
  readonly stays: boolean
}

/**
 * Writes what is new in these messages. `held`: ids of messages whose deliveries have a holder, because no earlier event
 * waits. Whether one does is read with the row locked; a lane has known since it took the message. `positions`: in the
 * feeds of the plans `announcing`, for events that are yet to be written.
 *
 * @throws NotInLaneError when not all of them are with `lane`, or at rest
 */
export async function updateRecords(
  tx: Queryable,
  unordered: readonly Change[],
  { lane, stays }: InLane,
  announcing: readonly number[],
): Promise<Updated> {
  // Everybody locks rows in the order of their keys.
  const changes = unordered.toSorted(byKey)
  const messages = changes.map(({ message }) => message)
  const changed = messages.filter(({ state, loaded }) => lane !== null || state !== loaded?.state)
  // A message that a lane has in progress has no row there.
  const waited =
    lane === null ? messages.filter((message) => wasDispatch(message) && changesDispatch(message)) : []
  if (waited.length > 0) await deleteDispatches(tx, waited)
  const particular = messages.filter(hasParticulars)
  if (particular.length > 0) await insertParticulars(tx, particular)
  const inLane = { lane, stays }
  if (isSharded(tx)) return await updateByPlan(tx, { changes, changed, inLane, announcing })
  return await updateAtOnce(tx, { changes, changed, inLane, announcing })
}

function byKey({ message: one }: Change, { message: other }: Change): number {
  return one.accepted.planId - other.accepted.planId || (one.msgId < other.msgId ? -1 : 1)
}

interface Update {
  readonly changes: readonly Change[]
  /** Messages whose rows change. */
  readonly changed: readonly MessageInProgress[]
  readonly inLane: InLane
  readonly announcing: readonly number[]
}

interface Updated {
  readonly held: ReadonlySet<string>
  readonly positions: FeedPositions
}

/**
 * Of the messages $1, those with the lane $2. By its key alone (docs/adr/0006): with the lane as another condition, each message
 * was compared with each row.
 */
const CHANGED = `
  update messages m
  set lane = $3::integer, status = i.status, event_sequence = i.sequence, segments = i.segments,
      delivered_bits = i.delivered, unknown_bits = i.unknown, carrier_id = i."carrierId",
      sent_at = i."sentAt", updated_at = i."updatedAt", mccmnc = i.mccmnc, error_code = i."errorCode",
      carrier_code = i."carrierCode", price = i.price, ptf = i.ptf, currency = i.currency, route_id = i."routeId",
      route_reason = i."routeReason", segmentation = i.segmentation,
      body = case when i."discardsText" then '' else m.body end
  from json_to_recordset($1) as i (
    "planId" integer, "msgId" uuid, status message_status, sequence smallint, segments smallint, delivered bigint,
    unknown bigint, "carrierId" integer, "sentAt" timestamptz, "updatedAt" timestamptz, mccmnc text,
    "errorCode" text, "carrierCode" text, price numeric, ptf numeric, currency text, "routeId" integer,
    "routeReason" text, segmentation text, "discardsText" boolean)
  where m.plan_id = any (array[i."planId"]) and m.msg_id = i."msgId" and m.lane is not distinct from $2::integer`

/** `rows`: the parameter with them. */
const announced = (rows: string) => `
  announced as (
    insert into event_deliveries (plan_id, msg_id, sequence, bucket, holder, due_at, began_at)
    select i."planId", i."msgId", i.sequence, i.bucket, case when not coalesce(i.waits, earlier.waits) then i.holder end,
           greatest(i."occurredAt", ${dueOf({ planId: 'i."planId"', msgId: 'i."msgId"', where: 'true' })}), i."occurredAt"
    from json_to_recordset(${rows}) as i (
      "planId" integer, "msgId" uuid, sequence smallint, bucket smallint, holder integer, waits boolean,
      "occurredAt" timestamptz)
    cross join lateral (
      select count(*) > 0 as waits from event_deliveries e
      where e.plan_id = any (array[i."planId"]) and e.msg_id = i."msgId" and e.state <> 'failed'
    ) earlier
    returning msg_id, holder
  )`
const HELD = 'array(select msg_id from announced where holder is not null) as held'

async function updateAtOnce(
  tx: Queryable,
  { changes, changed, inLane: { lane, stays }, announcing }: Update,
): Promise<Updated> {
  const { rows } = await tx.query<{ updated: number; held: string[]; positions: FeedPositions }>({
    name: 'update_records',
    text: `
      with changed as (${CHANGED} returning 1), ${drawnPositions(`
        select plan_id from unnest($5::integer[]) as i (plan_id)
        -- First the rows of the messages are locked.
        where (select count(*) from changed) is not null`)}, ${announced('$4')}
      select (select count(*)::integer from changed) as updated, ${HELD}, drawn.positions from drawn`,
    values: [jsonOf(changed.map(rowOf)), lane, stays ? lane : null, deliveriesOf(changes, lane), announcing],
  })
  const { updated, held, positions } = rows[0]!
  mustBeAll(updated, changed)
  return { held: new Set(held), positions }
}

/** Each part on the server of its plan. As one statement, Citus would send the results of its parts to every worker. */
async function updateByPlan(
  tx: Queryable,
  { changes, changed, inLane: { lane, stays }, announcing }: Update,
): Promise<Updated> {
  // First the rows of all messages are locked, then those of feeds.
  for (const { planId, items } of byPlan(tx, changed, ({ accepted }) => accepted.planId)) {
    const { rowCount } = await tx.query({
      text: `${CHANGED} and ${ofPlan('m', '$4')}`,
      values: [jsonOf(items.map(rowOf)), lane, stays ? lane : null, planId],
    })
    mustBeAll(rowCount ?? 0, items)
  }
  const positions = announcing.length > 0 ? await drawPositions(tx, announcing) : {}
  const { rows } = await tx.query<{ held: string[] }>({
    text: `with ${announced('$1')} select ${HELD}`,
    values: [deliveriesOf(changes, lane)],
  })
  return { held: new Set(rows[0]!.held), positions }
}

function mustBeAll(updated: number, changed: readonly MessageInProgress[]): void {
  if (updated !== changed.length) throw new NotInLaneError(`${changed.length - updated} messages`)
}

function deliveriesOf(changes: readonly Change[], lane: number | null): string {
  return JSON.stringify(changes.flatMap((change) => deliveryRows(change, lane)))
}

function wasDispatch({ loaded }: MessageInProgress): boolean {
  return loaded?.state.dispatch !== null
}

/** Its row in dispatches differs from that at rest, or is to go. */
export function changesDispatch({ loaded, state }: MessageInProgress): boolean {
  return state.dispatch !== loaded?.state.dispatch
}

/** Absent values are NULL: usually half of the columns. */
function rowOf(message: MessageInProgress) {
  const { msgId, accepted, state } = message
  return {
    planId: accepted.planId,
    msgId,
    status: state.status,
    sequence: state.sequence,
    segments: state.segments,
    delivered: String(BigInt.asIntN(64, state.deliveredBits)),
    unknown: String(BigInt.asIntN(64, state.unknownBits)),
    carrierId: state.carrierId ?? undefined,
    sentAt: instantOf(state.sentAtMs),
    updatedAt: instantOf(state.changedAtMs),
    mccmnc: state.mccmnc ?? undefined,
    errorCode: state.errorCode,
    carrierCode: state.carrierCode ?? undefined,
    ...state.charge,
    routeId: state.routeId ?? undefined,
    routeReason: state.routeReason ?? undefined,
    segmentation: state.segmentation ?? undefined,
    discardsText: isTextDiscarded(message) || undefined,
  }
}

function deliveryRows({ message: { msgId, accepted, loaded }, undelivered }: Change, lane: number | null) {
  return undelivered.map(({ event, holder }) => ({
    planId: accepted.planId,
    msgId,
    sequence: event.sequence,
    bucket: bucketOf(msgId),
    holder: holder ?? undefined,
    waits: lane === null ? undefined : (loaded?.hasWaitingEvents ?? false),
    occurredAt: instantOf(event.occurredAtMs),
  }))
}

function instantOf(atMs: number | null): string | undefined {
  return atMs === null ? undefined : new Date(atMs).toISOString()
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
  return submissions.some(isNew) || attempts.length + receipts.length > 0
}

/** A recorded segment changes only with a receipt. */
function isNew({ isRecorded, receipt }: MessageInProgress['submissions'][number]): boolean {
  return isRecorded !== true || receipt !== null
}

/** A carrier's id or a receipt that comes again is there already. The first final receipt of a segment is kept. */
async function insertParticulars(tx: Queryable, messages: readonly MessageInProgress[]): Promise<void> {
  await tx.query({
    name: 'insert_particulars',
    // `= any (array[…])`: docs/adr/0006.
    text: `
      with kept as (
        update submissions s
        set outcome = i.outcome, error_code = i."errorCode", carrier_code = i."carrierCode", receipt_at = i."receiptAt"
        from json_to_recordset($1) as i (
          "carrierId" integer, "carrierMessageId" text, "msgId" uuid, segment smallint, outcome message_status,
          "errorCode" text, "carrierCode" text, "receiptAt" timestamptz)
        where i.outcome is not null and s.carrier_id = any (array[i."carrierId"])
          and s.carrier_message_id = i."carrierMessageId" and s.msg_id = i."msgId" and s.segment = i.segment
          and (s.outcome is null or s.outcome = 'UNKNOWN' and i.outcome <> 'UNKNOWN')
      ), accepted as (
        insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, answered_ms, latency_ms, segment,
                                 segmentation, outcome, error_code, carrier_code, receipt_at)
        select * from json_to_recordset($1) as i (
          "carrierId" integer, "carrierMessageId" text, "msgId" uuid, "planId" integer, "answeredMs" integer,
          "latencyMs" integer, segment smallint, segmentation text, outcome message_status, "errorCode" text,
          "carrierCode" text, "receiptAt" timestamptz)
        on conflict do nothing
      ), attempted as (
        insert into submit_attempts (plan_id, msg_id, attempted_at, took_ms, carrier_id, outcome, command_status, segment,
                                     resubmission, reason)
        select * from json_to_recordset($2) as i (
          "planId" integer, "msgId" uuid, "attemptedAt" timestamptz, "tookMs" integer, "carrierId" integer, outcome attempt_outcome,
          "commandStatus" bigint, segment smallint, resubmission boolean, reason text)
        on conflict do nothing
      )
      insert into receipts (plan_id, msg_id, carrier_message_id, received_at, matched_at, carrier_id, outcome, error_code,
                            receipt)
      select * from json_to_recordset($3) as i (
        "planId" integer, "msgId" uuid, "carrierMessageId" text, "receivedAt" timestamptz, "matchedAt" timestamptz, "carrierId" integer,
        outcome message_status, "errorCode" text, kept json)
      on conflict do nothing`,
    values: [
      jsonOf(messages.flatMap(submissionRows)),
      jsonOf(messages.flatMap(attemptRows)),
      jsonOf(messages.flatMap(receiptRows)),
    ],
  })
}

function submissionRows({ msgId, accepted: { planId }, submissions }: MessageInProgress) {
  return submissions.filter(isNew).map(({ receipt, ...submission }) => ({
    planId,
    msgId,
    ...submission,
    answeredMs: answeredMs(msgId, submission),
    outcome: receipt?.evidence.outcome,
    errorCode: receipt?.evidence.errorCode,
    carrierCode: receipt?.carrierCode,
    receiptAt: receipt?.evidence.receivedAt,
  }))
}

/** 24 days. Only a clock that was set wrong goes beyond. */
const MOST_INTEGER = 2 ** 31 - 1

/** When the answer to a segment came, as its row has it: in milliseconds since the message was accepted. */
export function answeredMs(msgId: string, { atMs }: { readonly atMs: number | null }): number | null {
  if (atMs === null) return null
  return Math.max(-MOST_INTEGER, Math.min(atMs - createdAtMs(msgId), MOST_INTEGER))
}

function attemptRows({ msgId, accepted: { planId }, attempts }: MessageInProgress) {
  return attempts.map((attempt) => ({ planId, msgId, ...attempt, attemptedAt: instantOf(attempt.atMs) }))
}

function receiptRows({ msgId, accepted: { planId }, receipts }: MessageInProgress) {
  return receipts.map((receipt) => ({ planId, msgId, ...receipt, matchedAt: instantOf(receipt.matchedAtMs) }))
}

/** PostgreSQL stores neither a NUL nor half of a surrogate pair in a text. JSON escapes both. */
function jsonOf(rows: readonly object[]): string {
  const text = JSON.stringify(rows)
  if (!/\\u(?:0000|d[89a-f])/.test(text)) return text
  return JSON.stringify(rows, (_, value) =>
    typeof value === 'string' ? storable(value).toWellFormed() : value,
  )
}

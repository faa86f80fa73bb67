/**
 * Writes the records of messages: the rows of a message and of everything that belongs to it. No other code writes them,
 * whether a message has no record yet, comes back from memory or was changed at rest.
 */
import { bucketOf } from '../domain/identifiers.ts'
import type { Accepted } from '../domain/journal/message-facts.ts'
import { unansweredSubmits } from '../domain/journal/messages-in-doubt.ts'
import {
  isTextDiscarded,
  type MessageInProgress,
  type StatusEvent,
} from '../domain/journal/messages-in-progress.ts'
import { isSharded, markAsWritten } from './citus.ts'
import { CopyRows, copyIn, storable } from './copy.ts'
import type { Queryable, Transaction } from './database.ts'
import { drawPositions, type FeedPositions } from './event-feed.ts'
import { noteKindsInstead, type OfAKind } from './message-kinds.ts'
import { answeredMs, changesDispatch, updateRecords } from './record-changes.ts'
import { addUnansweredSubmits } from './unanswered-submits.ts'

export interface Projected {
  readonly message: MessageInProgress
  /** The node that has its events in memory, to deliver them; null: none. */
  readonly holder: number | null
  /** Its events go to a URL. Those that are not taken get a delivery. */
  readonly delivers: boolean
  /** The last event that gets no delivery all the same: it was made when there was no URL. Default: none. */
  readonly unpushed?: number
  /** Sequences of events that `holder` does not have in memory. */
  readonly inRecords?: ReadonlySet<number>
}

/**
 * Writes these messages, in the transaction `tx`. Messages that were taken out of their records are written only where
 * the record says that `lane` has them; null: they are at rest, and locked by `tx`. `stays`: `lane` keeps them in
 * progress. `kindsAreNoted`: by `withKindsNoted`. Returns the ids of those with a record whose new deliveries have a
 * holder.
 *
 * @throws NotInLaneError when one of them is another's, or is written already
 */
export async function writeRecords(
  tx: Transaction,
  records: readonly Projected[],
  lane: number | null,
  {
    stays = false,
    kindsAreNoted = false,
  }: { readonly stays?: boolean; readonly kindsAreNoted?: boolean } = {},
): Promise<ReadonlySet<string>> {
  const fresh = records.filter(({ message }) => message.loaded === null)
  const known = records.filter(({ message }) => message.loaded !== null)
  // All that belongs to them is new, except their own rows, so it is written as for a message without a record.
  const untouched = new Set(lane === null ? [] : known.filter(isUntouched))
  const changes = known.map((one) =>
    untouched.has(one)
      ? { message: { ...one.message, ...NOTHING_OF_IT }, undelivered: [] }
      : { message: one.message, undelivered: undelivered(one) },
  )
  const waiting = lane === null ? known.filter(({ message }) => changesDispatch(message)) : known
  const { onServers, atCoordinator } = recordsOf([...fresh, ...untouched], stays ? lane : null)
  // Of several servers, one that hangs then holds up no lock on the coordinator.
  const coordinatorIsLast = isSharded(tx)
  const announcing = records.filter(({ message }) => message.events.length > 0)
  const plans = plansOf(announcing)
  if (!kindsAreNoted) await noteKindsInstead(tx, records.map(kindOf))
  // A position that is drawn marks the others.
  if (isSharded(tx))
    await markAsWritten(
      tx,
      plansOf(records).filter((planId) => !plans.includes(planId)),
    )
  await copyIn(tx, coordinatorIsLast ? onServers : [...onServers, ...atCoordinator])
  const events = eventsOf(announcing)
  const { held, positions } =
    changes.length > 0
      ? await updateRecords(tx, changes, { lane, stays }, plans)
      : { held: NONE_HELD, positions: plans.length > 0 ? await drawPositions(tx, plans) : {} }
  const queued = stays ? [] : dispatchesOf([...fresh, ...waiting])
  const unanswered = records.flatMap(({ message }) => unansweredSubmits(message))
  if (unanswered.length > 0) await addUnansweredSubmits(tx, unanswered)
  const announced = events.at(positions)
  await copyIn(tx, coordinatorIsLast ? [announced, ...atCoordinator, ...queued] : [...queued, announced])
  return held
}

function plansOf(records: readonly Projected[]): number[] {
  return [...new Set(records.map(({ message }) => message.accepted.planId))]
}

/** The kind that the message is listed by. Nothing changes the message while it is projected. */
export function kindOf({ message: { msgId, accepted, state } }: Projected): OfAKind {
  const { planId, sender, country } = accepted
  return { planId, msgId, sender, country, mccmnc: state.mccmnc, status: state.status }
}

const NONE_HELD: ReadonlySet<string> = new Set()
const NOTHING_OF_IT = { submissions: [], attempts: [], receipts: [] }

/**
 * True when no carrier was offered any of it before it was taken out of its record, and nothing was announced. For a
 * message in doubt, parts may be on record under ids that a carrier now repeats.
 */
function isUntouched({ message: { loaded, submissions } }: Projected): boolean {
  const { sequence = 1, dispatch = null } = loaded?.state ?? {}
  return (
    sequence === 0 &&
    dispatch !== null &&
    dispatch.failedAttempts === 0 &&
    !dispatch.ambiguous &&
    dispatch.carrierId === null &&
    dispatch.acceptedPduBits === 0n &&
    !dispatch.startedOver &&
    submissions.every(({ isRecorded }) => isRecorded !== true)
  )
}

interface CopiedRecords {
  /** Rows that are on several servers where there are several. */
  readonly onServers: CopyRows[]
  readonly atCoordinator: CopyRows[]
}

/** `lane`: from now on has those without a record in progress. */
function recordsOf(copied: readonly Projected[], lane: number | null): CopiedRecords {
  const to = emptyRecords()
  for (const one of copied) {
    const { message } = one
    if (message.loaded === null) writeMessage(to.messages, message, lane)
    writeSubmissions(to.submissions, message)
    writeAttempts(to.attempts, message)
    writeReceipts(to.receipts, message)
    writeDeliveries(to.deliveries, one)
  }
  return {
    onServers: [to.messages, to.attempts, to.receipts],
    atCoordinator: [to.submissions, to.deliveries],
  }
}

function dispatchesOf(waiting: readonly Projected[]): CopyRows[] {
  const { dispatches } = emptyRecords()
  for (const one of waiting) writeDispatch(dispatches, one)
  return [dispatches]
}

/** Encoded before their positions are drawn, since everyone else who writes events of the plans waits from then on. */
function eventsOf(announcing: readonly Projected[]): { at(positions: FeedPositions): CopyRows } {
  const rows = new CopyRows('events')
  const places: { readonly planId: number; readonly at: number }[] = []
  for (const { message } of announcing)
    for (const event of message.events)
      places.push({ planId: message.accepted.planId, at: writeEvent(rows, message, event) })
  return {
    at(positions) {
      for (const { planId, at } of places) rows.setBits(at, BigInt(positions[planId]!))
      return rows
    },
  }
}

/** Events that are still to be pushed, and who has them in memory. */
function undelivered({ message, holder, delivers, unpushed = 0, inRecords }: Projected) {
  if (!delivers) return []
  return message.events
    .filter(({ taken, sequence }) => taken === null && sequence > unpushed)
    .map((event) => ({ event, holder: inRecords?.has(event.sequence) ? null : holder }))
}

function emptyRecords() {
  return {
    messages: new CopyRows('messages'),
    dispatches: new CopyRows('dispatches'),
    submissions: new CopyRows('submissions'),
    attempts: new CopyRows('submit_attempts'),
    receipts: new CopyRows('receipts'),
    deliveries: new CopyRows('event_deliveries'),
  }
}

function writeMessage(to: CopyRows, message: MessageInProgress, lane: number | null): void {
  const { msgId, accepted, state } = message
  to.row()
  to.int4('plan_id', accepted.planId)
  to.uuid('msg_id', msgId)
  to.text('status', state.status)
  to.int2('event_sequence', state.sequence)
  to.int2('segments', state.segments)
  to.bits('delivered_bits', state.deliveredBits)
  to.bits('unknown_bits', state.unknownBits)
  to.int4('carrier_id', state.carrierId)
  to.timestamptz('sent_at', state.sentAtMs)
  to.timestamptz('updated_at', state.changedAtMs)
  to.text('sender', accepted.sender)
  to.text('recipient', accepted.recipient)
  to.text('body', isTextDiscarded(message) ? '' : accepted.body)
  to.text('callback_url', accepted.callbackUrl)
  to.text('country', accepted.country)
  to.text('mccmnc', state.mccmnc)
  to.text('error_code', state.errorCode)
  to.text('carrier_code', state.carrierCode)
  to.amount('price', state.charge?.price ?? null)
  to.amount('ptf', state.charge?.ptf ?? null)
  to.text('currency', state.charge?.currency ?? null)
  to.int4('route_id', state.routeId)
  to.text('route_reason', state.routeReason)
  to.text('segmentation', state.segmentation)
  to.int4('lane', lane)
  to.bool('discards_text', accepted.discardsText || null)
}

function writeDispatch(to: CopyRows, { message }: Projected): void {
  const { msgId, accepted, state } = message
  const { dispatch } = state
  if (dispatch === null) return
  to.row()
  to.int2('bucket', bucketOf(msgId))
  to.uuid('msg_id', msgId)
  to.int4('plan_id', accepted.planId)
  to.int2('failed_attempts', dispatch.failedAttempts)
  to.bits('accepted_pdu_bits', dispatch.acceptedPduBits)
  to.bool('ambiguous', dispatch.ambiguous)
  to.timestamptz('due_at', dispatch.dueAtMs)
  to.timestamptz('expires_at', accepted.expiresAtMs)
  to.int4('route_id', dispatch.routeId)
  to.int4('chosen_carrier_id', dispatch.chosenCarrierId)
  to.int4('carrier_id', dispatch.carrierId)
  to.text('segmentation', dispatch.segmentation)
  to.bool('started_over', dispatch.startedOver)
}

function writeSubmissions(to: CopyRows, { msgId, accepted, submissions }: MessageInProgress): void {
  const keyOf = (one: (typeof submissions)[number]) =>
    `${one.carrierId} ${one.segment} ${storable(one.carrierMessageId)}`
  for (const one of firstOfEachKey(submissions, keyOf)) {
    to.row()
    to.int4('carrier_id', one.carrierId)
    to.text('carrier_message_id', one.carrierMessageId)
    to.uuid('msg_id', msgId)
    to.int4('plan_id', accepted.planId)
    to.int4('answered_ms', answeredMs(msgId, one))
    to.int4('latency_ms', one.latencyMs)
    to.int2('segment', one.segment)
    to.text('outcome', one.receipt?.evidence.outcome ?? null)
    to.text('error_code', one.receipt?.evidence.errorCode ?? null)
    to.text('carrier_code', one.receipt?.carrierCode ?? null)
    writeInstant(to, 'receipt_at', one.receipt?.evidence.receivedAt ?? null)
    to.text('segmentation', one.segmentation)
  }
}

function writeAttempts(to: CopyRows, { msgId, accepted, attempts }: MessageInProgress): void {
  for (const one of firstOfEachKey(attempts, ({ atMs }) => atMs)) {
    to.row()
    to.int4('plan_id', accepted.planId)
    to.uuid('msg_id', msgId)
    to.timestamptz('attempted_at', one.atMs)
    to.int4('took_ms', one.tookMs)
    to.int4('carrier_id', one.carrierId)
    to.text('outcome', one.outcome)
    to.int8('command_status', one.commandStatus)
    to.int2('segment', one.segment)
    to.bool('resubmission', one.resubmission)
    to.text('reason', one.reason)
  }
}

function writeReceipts(to: CopyRows, { msgId, accepted, receipts }: MessageInProgress): void {
  const keyOf = (one: (typeof receipts)[number]) =>
    `${one.receivedAt} ${one.outcome} ${storable(one.carrierMessageId)}`
  for (const one of firstOfEachKey(receipts, keyOf)) {
    to.row()
    to.int4('plan_id', accepted.planId)
    to.uuid('msg_id', msgId)
    to.text('carrier_message_id', one.carrierMessageId)
    writeInstant(to, 'received_at', one.receivedAt)
    to.timestamptz('matched_at', one.matchedAtMs)
    to.int4('carrier_id', one.carrierId)
    to.text('outcome', one.outcome)
    to.text('error_code', one.errorCode)
    to.text('receipt', one.kept && JSON.stringify(one.kept))
  }
}

/** Returns where its position is to be. */
function writeEvent(to: CopyRows, { msgId, accepted }: MessageInProgress, event: StatusEvent): number {
  const { taken } = event
  to.row()
  to.int4('plan_id', accepted.planId)
  to.uuid('msg_id', msgId)
  to.int2('sequence', event.sequence)
  const position = to.bitsToCome('position')
  to.text('status', event.status)
  to.text('error_code', event.errorCode)
  to.text('mccmnc', event.mccmnc)
  to.amount('price', event.charge?.price ?? null)
  to.amount('ptf', event.charge?.ptf ?? null)
  to.text('currency', event.charge?.currency ?? null)
  to.timestamptz('sent_at', event.sentAtMs)
  to.timestamptz('occurred_at', event.occurredAtMs)
  to.timestamptz('delivered_at', taken && taken.attemptedAtMs + taken.latencyMs)
  to.int2('attempts', taken && 1)
  to.int4('latency_ms', taken?.latencyMs ?? null)
  to.int2('response_status', taken?.responseStatus ?? null)
  to.text('response_head', taken?.responseHead ?? null)
  to.text('destination', taken?.destination ?? null)
  to.text('receipt', event.receipt && JSON.stringify(event.receipt))
  return position
}

/** An event waits behind earlier unfinished ones of its message: nobody takes it before them (takeDueEvents). */
function writeDeliveries(to: CopyRows, one: Projected): void {
  const { msgId, accepted } = one.message
  for (const { event, holder } of undelivered(one)) {
    to.row()
    to.int4('plan_id', accepted.planId)
    to.uuid('msg_id', msgId)
    to.int2('sequence', event.sequence)
    to.int2('bucket', bucketOf(msgId))
    to.int4('holder', holder)
    to.timestamptz('due_at', event.occurredAtMs)
    to.timestamptz('began_at', event.occurredAtMs)
  }
}

/** ISO 8601, of which a Date keeps milliseconds. */
function writeInstant(to: CopyRows, column: string, at: string | null): void {
  const us = /\.\d{3}(\d{1,3})/.exec(at ?? '')?.[1] ?? ''
  to.timestamptz(column, at === null ? null : Date.parse(at), Number(us.padEnd(3, '0')))
}

/** As "on conflict do nothing" has it. */
function firstOfEachKey<T>(items: readonly T[], keyOf: (item: T) => unknown): readonly T[] {
  if (items.length < 2) return items
  const keys = new Set<unknown>()
  return items.filter((item) => keys.size < keys.add(keyOf(item)).size)
}

/** A message that is being accepted. Its columns, in their JSON form. */
export interface NewMessage {
  readonly msgId: string
  readonly accepted: Omit<Accepted, 'kind'>
}

const NEW_MESSAGE_COLUMNS = `(
  "planId" integer, "msgId" uuid, sender text, recipient text, body text, segments smallint, country text,
  "callbackUrl" text)`

function columnsOf(messages: readonly NewMessage[]): string {
  return JSON.stringify(
    messages.map(({ msgId, accepted }) => ({
      ...accepted,
      msgId,
      // They are FAILED, which is an end.
      ...(accepted.discardsText && { body: '' }),
    })),
  )
}

/**
 * Decides about messages whose COMMIT was not answered: stores each as FAILED unless it is there already. Returned ids were not
 * there, or only by an earlier call that was not answered either, and can never be stored as QUEUED afterwards. All others
 * were committed.
 */
export async function decideUncertainMessages(
  db: Queryable,
  messages: readonly NewMessage[],
  errorCode: string,
): Promise<Set<string>> {
  const kinds = messages.map(({ msgId, accepted: { planId, sender, country } }) => ({
    planId,
    msgId,
    sender,
    country,
    mccmnc: null,
    status: 'FAILED' as const,
  }))
  await noteKindsInstead(db, kinds)
  const { rows } = await db.query<{ msgId: string }>({
    name: 'decide_uncertain_messages',
    text: `
      insert into messages as m (plan_id, msg_id, sender, recipient, body, segments, country, callback_url, updated_at,
                                 status, error_code)
      select i.*, now(), 'FAILED', $2 from json_to_recordset($1) as i ${NEW_MESSAGE_COLUMNS}
      on conflict (plan_id, msg_id) do update set updated_at = m.updated_at
        where m.status = 'FAILED' and m.error_code = excluded.error_code
      returning msg_id as "msgId"`,
    values: [columnsOf(messages), errorCode],
  })
  return new Set(rows.map(({ msgId }) => msgId))
}

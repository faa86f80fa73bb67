/** Messages in the database without the service: stored as if accepted, and what became of them. */

import type { EventHolder } from '../../src/domain/events.ts'
import type { IncomingReceipt } from '../../src/domain/journal/incoming-receipts.ts'
import type { Settled } from '../../src/domain/journal/message-facts.ts'
import { type ChangedMessage, messageInProgress } from '../../src/domain/journal/messages-in-progress.ts'
import { recordFacts } from '../../src/operations/record-facts.ts'
import { type ReceiptOptions, recordReceipts } from '../../src/operations/record-receipts.ts'
import type { OutcomeFacts } from '../../src/services/messages/journal-items.ts'
import { type Database, withTransaction } from '../../src/store/database.ts'
import { writeRecords } from '../../src/store/records.ts'
import { aDirectory } from './directory.ts'
import { CARRIER_ID, newId } from './installation.ts'
import { settledFact, submittedFact } from './messages-in-memory.ts'

export const NODE = 1
/** Above every id a test makes. */
const NEWEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The node that holds every event. */
export const HOLDER: EventHolder = {
  nodeId: NODE,
  buckets: Array.from({ length: 256 }, (_, bucket) => bucket),
}
export const NOBODY: EventHolder = { nodeId: null, buckets: [] }

/** A message at rest, in the names of its columns. */
export interface NewMessage {
  readonly plan_id: number
  readonly msg_id: string
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly segments: number
  readonly country: string | null
  readonly callback_url: string | null
  readonly route_id: number | null
  readonly chosen_carrier_id?: number
  /** It is due then. */
  readonly created_ms: number
  readonly validity_ms: number
}

/** Stores messages with their dispatches. */
export async function insertMessages(db: Database, messages: readonly NewMessage[]): Promise<void> {
  await withTransaction(db, (tx) => writeRecords(tx, messages.map(recordOf), null))
}

export function recordOf(row: NewMessage) {
  const accepted = {
    planId: row.plan_id,
    sender: row.sender,
    recipient: row.recipient,
    body: row.body,
    segments: row.segments,
    country: row.country,
    callbackUrl: row.callback_url,
    optedOut: false,
    discardsText: false,
    begun: false,
    routeId: row.route_id ?? 0,
    expiresAtMs: row.created_ms + row.validity_ms,
  }
  const message = messageInProgress(row.msg_id, accepted, row.chosen_carrier_id)
  const dispatch = { ...message.state.dispatch!, dueAtMs: row.created_ms }
  message.state = { ...message.state, changedAtMs: row.created_ms, dispatch }
  return { message, holder: null, delivers: false }
}

/** Stores a message that waits to be submitted; gives its id. */
export async function storeMessage(
  db: Database,
  planId: number,
  changes: Partial<NewMessage> = {},
): Promise<string> {
  const atMs = Date.now()
  const msgId = changes.msg_id ?? newId(atMs)
  await insertMessages(db, [newMessage(planId, { msg_id: msgId, ...changes })])
  return msgId
}

export function newMessage(planId: number, changes: Partial<NewMessage> = {}): NewMessage {
  const atMs = Date.now()
  return {
    plan_id: planId,
    msg_id: newId(atMs),
    sender: 'Aldis',
    recipient: '+15551230000',
    body: 'hello',
    segments: 1,
    country: 'US',
    callback_url: 'https://example.com/dlr',
    route_id: null,
    created_ms: atMs,
    validity_ms: 86_400_000,
    ...changes,
  }
}

export function sent(planId: number, msgId: string, changes: Partial<Settled> = {}): OutcomeFacts {
  return { planId, msgId, facts: [settledFact(Date.now(), changes)] }
}

export function submission(
  planId: number,
  msgId: string,
  id: string,
  segment = 0,
  segmentation: string | null = null,
): OutcomeFacts {
  return { planId, msgId, facts: [submittedFact(id, segment, segmentation)] }
}

/** From now on only segments of this segmentation count. */
export function startingOver(planId: number, msgId: string, segmentation: string): OutcomeFacts {
  return { planId, msgId, facts: [{ kind: 'started-over', atMs: Date.now(), segmentation }] }
}

export function receipt(
  id: string,
  outcome: IncomingReceipt['outcome'],
  changes: Partial<IncomingReceipt> = {},
): IncomingReceipt {
  return {
    carrierId: CARRIER_ID,
    carrierMessageId: id,
    addresses: ['15551230000'],
    senderName: 'Aldis',
    outcome,
    errorCode: outcome === 'DELIVERED' ? '000' : outcome === 'FAILED' ? '300' : '600',
    carrierCode: outcome,
    mccmnc: '310260',
    receivedAt: new Date().toISOString(),
    parkedId: null,
    untranslated: false,
    receiptedId: null,
    idRule: 'normalised',
    receipt: { text: `id:${id} stat:${outcome}`, tlvs: {} },
    ...changes,
  }
}

/** Of a process that has no message in progress. */
export function receiptOptions(changes: Partial<ReceiptOptions> = {}): ReceiptOptions {
  return {
    directory: aDirectory(),
    holder: HOLDER,
    atMs: Date.now(),
    newestMsgId: NEWEST,
    keepOrLookUpLater: () => false,
    ...changes,
  }
}

/** What a carrier has answered, as facts of messages at rest. Gives what changed. */
export async function recordOutcomes(
  db: Database,
  outcomes: readonly OutcomeFacts[],
  holder: EventHolder = HOLDER,
): Promise<readonly ChangedMessage[]> {
  const facts = outcomes.flatMap(({ facts, ...key }) => facts.map((fact) => ({ ...key, fact })))
  return (await recordFacts(db, facts, { directory: aDirectory(), holder })).changed
}

/** A message with the events SENT and DELIVERED, both waiting. Gives its id. */
export async function storeDelivered(
  db: Database,
  planId: number,
  changes: Partial<NewMessage> = {},
): Promise<string> {
  const msgId = await storeMessage(db, planId, changes)
  await recordOutcomes(db, [submission(planId, msgId, msgId), sent(planId, msgId)], NOBODY)
  await recordReceipts(db, [receipt(msgId, 'DELIVERED')], receiptOptions({ holder: NOBODY }))
  return msgId
}

export interface StoredEvent {
  readonly sequence: number
  readonly status: string
  readonly holder: number | null
}

export async function eventsOf(db: Database, msgId: string): Promise<StoredEvent[]> {
  const { rows } = await db.query<StoredEvent>(
    `select e.sequence, e.status, d.holder
     from events e left join event_deliveries d using (plan_id, msg_id, sequence)
     where e.msg_id = $1 order by e.sequence`,
    [msgId],
  )
  return rows
}

/** Statuses of the events, in their order. */
export async function announced(db: Database, msgId: string): Promise<string[]> {
  return (await eventsOf(db, msgId)).map(({ status }) => status)
}

export async function statusOf(db: Database, msgId: string): Promise<string> {
  const { rows } = await db.query('select status from messages where msg_id = $1', [msgId])
  return rows[0]?.status
}

export async function countOf(
  db: Database,
  table:
    | 'audit_log'
    | 'dispatches'
    | 'idempotency_keys'
    | 'inbound_messages'
    | 'inbound_parts'
    | 'parked_receipts'
    | 'submissions'
    | 'event_deliveries'
    | 'events',
): Promise<number> {
  const { rows } = await db.query(`select count(*)::integer as count from ${table}`)
  return rows[0].count
}

/** How many of the message's events are still to be delivered, or were given up. */
export async function deliveriesOf(db: Database, msgId: string): Promise<number> {
  const { rows } = await db.query('select 1 from event_deliveries where msg_id = $1', [msgId])
  return rows.length
}

/** Empties these tables. With a partition for each day, `truncate` would make some hundred files anew. */
export async function clearTables(db: Database, ...tables: readonly string[]): Promise<void> {
  await db.query(tables.map((table) => `delete from ${table}`).join('; '))
}

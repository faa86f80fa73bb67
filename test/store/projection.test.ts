import pg from 'pg'
import { describe, expect, inject, test } from 'vitest'
import { createdAtMs } from '../../src/domain/identifiers.ts'
import type { MessageInProgress } from '../../src/domain/journal/messages-in-progress.ts'
import { CommitOutcomeUnknownError, isRowFault, isTransient } from '../../src/store/database.ts'
import { appendEntry, cutJournal, openLane, readEntries, takeOverLane } from '../../src/store/journal.ts'
import { findMessageForOperator } from '../../src/store/messages.ts'
import { findAtRest, projectMessages } from '../../src/store/projection.ts'
import { cuttingProxy } from '../support/cutting-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { CARRIER_ID, installedDatabase, newId, otherPool } from '../support/installation.ts'
import { lockWaits } from '../support/lock-waits.ts'
import {
  deliveredFacts,
  evidenceOf,
  inMemory,
  projected,
  receiptFact,
  settledFact,
  submittedFact,
} from '../support/messages-in-memory.ts'
import { eventsOf, NODE } from '../support/stored-messages.ts'

const { db, connectionString, announcedPlan: plan } = await installedDatabase()
const lane = await openLane(db, NODE)

const project = (...messages: MessageInProgress[]) =>
  projectMessages(
    db,
    lane,
    messages.map((message) => projected(message)),
    0,
  )

/** The rows that a message has in these tables, with all columns but its id. */
async function rowsOf(msgId: string, ...tables: string[]): Promise<unknown[]> {
  const found = await Promise.all(
    tables.map((table) =>
      db.query(`select * from ${table} where msg_id = $1 order by ${table}::text`, [msgId]),
    ),
  )
  return found.map(({ rows }) =>
    rows.map(({ msg_id: _, position: __, ...row }) => ({
      ...row,
      ...(row.accepted_pdu_bits !== undefined && { accepted_pdu_bits: String(row.accepted_pdu_bits) }),
    })),
  )
}

test('a message that went straight through is written with its segment and its events', async () => {
  const message = inMemory(plan, (msgId, atMs) => [
    { ...submittedFact(msgId), atMs },
    settledFact(atMs, {
      routeId: 4,
      routeReason: 'the only carrier',
      mccmnc: '26201',
      charge: { price: '0.0075', ptf: '12345678.9', currency: 'EUR' },
    }),
    {
      kind: 'event-taken',
      sequence: 1,
      attemptedAtMs: atMs + 1,
      latencyMs: 12,
      responseStatus: 204,
      responseHead: 'thanks',
      destination: 'https://example.com',
    },
    receiptFact(msgId, atMs + 2, { mccmnc: '26202' }),
  ])
  const at = message.state.sentAtMs!
  expect(await project(message)).toBe('written')
  const written = await rowsOf(
    message.msgId,
    ...['messages', 'dispatches', 'submissions', 'events', 'event_deliveries', 'receipts', 'submit_attempts'],
  )
  const shared = {
    plan_id: plan,
    price: '0.007500',
    ptf: '12345678.900000',
    currency: 'EUR',
    error_code: '000',
  }
  expect(written).toEqual([
    [
      {
        ...{ ...shared, status: 'DELIVERED', event_sequence: 2, segments: 1, delivered_bits: 1 },
        ...{
          unknown_bits: 0,
          carrier_id: CARRIER_ID,
          sent_at: new Date(at),
          updated_at: new Date(at + 2),
        },
        ...{ sender: 'Aldis', recipient: '+15551230000', body: 'hello', country: 'US', mccmnc: '26202' },
        ...{ callback_url: 'https://example.com/dlr', carrier_code: 'DELIVRD 000', route_id: 4 },
        ...{ route_reason: 'the only carrier', segmentation: null, lane: null, discards_text: null },
      },
    ],
    [],
    [
      {
        ...{ carrier_id: CARRIER_ID, carrier_message_id: message.msgId, plan_id: plan, segment: 0 },
        ...{ answered_ms: at - createdAtMs(message.msgId), latency_ms: 12 },
        ...{ outcome: null, error_code: null, carrier_code: null, receipt_at: null, segmentation: null },
      },
    ],
    [
      {
        ...{ ...shared, sequence: 1, status: 'SENT', mccmnc: '26201', sent_at: new Date(at) },
        ...{ occurred_at: new Date(at), delivered_at: new Date(at + 13), attempts: 1, latency_ms: 12 },
        ...{
          response_status: 204,
          response_head: 'thanks',
          destination: 'https://example.com',
          receipt: null,
        },
      },
      {
        ...{ ...shared, sequence: 2, status: 'DELIVERED', mccmnc: '26202', sent_at: new Date(at) },
        ...{ occurred_at: new Date(at + 2), delivered_at: null, attempts: null, latency_ms: null },
        ...{ response_status: null, response_head: null, destination: null },
        receipt: { text: `id:${message.msgId}`, tlvs: { message_state: '2' } },
      },
    ],
    [
      {
        ...{
          plan_id: plan,
          sequence: 2,
          bucket: 7,
          failed_attempts: 0,
          earlier_attempts: 0,
          holder: null,
          state: 'waiting',
        },
        ...{ due_at: new Date(at + 2), began_at: new Date(at + 2), destination: null },
      },
    ],
    [],
    [],
  ])
})

test('a message that is still to be submitted is written with its dispatch and its attempts', async () => {
  const message = inMemory(
    plan,
    (_, atMs) => [
      ...['no-answer', 'retry'].map((outcome, place) => ({
        ...{
          kind: 'attempted' as const,
          atMs: atMs + place,
          tookMs: 7,
          carrierId: CARRIER_ID,
          segment: place === 1 ? 3 : null,
          resubmission: place === 1,
        },
        ...{ outcome: outcome as 'retry', commandStatus: place === 1 ? 0xffffffff : null },
        reason: place === 1 ? 'busy' : null,
      })),
      {
        ...{
          kind: 'postponed',
          routeId: null,
          chosenCarrierId: 0,
          atMs,
          dueAtMs: atMs + 1_000,
          failedAttempts: 3,
          carrierId: CARRIER_ID,
        },
        ...{
          acceptedPduBits: 2n ** 63n - 1n,
          segmentation: 'udh gsm7 63',
          startedOver: true,
          ambiguous: true,
        },
      },
    ],
    { routeId: 9, callbackUrl: null, country: null },
  )
  const at = message.state.changedAtMs
  await projectMessages(db, lane, [projected(message, { holder: NODE })], 0)
  expect(await rowsOf(message.msgId, 'dispatches', 'submit_attempts')).toEqual([
    [
      {
        ...{ bucket: 7, plan_id: plan, failed_attempts: 3, accepted_pdu_bits: String(2n ** 63n - 1n) },
        ...{ ambiguous: true, due_at: new Date(at + 1_001), expires_at: new Date(at + 86_400_000) },
        ...{ route_id: 9, carrier_id: CARRIER_ID, segmentation: 'udh gsm7 63', started_over: true },
        chosen_carrier_id: 0,
      },
    ],
    [
      {
        ...{ attempted_at: new Date(at + 1), took_ms: 7, carrier_id: CARRIER_ID, outcome: 'no-answer' },
        ...{ plan_id: plan, command_status: null, segment: null, resubmission: false, reason: null },
      },
      {
        ...{ attempted_at: new Date(at + 2), took_ms: 7, carrier_id: CARRIER_ID, outcome: 'retry' },
        ...{ plan_id: plan, command_status: 0xffffffff, segment: 3, resubmission: true, reason: 'busy' },
      },
    ],
  ])
})

test('what receipts said of several segments is written with them, and each receipt once', async () => {
  const us = (atMs: number, digits: string) => `${new Date(atMs).toISOString().slice(0, -1)}${digits}Z`
  const message = inMemory(
    plan,
    (msgId, atMs) => {
      const evidence = evidenceOf(`${msgId}/1`, atMs, { receivedAt: us(atMs, '789') })
      return [
        ...[0, 1, 1].map((segment) => submittedFact(`${msgId}/${segment}`, segment)),
        settledFact(atMs, { segments: 2 }),
        receiptFact(`${msgId}/1`, atMs, { segmentBits: 2n, evidence }),
        receiptFact(`${msgId}/1`, atMs, { segmentBits: 2n, evidence: { ...evidence, kept: null } }),
        { kind: 'noted', evidence: evidenceOf(`${msgId}/1`, atMs, { outcome: 'SENT', kept: null }) },
      ]
    },
    { segments: 2 },
  )
  await project(message)
  const { rows } = await db.query(
    `select segment, s.outcome, s.error_code, s.carrier_code, r.outcome as said, r.receipt is null as not_kept,
            to_char(r.received_at - s.receipt_at, 'US') as behind
     from submissions s left join receipts r using (msg_id, carrier_message_id)
     where msg_id = $1 order by segment, r.received_at`,
    [message.msgId],
  )
  const second = { segment: 1, outcome: 'DELIVERED', error_code: '000', carrier_code: 'DELIVRD 000' }
  expect(rows).toEqual([
    {
      ...{ segment: 0, outcome: null, error_code: null, carrier_code: null },
      ...{ said: null, not_kept: true, behind: null },
    },
    { ...second, said: 'SENT', not_kept: true, behind: '-00789' },
    { ...second, said: 'DELIVERED', not_kept: false, behind: '000000' },
  ])
})

test('what is there already stays as it is, and the rest of a batch is not written without it', async () => {
  const [one, other] = [inMemory(plan, deliveredFacts), inMemory(plan)]
  await project(one)
  await expect(project(one, other)).rejects.toThrow('duplicate key')
  expect(
    await findAtRest(
      db,
      [one, other].map(({ msgId }) => ({ planId: plan, msgId })),
    ),
  ).toEqual(new Set([one.msgId]))
})

describe('a try whose end is not known', () => {
  const direct = new URL(inject('serverUrl'))
  direct.pathname = new URL(connectionString).pathname

  test.each([
    ['commit\0', CommitOutcomeUnknownError],
    ['copy events', Error],
  ])('is made again after the connection was lost at %j, and writes once', async (at, kind) => {
    const message = inMemory(plan, deliveredFacts)
    await using proxy = await cuttingProxy({ connectionString: direct.href }, (sent) => sent.includes(at))
    await using other = otherPool(proxy.connectionString)
    const error = await projectMessages(other.db, lane, [projected(message)], 0).catch((lost) => lost)
    expect([error.constructor, isTransient(error)]).toEqual([kind, true])
    expect(await project(message)).toBe('written')
    expect((await eventsOf(db, message.msgId)).map(({ sequence }) => sequence)).toEqual([1, 2])
  })

  test('is waited for while it is under way', async () => {
    const own = await openLane(db, NODE)
    const message = inMemory(plan)
    const client = await db.connect()
    await client.query('begin')
    await cutJournal(client, own, 0)
    await client.query(
      `insert into messages (plan_id, msg_id, segments, updated_at, sender, recipient, body)
       values ($1, $2, 1, now(), 'Aldis', '+15551230000', 'hello')`,
      [plan, message.msgId],
    )
    const again = projectMessages(db, own, [projected(message)], 0)
    await eventually(async () => (await lockWaits(db)) > 0)
    await client.query('commit')
    client.release()
    expect(await again).toBe('written')
  })

  test('is given up with its connection where the database does not answer', async () => {
    const impatient = new pg.Pool({ connectionString: direct.href, max: 1, query_timeout: 300 })
    impatient.on('error', () => undefined)
    const message = inMemory(plan)
    const client = await db.connect()
    await client.query('begin; lock table messages in access exclusive mode')
    const error = await projectMessages(impatient, lane, [projected(message)], 0).catch((late) => late)
    await client.query('rollback')
    client.release()
    expect([error.message, isTransient(error), impatient.totalCount]).toEqual(['Query read timeout', true, 0])
    await impatient.end()
    expect(await project(message)).toBe('written')
  })
})

test('the journal is cut with what is written from it, and only by who holds the lane', async () => {
  const own = await openLane(db, NODE)
  const left = async () =>
    [...(await readEntries(db, own.lane, 0, 9)), ...(await readEntries(db, own.lane, 1, 9))].map(({ n }) => n)
  for (const n of [1, 2]) await appendEntry(db, own, n, Buffer.from('facts'))
  expect(await projectMessages(db, own, [projected(inMemory(plan))], 1)).toBe('written')
  expect(await left()).toEqual([2])
  await takeOverLane(db, { ...own, nodeId: NODE }, NODE + 1)
  const late = inMemory(plan)
  expect(await projectMessages(db, own, [projected(late)], 2)).toBe('fenced')
  expect(await left()).toEqual([2])
  expect(await findAtRest(db, [{ planId: plan, msgId: late.msgId }])).toEqual(new Set())
})

test('without messages only the journal is cut', async () => {
  const own = await openLane(db, NODE)
  await appendEntry(db, own, 1, Buffer.from('facts'))
  expect(await projectMessages(db, own, [], 1)).toBe('written')
  expect(await readEntries(db, own.lane, 0, 9)).toEqual([])
})

test.each([
  ['a message of more attempts than are counted', { failedAttempts: 32_768, carrierId: 1 }],
  ['a carrier of no such number', { failedAttempts: 1, carrierId: 2 ** 31 }],
])('%s is refused by the database, as a fault of its row', async (_, given) => {
  const message = inMemory(plan, (__, atMs) => [
    {
      ...{
        kind: 'postponed',
        routeId: null,
        chosenCarrierId: 0,
        atMs,
        dueAtMs: atMs,
        acceptedPduBits: 0n,
        segmentation: null,
        startedOver: false,
      },
      ...{ ambiguous: false, ...given },
    },
  ])
  const error = await project(message).catch((refused) => refused)
  expect([String(error), isRowFault(error)]).toEqual([expect.stringContaining('binary data format'), true])
})

test('texts are stored without what PostgreSQL does not store', async () => {
  const message = inMemory(
    plan,
    (msgId, atMs) => [
      submittedFact(`${msgId}\0`),
      settledFact(atMs),
      receiptFact(msgId, atMs, {
        evidence: evidenceOf(msgId, atMs, { kept: { text: 'a\0b\ud800', tlvs: {} } }),
      }),
    ],
    { body: 'no\0thing, half \ud83d of it', sender: '\0', segments: 1 },
    newId(Date.now()),
  )
  await project(message)
  expect((await rowsOf(message.msgId, 'messages'))[0]).toMatchObject([
    { body: 'nothing, half \ufffd of it', sender: '' },
  ])
  expect(await rowsOf(message.msgId, 'submissions')).toMatchObject([[{ carrier_message_id: message.msgId }]])
  expect((await findMessageForOperator(db, message.msgId))!.receipts).toMatchObject([
    { receipt: { text: 'a\0b\ud800', tlvs: {} } },
  ])
})

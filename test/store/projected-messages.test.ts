import { beforeEach, describe, expect, test } from 'vitest'
import type { MessageInProgress } from '../../src/domain/journal/messages-in-progress.ts'
import { recordReceipts } from '../../src/operations/record-receipts.ts'
import { takeDueEvents } from '../../src/store/due-deliveries.ts'
import { type AttemptRow, recordAttempts } from '../../src/store/event-deliveries.ts'
import { feedEnd, readFeed } from '../../src/store/event-feed.ts'
import { openLane } from '../../src/store/journal.ts'
import { findMessageForOperator } from '../../src/store/messages.ts'
import { projectMessages } from '../../src/store/projection.ts'
import type { Projected } from '../../src/store/records.ts'
import { installedDatabase } from '../support/installation.ts'
import {
  deliveredFacts,
  evidenceOf,
  inMemory,
  projected,
  receiptFact,
  settledFact,
  submittedFact,
} from '../support/messages-in-memory.ts'
import {
  clearTables,
  eventsOf,
  HOLDER,
  NODE,
  receipt,
  receiptOptions,
  statusOf,
  storeDelivered,
} from '../support/stored-messages.ts'
import { requestFor, take } from '../support/taken.ts'

/** What was written from memory, the statements of the tables go on with. */

const { db, announcedPlan: plan } = await installedDatabase()
const lane = await openLane(db, NODE)

beforeEach(() => clearTables(db, 'dispatches', 'event_deliveries'))

async function project(message: MessageInProgress, changes: Partial<Projected> = {}): Promise<string> {
  await projectMessages(db, lane, [projected(message, changes)], 0)
  return message.msgId
}

/** Sent under its own id, not told yet. */
const sentFacts = (msgId: string, atMs: number) => [submittedFact(msgId), settledFact(atMs)]

describe('a message that is to be submitted', () => {
  test('is taken up', async () => {
    const msgId = await project(
      inMemory(plan, (_, atMs) => [
        {
          ...{
            kind: 'postponed',
            routeId: null,
            chosenCarrierId: 0,
            atMs,
            dueAtMs: atMs,
            failedAttempts: 2,
            carrierId: 1,
            acceptedPduBits: 5n,
          },
          ...{ segmentation: 'udh gsm7 3', startedOver: false, ambiguous: true },
        },
      ]),
    )
    expect(await take(db, requestFor(plan))).toEqual([
      expect.objectContaining({
        ...{
          msgId,
          failedAttempts: 2,
          acceptedPduBits: 5n,
          segmentation: 'udh gsm7 3',
          ambiguous: true,
          carrierId: 1,
        },
        ...{ planId: plan, sender: 'Aldis', recipient: '+15551230000', body: 'hello', status: 'QUEUED' },
      }),
    ])
  })
})

describe('a message that waits for its receipts', () => {
  async function receive(...ids: string[]): Promise<string[]> {
    const receipts = ids.map((id) => receipt(id, 'DELIVERED'))
    const { changed } = await recordReceipts(db, receipts, receiptOptions())
    return changed.map(({ msgId, sequence }) => `${msgId} ${sequence}`)
  }

  test('gets them', async () => {
    const msgId = await project(inMemory(plan, sentFacts), { holder: NODE })
    expect(await receive(msgId)).toEqual([`${msgId} 2`])
    expect(await statusOf(db, msgId)).toBe('DELIVERED')
    expect(await eventsOf(db, msgId)).toEqual([
      { sequence: 1, status: 'SENT', holder: NODE },
      { sequence: 2, status: 'DELIVERED', holder: null },
    ])
  })

  test('goes on with the segments that are delivered', async () => {
    const segments = [0, 1, 2]
    const msgId = await project(
      inMemory(
        plan,
        (id, atMs) => [
          ...segments.map((segment) => submittedFact(`${id}/${segment}`, segment)),
          settledFact(atMs),
          receiptFact(`${id}/2`, atMs, { segmentBits: 4n }),
        ],
        { segments: 3 },
      ),
    )
    expect(await receive(`${msgId}/0`, `${msgId}/2`)).toEqual([])
    expect(await receive(`${msgId}/1`)).toEqual([`${msgId} 2`])
  })
})

describe('events that are not taken', () => {
  const hold = async () =>
    (await takeDueEvents(db, { nodeId: NODE + 1, buckets: HOLDER.buckets, limit: 9 })).map(
      ({ msgId, sequence, failedAttempts }) => ({ msgId, sequence, failedAttempts }),
    )
  const taken = (msgId: string, sequence: number, changes: Partial<AttemptRow> = {}): AttemptRow => ({
    ...{ planId: plan, msgId, sequence, holder: NODE, failedAttempts: 1, attempt: 1, latencyMs: 12 },
    ...{ attemptedAt: new Date().toISOString(), responseStatus: 200, error: null, responseHead: 'ok' },
    ...{ destination: 'https://example.com', waited: false, decision: 'delivered', delayMs: 0 },
    ...changes,
  })
  const untaken = (id: string, atMs: number) => [...sentFacts(id, atMs), receiptFact(id, atMs + 1)]

  test('are taken up in their order where nobody has them', async () => {
    const msgId = await project(inMemory(plan, untaken))
    expect(await hold()).toEqual([{ msgId, sequence: 1, failedAttempts: 0 }])
    expect(await hold()).toEqual([])
    await recordAttempts(db, [taken(msgId, 1, { waited: true, holder: NODE + 1 })])
    expect(await hold()).toEqual([{ msgId, sequence: 2, failedAttempts: 0 }])
  })

  test('that a node has in memory are left to it until it says what became of them', async () => {
    const msgId = await project(inMemory(plan, untaken), { holder: NODE, inRecords: new Set([2]) })
    expect(await hold()).toEqual([])
    await recordAttempts(db, [taken(msgId, 1)])
    expect(await hold()).toEqual([{ msgId, sequence: 2, failedAttempts: 0 }])
    const { rows } = await db.query(
      'select attempts, latency_ms, response_status, destination from events where msg_id = $1 and sequence = 1',
      [msgId],
    )
    expect(rows).toEqual([
      { attempts: 1, latency_ms: 12, response_status: 200, destination: 'https://example.com' },
    ])
  })

  test('wait for a schedule as any other', async () => {
    const msgId = await project(inMemory(plan, untaken), { holder: NODE })
    await recordAttempts(db, [taken(msgId, 1, { decision: 'again', delayMs: 0, responseStatus: 503 })])
    expect(await hold()).toEqual([{ msgId, sequence: 1, failedAttempts: 1 }])
  })

  test('are kept where they go nowhere', async () => {
    const msgId = await project(inMemory(plan, untaken), { delivers: false })
    expect(await eventsOf(db, msgId)).toMatchObject([{ sequence: 1 }, { sequence: 2 }])
    expect((await db.query('select from event_deliveries')).rowCount).toBe(0)
  })
})

test('the feed has them behind all that was there, in their order', async () => {
  const read = async () => {
    const page = { planId: plan, filters: { since: null }, after: null, limit: 1_000 }
    return (await readFeed(db, page, await feedEnd(db, plan))).map(
      ({ msgId, sequence }) => `${msgId} ${sequence}`,
    )
  }
  // Accepted first, written last.
  const early = inMemory(plan, deliveredFacts)
  const stored = await storeDelivered(db, plan)
  const before = await read()
  expect(before.at(-1)).toBe(`${stored} 2`)
  await project(early)
  expect(await read()).toEqual([...before, `${early.msgId} 1`, `${early.msgId} 2`])
})

test('the operator sees the whole story', async () => {
  const message = inMemory(plan, (id, atMs) => [
    {
      ...{
        kind: 'attempted',
        atMs,
        tookMs: 1,
        carrierId: 1,
        outcome: 'retry',
        commandStatus: 88,
        segment: 0,
      },
      ...{ resubmission: false, reason: 'throttled' },
    },
    { ...submittedFact(id), atMs: atMs + 1, latencyMs: 30 },
    settledFact(atMs + 1, { routeReason: 'the only carrier', mccmnc: '26201' }),
    { kind: 'noted', evidence: evidenceOf(id, atMs + 2, { outcome: 'SENT', kept: null }) },
    ...deliveredFacts(id, atMs + 3).slice(3),
  ])
  const msgId = await project(message)
  const at = message.state.sentAtMs!
  const iso = (ms: number) => new Date(at + ms).toISOString()
  const attempt = { attempt: 1, latencyMs: 12, responseStatus: 200, error: null, responseHead: 'ok' }
  const told = { state: 'delivered', attempts: 1, dueAt: null }
  expect(await findMessageForOperator(db, msgId)).toMatchObject({
    ...{ msgId, status: 'DELIVERED', sender: 'Aldis', recipient: '+15551230000', body: 'hello', segments: 1 },
    ...{ callbackUrl: 'https://example.com/dlr', country: 'US', mccmnc: '26201', errorCode: '000' },
    ...{ routeReason: 'the only carrier', carrierCode: 'DELIVRD 000' },
    ...{ sentAt: new Date(at), updatedAt: new Date(at + 4) },
    attempts: [
      {
        ...{ attemptedAt: iso(-1), endedAt: iso(0), outcome: 'retry', commandStatus: 88, segment: 0 },
        resubmission: false,
        reason: 'throttled',
      },
    ],
    submissions: [
      { segment: 0, carrierMessageId: msgId, sentAt: iso(-30), answeredAt: iso(0), outcome: null },
    ],
    receipts: [
      { receivedAt: iso(1), outcome: 'SENT', carrierMessageId: msgId, receipt: null },
      {
        receivedAt: iso(4),
        outcome: 'DELIVERED',
        receipt: { text: `id:${msgId}`, tlvs: { message_state: '2' } },
      },
    ],
    webhookAttempts: [
      { event: 1, attemptedAt: iso(3), ...attempt },
      { event: 2, attemptedAt: iso(5), ...attempt },
    ],
    webhookEvents: [
      { event: 1, status: 'SENT', occurredAt: iso(0), deliveredAt: iso(15), ...told },
      { event: 2, status: 'DELIVERED', occurredAt: iso(4), deliveredAt: iso(17), ...told },
    ],
  })
})

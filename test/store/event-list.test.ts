import { beforeAll, describe, expect, test } from 'vitest'
import type { EventKey } from '../../src/domain/identifiers.ts'
import type { EventFilters } from '../../src/domain/lists.ts'
import { findEvent, listEvents } from '../../src/store/event-list.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { DESTINATION, storeEvent } from '../support/stored-events.ts'

const AT = Date.now() - 600_000
const OTHER = 'https://other.example.com:8443'
const ids = Array.from({ length: 6 }, (_, n) => newId(AT + n * 1_000))

const { db, announcedPlan: planId, silentPlan } = await installedDatabase()

beforeAll(async () => {
  const at = (n: number) => ({ msgId: ids[n]!, occurredAt: new Date(AT + n * 1_000 + 5) })
  await storeEvent(db, { planId, ...at(0), state: 'kept', callbackUrl: null })
  await storeEvent(db, { planId, ...at(1), state: 'delivered' })
  await storeEvent(db, { planId, ...at(1), sequence: 2, state: 'delivered', attempts: 3, destination: OTHER })
  await storeEvent(db, { planId, ...at(2), state: 'failed', attempts: 12 })
  await storeEvent(db, { planId, ...at(3), state: 'parked', attempts: 2, destination: OTHER })
  await storeEvent(db, { planId, ...at(4), sequence: 0, state: 'pending' })
  await storeEvent(db, { planId: silentPlan, ...at(5), state: 'failed' })
})

const list = (filters: Partial<EventFilters> = {}, after: EventKey | null = null, limit = 10) => {
  const none = { state: null, msgId: null, destination: null, fromDate: null, toDate: null }
  return listEvents(db, { planId, filters: { ...none, ...filters }, after, limit })
}
/** `n.sequence`, n the number of the message. */
const keys = (rows: readonly EventKey[]) =>
  rows.map(({ msgId, sequence }) => `${ids.indexOf(msgId)}.${sequence}`)

describe('a plan’s events', () => {
  test('newest message first, and the later event of a message first', async () => {
    expect(keys(await list())).toEqual(['4.0', '3.1', '2.1', '1.2', '1.1', '0.1'])
  })

  test('go on behind any of them', async () => {
    const first = await list({}, null, 4)
    expect(keys(first)).toEqual(['4.0', '3.1', '2.1', '1.2'])
    expect(keys(await list({}, first.at(-1)!, 4))).toEqual(['1.1', '0.1'])
    expect(await list({}, { msgId: ids[0]!, sequence: 1 })).toEqual([])
    expect(keys(await list({ state: 'pending' }, { msgId: ids[4]!, sequence: 0 }))).toEqual(['3.1'])
  })

  test.each<[Partial<EventFilters>, string[]]>([
    [{ state: 'pending' }, ['4.0', '3.1']],
    [{ state: 'delivered' }, ['1.2', '1.1']],
    [{ state: 'failed' }, ['2.1']],
    [{ state: 'kept' }, ['0.1']],
    [{ msgId: ids[1]! }, ['1.2', '1.1']],
    [{ msgId: ids[5]! }, []],
    [{ destination: OTHER }, ['3.1', '1.2']],
    [{ destination: OTHER, state: 'pending' }, ['3.1']],
    [{ destination: DESTINATION, state: 'delivered' }, ['1.1']],
    [{ destination: DESTINATION, state: 'kept' }, []],
    [{ fromDate: AT + 2_000, toDate: AT + 3_000 }, ['3.1', '2.1']],
    [{ state: 'failed', fromDate: AT + 3_000 }, []],
    [{ state: 'delivered', toDate: AT + 1_000, msgId: ids[1]! }, ['1.2', '1.1']],
  ])('%j', async (filters, expected) => {
    expect(keys(await list(filters))).toEqual(expected)
  })

  test('what has become of each', async () => {
    const [pending, parked, failed, third, first, kept] = await list()
    expect(kept).toMatchObject({
      planId,
      messageStatus: 'SENT',
      state: 'kept',
      occurredAt: new Date(AT + 5),
      deliveredAt: null,
      attempts: 0,
      nextAttemptAt: null,
      destination: null,
      responseStatus: null,
      error: null,
    })
    expect(kept!.position).toBeGreaterThan(0)
    const deliveredAt = new Date(AT + 3_005)
    const delivered = {
      state: 'delivered',
      deliveredAt,
      responseStatus: 200,
      error: null,
      nextAttemptAt: null,
    }
    expect(first).toMatchObject({ ...delivered, attempts: 1, destination: DESTINATION })
    expect(third).toMatchObject({ ...delivered, attempts: 3, destination: OTHER })
    expect(failed).toMatchObject({ state: 'failed', attempts: 12, nextAttemptAt: null, responseStatus: 503 })
    const due = { state: 'pending', deliveredAt: null, nextAttemptAt: new Date(AT + 3_005) }
    expect(parked).toMatchObject({ ...due, attempts: 2, destination: OTHER, responseStatus: 503 })
    expect(pending).toMatchObject({ state: 'pending', messageStatus: null, attempts: 0, destination: null })
  })
})

describe('one of a plan', () => {
  const attempt = (n: number, responseStatus: number) => ({
    attempt: n,
    attemptedAt: expect.any(Date),
    latencyMs: expect.any(Number),
    responseStatus,
    error: null,
    responseHead: expect.any(String),
  })

  test('with its attempts, the first one first', async () => {
    const event = await findEvent(db, planId, { msgId: ids[1]!, sequence: 2 })
    expect(event).toMatchObject({ state: 'delivered', attempts: 3 })
    expect(event!.attemptRecords).toEqual([attempt(1, 503), attempt(2, 503), attempt(3, 200)])
  })

  test('delivered by its first attempt', async () => {
    const event = await findEvent(db, planId, { msgId: ids[1]!, sequence: 1 })
    const attemptedAt = new Date(AT + 1_000 + 5 + 2_000 - 12)
    expect(event!.attemptRecords).toEqual([
      { ...attempt(1, 200), attemptedAt, latencyMs: 12, responseHead: 'ok' },
    ])
  })

  test('that was never attempted', async () => {
    expect(await findEvent(db, planId, { msgId: ids[0]!, sequence: 1 })).toMatchObject({ attemptRecords: [] })
  })

  test('there is none of another plan, or of another number', async () => {
    expect(await findEvent(db, silentPlan, { msgId: ids[0]!, sequence: 1 })).toBeNull()
    expect(await findEvent(db, planId, { msgId: ids[0]!, sequence: 2 })).toBeNull()
  })
})

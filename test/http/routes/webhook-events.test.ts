import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultsOf, pagesFrom } from '../../support/http-answers.ts'
import {
  type HttpService,
  PLAN,
  PLAN_INACTIVE,
  PLAN_OTHER,
  PLAN_SECOND,
  startHttpService,
  storePlans,
  TOKEN_OTHER,
} from '../../support/http-service.ts'
import { newId } from '../../support/installation.ts'
import type { HttpAnswer } from '../../support/raw-http.ts'
import { DESTINATION, storeEvent } from '../../support/stored-events.ts'

const START_MS = Date.parse('2026-03-01T12:00:00Z')
const OTHER = 'https://other.example.com:8443'
const STATES = ['delivered', 'failed', 'pending', 'kept', 'parked', 'delivered'] as const
/** A minute apart. */
const COUNT = 30

let service: HttpService
const ids: string[] = []
let foreign: string

beforeAll(async () => {
  service = await startHttpService()
  await storePlans(service)
  for (let n = 0; n < COUNT; n += 1) {
    const msgId = newId(START_MS + n * 60_000)
    const sequence = n % 10 === 9 ? 0 : 1
    const state = STATES[n % 6]!
    const attempts = state === 'failed' ? 12 : 1
    const destination = n % 2 === 0 ? DESTINATION : OTHER
    const occurredAt = new Date(START_MS + n * 60_000)
    const event = { planId: 1, msgId, sequence, state, destination, occurredAt }
    ids.push(
      `${await storeEvent(service.db, { ...event, ...(state !== 'pending' && { attempts }) })}-${sequence}`,
    )
  }
  foreign = `${await storeEvent(service.db, { planId: 6, msgId: newId(START_MS), state: 'failed', attempts: 1 })}-1`
  await storeEvent(service.db, { planId: 3, msgId: newId(START_MS), state: 'failed', attempts: 1 })
})
afterAll(() => service[Symbol.asyncDispose]())

function list(query: string, headers: Record<string, string> = {}, plan = PLAN): Promise<HttpAnswer> {
  return service.get(`/v1/webhooks/events?servicePlanId=${plan}&${query}`, headers)
}

function show(eventId: string, plan = PLAN, headers: Record<string, string> = {}): Promise<HttpAnswer> {
  return service.get(`/v1/webhooks/events/${eventId}?servicePlanId=${plan}`, headers)
}

function idsOf(answer: HttpAnswer): string[] {
  expect(answer.status).toBe(200)
  return answer.json.items.map(({ eventId }: { eventId: string }) => eventId)
}

function idsWhere(test: (n: number) => boolean): string[] {
  return ids.filter((_, n) => test(n)).reverse()
}

const asOther = { authorization: `Bearer ${TOKEN_OTHER}` }

describe('GET /v1/webhooks/events', () => {
  it('200 answers the newest twenty, without any filter', async () => {
    const answer = await list('')
    expect(idsOf(answer)).toEqual(idsWhere((n) => n >= 10))
    expect(answer.json.pagination).toEqual({ limit: 20, hasMore: true, nextCursor: expect.any(String) })
  })

  it('200 tells what became of each', async () => {
    const { items } = (await list('limit=100')).json
    const itemOf = (n: number) => items.find(({ eventId }: { eventId: string }) => eventId === ids[n])
    expect(itemOf(0)).toEqual({
      eventId: ids[0],
      servicePlanId: PLAN,
      msgId: ids[0]!.slice(0, 36),
      sequence: 1,
      type: 'deliveryReceipt',
      messageStatus: 'SENT',
      state: 'delivered',
      occurredAt: new Date(START_MS).toISOString(),
      deliveredAt: new Date(START_MS + 2_000).toISOString(),
      attempts: 1,
      nextAttemptAt: null,
      destination: DESTINATION,
      responseStatus: 200,
      error: null,
    })
    expect(itemOf(1)).toMatchObject({
      state: 'failed',
      attempts: 12,
      nextAttemptAt: null,
      responseStatus: 503,
    })
    expect(itemOf(2)).toMatchObject({ state: 'pending', attempts: 0, nextAttemptAt: expect.any(String) })
    expect(itemOf(3)).toMatchObject({ state: 'kept', deliveredAt: null, nextAttemptAt: null })
    expect(itemOf(4)).toMatchObject({ state: 'pending', destination: DESTINATION })
    expect(itemOf(9)).toMatchObject({ type: 'inboundMessage', messageStatus: null, sequence: 0 })
  })

  it.each([
    ['state=failed', (n: number) => n % 6 === 1],
    ['state=pending', (n: number) => n % 6 === 2 || n % 6 === 4],
    ['state=kept', (n: number) => n % 6 === 3],
    ['state=delivered', (n: number) => n % 6 === 0 || n % 6 === 5],
    [`destination=${encodeURIComponent(OTHER)}&state=failed`, (n: number) => n % 6 === 1 && n % 2 === 1],
    ['fromDate=2026-03-01T12:10:00Z&toDate=2026-03-01T14:12:00%2B02:00', (n: number) => n >= 10 && n <= 12],
    ['state=failed&toDate=2026-03-01T12:10:00Z', (n: number) => n % 6 === 1 && n <= 10],
    ['destination=https://nobody.example.com', () => false],
  ])('200 filters by %s', async (query, test) => {
    expect(idsOf(await list(`${query}&limit=100`))).toEqual(idsWhere(test))
  })

  it('200 gives the events of one message, whatever the case of its id', async () => {
    const msgId = ids[3]!.slice(0, 36)
    expect(idsOf(await list(`msgId=${msgId}`))).toEqual([ids[3]])
    expect(idsOf(await list(`msgId=${msgId.toUpperCase()}`))).toEqual([ids[3]])
    expect(idsOf(await list(`msgId=${foreign.slice(0, 36)}`))).toEqual([])
  })

  it('200 pages through everything once, the cursor carrying filters and limit', async () => {
    for (const filter of ['', 'state=failed']) {
      const pages = await pagesFrom(list, `${filter}&limit=3`)
      expect(pages.flatMap(idsOf)).toEqual(idsWhere((n) => filter === '' || n % 6 === 1))
    }
  })

  it('200 of a plan that is not active, and of another tenant by its own token', async () => {
    expect(idsOf(await list('', {}, PLAN_INACTIVE))).toHaveLength(1)
    expect(idsOf(await list('', asOther, PLAN_OTHER))).toEqual([foreign])
  })

  it('400 when a filter differs from that of the cursor, or the cursor is of another list or plan', async () => {
    const { nextCursor } = (await list('state=failed&limit=1')).json.pagination
    expect(faultsOf(await list(`state=kept&cursor=${nextCursor}`))).toEqual(['state CURSOR_MISMATCH'])
    expect(faultsOf(await list(`cursor=${nextCursor}`, {}, PLAN_SECOND))).toEqual(['cursor INVALID_CURSOR'])
    const { cursor } = (await service.get(`/v1/events?servicePlanId=${PLAN}&limit=1`)).json
    expect(faultsOf(await list(`cursor=${cursor}`))).toEqual(['cursor INVALID_CURSOR'])
    const feed = await service.get(`/v1/events?servicePlanId=${PLAN}&cursor=${nextCursor}`)
    expect(faultsOf(feed)).toEqual(['cursor INVALID_CURSOR'])
  })

  it.each([
    ['state=', ['state EMPTY']],
    ['state=gone', ['state INVALID_FORMAT']],
    ['state=FAILED', ['state INVALID_FORMAT']],
    ['state=failed&state=failed', ['state REPEATED']],
    ['state[]=failed', ['state REPEATED']],
    ['state[$ne]=failed', ['state REPEATED']],
    ['msgId=1', ['msgId INVALID_FORMAT']],
    ['msgId=', ['msgId EMPTY']],
    ['destination=example.com', ['destination INVALID_FORMAT']],
    ['destination=https://example.com/', ['destination INVALID_FORMAT']],
    ['destination=https://me:secret@example.com', ['destination INVALID_FORMAT']],
    ['destination=https://EXAMPLE.com', ['destination INVALID_FORMAT']],
    ['destination=%00', ['destination INVALID_FORMAT']],
    [`destination=https://${'a'.repeat(400)}`, ['destination INVALID_FORMAT']],
    ['fromDate=2026-02-30T00:00:00Z', ['fromDate INVALID_FORMAT']],
    ['fromDate=2026-03-02T00:00:00Z&toDate=2026-03-01T00:00:00Z', ['fromDate INVALID_RANGE']],
    ['fromDate=2026-01-01T00:00:00Z&toDate=2026-03-01T00:00:00Z', ['toDate RANGE_TOO_LARGE']],
    ['limit=0', ['limit INVALID_FORMAT']],
    ['limit=ten', ['limit INVALID_FORMAT']],
    ['cursor=abc', ['cursor INVALID_CURSOR']],
    [`servicePlanId=${PLAN}`, ['servicePlanId REPEATED']],
  ])('400 to ?%s', async (query, faults) => {
    expect(faultsOf(await list(query))).toEqual(faults)
  })
})

describe('GET /v1/webhooks/events/{eventId}', () => {
  it('200 tells of each attempt', async () => {
    const { status, json } = await show(ids[1]!)
    expect(status).toBe(200)
    expect(json).toMatchObject({ eventId: ids[1], state: 'failed', attempts: 12 })
    expect(json.attemptRecords).toHaveLength(12)
    expect(json.attemptRecords[11]).toEqual({
      attempt: 12,
      attemptedAt: new Date(START_MS + 72_000).toISOString(),
      latencyMs: 12,
      responseStatus: 503,
      error: null,
      requestHeaders: {
        'user-agent': 'Aldis',
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        'webhook-id': ids[1],
        'webhook-timestamp': String((START_MS + 72_000) / 1_000),
        'webhook-signature': '***',
        'aldis-attempt': '12',
        'aldis-sequence': '1',
      },
      responseHead: 'busy',
    })
  })

  it('200 of one that was delivered at once, which is one attempt', async () => {
    const { json } = await show(ids[0]!)
    expect(json.attemptRecords).toMatchObject([
      { attempt: 1, responseStatus: 200, responseHead: 'ok', error: null },
    ])
    expect((await show(ids[2]!)).json.attemptRecords).toEqual([])
  })

  it.each([
    ['1', ['eventId INVALID_FORMAT']],
    ['01a2002d-4286-7303-8303-030303030300', ['eventId INVALID_FORMAT']],
    ['01a2002d-4286-7303-8303-030303030300-01', ['eventId INVALID_FORMAT']],
    ['01a2002d-4286-7303-8303-030303030300-32768', ['eventId INVALID_FORMAT']],
    ['%00', ['eventId INVALID_FORMAT']],
  ])('400 to %s', async (eventId, faults) => {
    expect(faultsOf(await show(eventId))).toEqual(faults)
  })

  it('400 without a plan, or with two', async () => {
    expect(faultsOf(await service.get(`/v1/webhooks/events/${ids[0]}`))).toEqual(['servicePlanId REQUIRED'])
    expect(faultsOf(await show(ids[0]!, `${PLAN}&servicePlanId=${PLAN}`))).toEqual(['servicePlanId REPEATED'])
    expect(faultsOf(await show(ids[0]!, `${PLAN}&servicePlanId[]=1`))).toEqual(['servicePlanId REPEATED'])
  })

  it('404 of an event that there is not, alike whether it is somebody else’s', async () => {
    const unknown = await show(`${newId(START_MS)}-1`)
    expect([unknown.status, unknown.json.errorCode]).toEqual([404, 'NOT_FOUND'])
    const others = await show(foreign)
    const anonymous = (answer: HttpAnswer) => answer.text.replace(answer.json.requestId, '')
    expect([others.status, anonymous(others)]).toEqual([404, anonymous(unknown)])
    expect((await show(ids[0]!.replace(/1$/, '2'))).status).toBe(404)
    expect((await show(ids[0]!, PLAN_SECOND)).status).toBe(404)
  })
})

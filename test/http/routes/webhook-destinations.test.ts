import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { pauseDestination } from '../../../src/operations/manage/webhook-destinations.ts'
import { openBreaker } from '../../../src/store/webhook-destinations.ts'
import { faultsOf, pagesFrom } from '../../support/http-answers.ts'
import {
  FORBIDDEN_PLANS,
  type HttpService,
  PLAN,
  PLAN_INACTIVE,
  PLAN_OTHER,
  PLAN_SECOND,
  startHttpService,
  storePlans,
  TOKEN_OTHER,
} from '../../support/http-service.ts'
import type { HttpAnswer } from '../../support/raw-http.ts'
import { DESTINATION, storeEvent } from '../../support/stored-events.ts'

const OTHER = 'https://other.example.com:8443'
const asOther = { authorization: `Bearer ${TOKEN_OTHER}` }

let service: HttpService

beforeAll(async () => {
  service = await startHttpService()
  await storePlans(service)
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(() => service.db.query('delete from webhook_destinations'))

function list(query = '', plan = PLAN, headers: Record<string, string> = {}): Promise<HttpAnswer> {
  return service.get(`/v1/webhooks/destinations?servicePlanId=${plan}${query}`, headers)
}

function change(verb: string, body: unknown, headers: Record<string, string> = {}): Promise<HttpAnswer> {
  return service.request({
    method: 'POST',
    path: `/v1/webhooks/destinations/${verb}`,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

const of = (destination: unknown, servicePlanId = PLAN) => ({ servicePlanId, destination })

function namesOf(answer: HttpAnswer): string[] {
  expect(answer.status).toBe(200)
  return answer.json.items.map(({ destination }: { destination: string }) => destination)
}

describe('GET /v1/webhooks/destinations', () => {
  it('200 answers those in trouble, and those with events that wait, by name', async () => {
    const ids = [
      await storeEvent(service.db, { planId: 1, state: 'failed', attempts: 12 }),
      await storeEvent(service.db, { planId: 1, state: 'parked', attempts: 1 }),
    ]
    await openBreaker(service.db, {
      planId: 1,
      destination: OTHER,
      error: 'CONNECT_REFUSED',
      probeAfterMs: 60_000,
    })
    await openBreaker(service.db, {
      planId: 6,
      destination: OTHER,
      error: 'HTTP_STATUS',
      probeAfterMs: 60_000,
    })
    const answer = await list()
    expect(answer.json).toEqual({
      items: [
        {
          destination: DESTINATION,
          state: 'delivering',
          since: null,
          error: null,
          pausedBy: null,
          waiting: 0,
          parked: 1,
          failed: 1,
        },
        {
          destination: OTHER,
          state: 'open',
          since: expect.any(String),
          error: 'CONNECT_REFUSED',
          pausedBy: null,
          waiting: 0,
          parked: 0,
          failed: 0,
        },
      ],
      pagination: { limit: 20, hasMore: false, nextCursor: null },
    })
    await service.db.query('delete from event_deliveries where msg_id = any ($1)', [ids])
    expect(namesOf(await list('', PLAN_OTHER, asOther))).toEqual([OTHER])
    expect(namesOf(await list('', PLAN_INACTIVE))).toEqual([])
  })

  it('200 pages through them', async () => {
    const names = Array.from({ length: 5 }, (_, n) => `https://host-${n}.example.com`)
    for (const name of names) expect((await change('pause', of(name))).status).toBe(200)
    const pages = await pagesFrom((query) => list(`&${query}`), 'limit=2')
    expect(pages.flatMap(namesOf)).toEqual(names)
  })

  it.each([
    ['&limit=0', ['limit INVALID_FORMAT']],
    ['&cursor=', ['cursor EMPTY']],
    ['&cursor=abc', ['cursor INVALID_CURSOR']],
    ['&cursor[]=abc', ['cursor REPEATED']],
    [`&servicePlanId=${PLAN}`, ['servicePlanId REPEATED']],
  ])('400 to %s', async (query, faults) => {
    expect(faultsOf(await list(query))).toEqual(faults)
  })
})

describe('POST /v1/webhooks/destinations/pause and /resume', () => {
  it('200 pauses, and resumes: what waited is to be delivered', async () => {
    const paused = await change('pause', of(OTHER))
    expect([paused.status, paused.json]).toMatchObject([
      200,
      { destination: OTHER, state: 'paused', pausedBy: 'customer', since: expect.any(String) },
    ])
    expect((await change('pause', of(OTHER))).json.state).toBe('paused')
    expect((await change('resume', of(OTHER))).json).toMatchObject({ state: 'recovering', pausedBy: null })
  })

  it('200 resumes one whose events wait for a retry: they are due at once', async () => {
    const destination = 'https://retry.example.com'
    const msgId = await storeEvent(service.db, { planId: 1, state: 'pending', destination, attempts: 1 })
    const { status, json } = await change('resume', of(destination))
    expect([status, json]).toMatchObject([200, { state: 'recovering', waiting: 0, parked: 1 }])
    await service.db.query('delete from event_deliveries where msg_id = $1', [msgId])
  })

  it('200 resumes what failed too often, and what is in no trouble stays so', async () => {
    await openBreaker(service.db, {
      planId: 1,
      destination: OTHER,
      error: 'HTTP_STATUS',
      probeAfterMs: 60_000,
    })
    expect((await change('resume', of(OTHER))).json.state).toBe('recovering')
    expect((await change('resume', of(DESTINATION))).json.state).toBe('delivering')
  })

  it('200 changes nothing for another plan', async () => {
    await change('pause', of(OTHER))
    expect(namesOf(await list('', PLAN_SECOND))).toEqual([])
    expect(namesOf(await list('', PLAN_OTHER, asOther))).toEqual([])
    expect((await change('resume', of(OTHER, PLAN_OTHER), asOther)).json.state).toBe('delivering')
    expect((await list()).json.items).toMatchObject([{ destination: OTHER, state: 'paused' }])
  })

  it('409 to resuming what the operator has paused', async () => {
    await pauseDestination(service.db, 1, OTHER, 'operator')
    const answer = await change('resume', of(OTHER))
    expect([answer.status, answer.json.errorCode]).toEqual([409, 'CONFLICT'])
    expect((await list()).json.items).toMatchObject([{ state: 'paused', pausedBy: 'operator' }])
  })

  it.each<[unknown, string[]]>([
    [{ servicePlanId: PLAN }, ['destination REQUIRED']],
    [of(''), ['destination INVALID_FORMAT']],
    [of(7), ['destination WRONG_TYPE']],
    [of([OTHER]), ['destination WRONG_TYPE']],
    [of('example.com'), ['destination INVALID_FORMAT']],
    [of('https://example.com/'), ['destination INVALID_FORMAT']],
    [of('https://example.com:443'), ['destination INVALID_FORMAT']],
    [of('https://me:secret@example.com'), ['destination INVALID_FORMAT']],
    [of('https://example.com\u0000'), ['destination INVALID_FORMAT']],
    [of(`https://${'a'.repeat(300)}`), ['destination TOO_LONG']],
    [{ ...of(OTHER), by: 'operator' }, ['by UNKNOWN_FIELD']],
    [{ destination: OTHER }, ['servicePlanId REQUIRED']],
    [of(OTHER, 'x'), ['servicePlanId INVALID_FORMAT']],
    [[], ['request WRONG_TYPE']],
  ])('400 to %j', async (body, faults) => {
    for (const verb of ['pause', 'resume']) expect(faultsOf(await change(verb, body))).toEqual(faults)
    expect(namesOf(await list())).toEqual([])
  })

  it('405 to reading', async () => {
    for (const verb of ['pause', 'resume']) {
      const answer = await service.get(`/v1/webhooks/destinations/${verb}`)
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })
})

describe('both', () => {
  it('401 without a valid token', async () => {
    const headers = { authorization: 'Bearer nobody' }
    for (const verb of ['pause', 'resume']) expect((await change(verb, of(OTHER), headers)).status).toBe(401)
  })

  it('403 for a plan that is not the token’s', async () => {
    for (const [plan, headers] of FORBIDDEN_PLANS) {
      const changed = ['pause', 'resume'].map((verb) => change(verb, of(OTHER, plan), headers))
      for (const answer of await Promise.all(changed)) {
        expect([answer.status, answer.json.errorCode]).toEqual([403, 'FORBIDDEN'])
      }
    }
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashToken } from '../../../src/domain/credentials.ts'
import { SANDBOX } from '../../../src/domain/sandbox.ts'
import { OUTCOME_TABLE } from '../../../src/services/sandbox/sandbox.ts'
import { anAccount, aPlan, aRoute } from '../../support/directory.ts'
import {
  FORBIDDEN_PLANS,
  type HttpService,
  PLAN,
  PLAN_SECOND,
  startHttpService,
} from '../../support/http-service.ts'

/** What is answered without a simulator; test/app/sandbox.test.ts has the rest. `read-access.test.ts` reads GET /v1/sandbox. */

const NUMBER = '+15550001000'
const OF_OTHERS = '+15550001001'
const SANDBOX_PLAN = { sandbox: true, route: aRoute({ name: SANDBOX }) }
const numbers = [
  { number: NUMBER, plan: aPlan({ id: 1 }), keywords: ['JOIN'] },
  { number: OF_OTHERS, plan: aPlan({ id: 2 }), keywords: [] },
]
const CONTENTS = { inboundNumbers: new Map(numbers.map((number) => [number.number, number])) }

let service: HttpService
beforeAll(async () => {
  const limits = { handsetMessages: { perSecond: 1_000, burst: 1_000 } }
  service = await startHttpService({ plan: SANDBOX_PLAN, contents: CONTENTS, limits })
})
afterAll(() => service[Symbol.asyncDispose]())

function inbound(fields: Record<string, unknown> = {}, headers: Record<string, string> = {}, at = service) {
  const body = { servicePlanId: PLAN, from: '+15551230001', to: NUMBER, body: 'hello', ...fields }
  return at.request({
    method: 'POST',
    path: '/v1/sandbox/inbound',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

describe('GET /v1/sandbox', () => {
  it('200 has the numbers of the plan, and the table of outcomes', async () => {
    const { status, json } = await service.get(`/v1/sandbox?servicePlanId=${PLAN}`)
    expect(status).toBe(200)
    expect(json).toEqual({
      servicePlanId: PLAN,
      numbers: [{ number: NUMBER, keywords: ['JOIN'] }],
      outcomes: OUTCOME_TABLE,
    })
  })

  it('404 for a plan that is not a sandbox', async () => {
    const { status, json } = await service.get(`/v1/sandbox?servicePlanId=${PLAN_SECOND}`)
    expect([status, json.errorCode, json.errorMessage]).toEqual([
      404,
      'NOT_FOUND',
      'The service plan is not a sandbox',
    ])
  })

  it('400 without a plan', async () => {
    for (const query of ['', '?servicePlanId=1']) {
      const { status, json } = await service.get(`/v1/sandbox${query}`)
      expect([status, json.errors[0].field]).toEqual([400, 'servicePlanId'])
    }
  })
})

describe('POST /v1/sandbox/inbound', () => {
  it('503 with Retry-After while the node is not bound to its simulator', async () => {
    const { status, json, headers } = await inbound()
    expect([status, json.errorCode]).toEqual([503, 'SERVICE_UNAVAILABLE'])
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['no plan', { servicePlanId: undefined }, 'servicePlanId'],
    ['a plan that is no identifier', { servicePlanId: 'x' }, 'servicePlanId'],
    ['no handset', { from: undefined }, 'from'],
    ['a handset with a name', { from: 'Aldis' }, 'from'],
    ['a handset with a short code', { from: '12345' }, 'from'],
    ['no number', { to: undefined }, 'to'],
    ['a number that nobody has', { to: '+15550009999' }, 'to'],
    ['a number of another plan', { to: OF_OTHERS }, 'to'],
    ['an empty number', { to: '' }, 'to'],
    ['no text', { body: undefined }, 'body'],
    ['an empty text', { body: '' }, 'body'],
    ['a text that is too long', { body: '👋'.repeat(1_601) }, 'body'],
    ['a text with a lone surrogate', { body: '\ud83d' }, 'body'],
    ['a text with a NUL', { body: 'a\0b' }, 'body'],
    ['a text that is no text', { body: 7 }, 'body'],
    ['a field that nobody knows', { bodi: 'hello' }, 'bodi'],
  ])('400 with %s', async (_, fields, field) => {
    const { status, json } = await inbound(fields)
    expect([status, json.errorCode]).toEqual([400, 'VALIDATION_ERROR'])
    expect(json.errors.map((each: { field: string }) => each.field)).toEqual([field])
  })

  it('401 without a valid token', async () => {
    for (const authorization of ['', 'Bearer x', 'Token x']) {
      const { status, json } = await inbound({}, { authorization })
      expect([status, json.errorCode]).toEqual([401, 'UNAUTHENTICATED'])
    }
  })

  it('403 for a plan that is not the token’s, alike whether it exists', async () => {
    const texts = new Set<string>()
    for (const [servicePlanId, headers] of FORBIDDEN_PLANS) {
      const { status, json, text } = await inbound({ servicePlanId }, headers)
      expect([status, json.errorCode]).toEqual([403, 'FORBIDDEN'])
      texts.add(text.replace(json.requestId, ''))
    }
    expect(texts.size).toBe(1)
  })

  it('404 for a plan that is not a sandbox, whoever has the number', async () => {
    for (const to of [NUMBER, OF_OTHERS]) {
      const { status, json } = await inbound({ servicePlanId: PLAN_SECOND, to })
      expect([status, json.errorCode]).toEqual([404, 'NOT_FOUND'])
    }
  })

  it('405 to another method', async () => {
    const { status, headers } = await service.get('/v1/sandbox/inbound')
    expect([status, headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('413 and 415 for a body that is too large, or not JSON', async () => {
    expect((await inbound({ body: 'x'.repeat(70_000) })).status).toBe(413)
    expect((await inbound({}, { 'content-type': 'text/plain' })).status).toBe(415)
  })

  it('429 over the rate of an account', async () => {
    const limits = { handsetMessages: { perSecond: 0.001, burst: 2 } }
    const { database } = service
    await using slow = await startHttpService({ database, plan: SANDBOX_PLAN, contents: CONTENTS, limits })
    const answers = [await inbound({}, {}, slow), await inbound({}, {}, slow), await inbound({}, {}, slow)]
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 429])
    expect(answers[2]!.headers.get('ratelimit')).toMatch(/^"handset";r=0;t=\d+$/)
  })
})

describe('scopes', () => {
  const account = anAccount()
  const plan = aPlan({ ...SANDBOX_PLAN, id: 1, servicePlanId: PLAN, account })
  const tokenOf = (scope: 'send' | 'read' | 'webhooks') =>
    [
      hashToken(`only-${scope}`),
      { id: 1, name: scope, account, planIds: null, scopes: new Set([scope]), expiresAtMs: null },
    ] as const

  it('403 to send from a handset without the scope send, and to look without read', async () => {
    const tokens = new Map([tokenOf('send'), tokenOf('read'), tokenOf('webhooks')])
    const contents = { ...CONTENTS, plans: [plan], tokens }
    await using scoped = await startHttpService({ database: service.database, contents })
    const statuses = async (scope: string) => {
      const headers = { authorization: `Bearer only-${scope}` }
      const seen = await scoped.get(`/v1/sandbox?servicePlanId=${PLAN}`, headers)
      return [(await inbound({}, headers, scoped)).status, seen.status]
    }
    expect(await statuses('send')).toEqual([503, 403])
    expect(await statuses('read')).toEqual([403, 200])
    expect(await statuses('webhooks')).toEqual([403, 403])
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ServicePlan } from '../../../src/domain/configuration/configuration.ts'
import { DEFAULT_OPT_OUT } from '../../../src/domain/opt-outs.ts'
import { withTransaction } from '../../../src/store/database.ts'
import { aCarrier, aRoute, aRule } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import {
  type HttpService,
  PLAN,
  PLAN_INACTIVE,
  PLAN_INCOMPLETE,
  PLAN_OTHER,
  PLAN_SECOND,
  PLAN_SHORT_CODES,
  startHttpService,
  storePlans,
  TOKEN_LIMITED,
  TOKEN_OTHER,
} from '../../support/http-service.ts'

const ROUTE = aRoute({
  name: 'default',
  carriers: [
    { carrierId: 2, priority: 0, weight: 3 },
    { carrierId: 1, priority: 1, weight: 1 },
  ],
})
const SETTINGS: Partial<ServicePlan> = { route: ROUTE, smartEncoding: true, optOut: DEFAULT_OPT_OUT }
const RATE = { id: 1, planId: null, prefix: null, country: 'US', mccmnc: null }
const UK = aRoute({ id: 2, name: 'uk', carriers: [{ carrierId: 1, priority: 0, weight: 1 }] })
const CONTENTS = {
  carriers: [aCarrier({ id: 1, name: 'backup' }), aCarrier({ id: 2, name: 'acme' })],
  routes: [ROUTE, UK],
  routingRules: [aRule({ prefix: '+4474', route: UK })],
  numberRanges: new Map([['+1555', '310260']]),
  rates: [{ ...RATE, price: '0.0085', ptf: '0.003', currency: 'USD' }],
}

let service: HttpService
beforeAll(async () => {
  service = await startHttpService({
    plan: SETTINGS,
    contents: CONTENTS,
    limits: { preflights: { perSecond: 1_000, burst: 1_000 } },
  })
  await storePlans(service)
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(() => service.db.query('delete from opt_outs'))

async function told(fields: Record<string, unknown> = {}) {
  const answer = await service.preflight(fields)
  expect(answer.status).toBe(200)
  return answer.json
}

describe('POST /v1/sendsms/preflight', () => {
  it('200 tells the whole of a send that would be accepted, and stores nothing', async () => {
    const before = await service.storedMessages()
    const json = await told({ callbackUrl: 'https://hooks.example.com/dlr' })
    expect(json).toEqual({
      refusal: null,
      text: {
        encoding: 'GSM7',
        segments: 1,
        segmentTexts: ['hello'],
        ucs2Characters: [],
        smartReplacements: [],
      },
      sender: { type: 'short-code', allowed: true, errorCode: null, errorMessage: null },
      recipient: { valid: true, msisdn: '+15551230001', country: 'US', mccmnc: '310260', optedOut: false },
      route: { name: 'default', reason: "plan's route default", available: true },
      charge: { price: 0.0085, ptf: 0.003, currency: 'USD' },
      sandbox: false,
      headroom: { messages: null, limitedBy: null },
      callbackUrl: { allowed: true, code: null, message: null },
      unknownFields: [],
    })
    expect(await service.storedMessages()).toBe(before)
  })

  it('200 tells as much as the faults leave, each with the words of the send', async () => {
    const fields = { from: '', to: '00 1 (555) 123-0001', callbackUrl: 'http://10.0.0.1', body: 'hello' }
    const { refusal, ...rest } = await told(fields)
    const send = await service.send(fields)
    const { errorCode, errorMessage, errors } = send.json
    expect(refusal).toEqual({ status: send.status, errorCode, errorMessage, errors })
    expect(rest).toMatchObject({
      text: { encoding: 'GSM7', segments: 1 },
      sender: { type: null, allowed: null },
      recipient: { valid: false, msisdn: '+15551230001', country: 'US', optedOut: null },
      route: null,
      charge: null,
      callbackUrl: { allowed: false, code: errors.at(-1).code, message: errors.at(-1).message },
    })
  })

  it('200 names the characters of a UCS-2 text, and what smart encoding would replace', async () => {
    const { text, charge } = await told({ body: `“No” – ${'😀'.repeat(70)}` })
    expect(text).toMatchObject({
      encoding: 'UCS2',
      segments: 3,
      ucs2Characters: [
        { character: '“', codePoint: 'U+201C', position: 0 },
        { character: '”', codePoint: 'U+201D', position: 3 },
        { character: '–', codePoint: 'U+2013', position: 5 },
        { character: '😀', codePoint: 'U+1F600', position: 7 },
      ],
      smartReplacements: [
        { characters: '“', replacement: '"', position: 0 },
        { characters: '”', replacement: '"', position: 3 },
        { characters: '–', replacement: '-', position: 5 },
      ],
    })
    expect(charge).toEqual({ price: 0.0255, ptf: 0.009, currency: 'USD' })
    const plain = await told({ body: '“No” –', servicePlanId: PLAN_SECOND })
    expect(plain.text).toMatchObject({ encoding: 'UCS2', smartReplacements: [] })
  })

  it('200 counts segments as the record does', async () => {
    for (const body of ['hello', 'x'.repeat(161), '“quoted”', 'ж'.repeat(71), '😀'.repeat(1_600)]) {
      const { text } = await told({ body })
      expect(text.segments).toBe((await service.send({ body })).json.segments)
      expect(text.segmentTexts).toHaveLength(text.segments)
    }
    await service.db.query('truncate messages, dispatches')
  })

  it('200 names the rule that chose the route', async () => {
    const { route, charge, recipient } = await told({ to: '+447400123456' })
    expect(route).toEqual({ name: 'uk', reason: 'rule +4474 → route uk', available: true })
    expect([charge, recipient.mccmnc, recipient.country]).toEqual([null, null, 'GB'])
  })

  it.each([
    ['Pending', 409, 'SENDER_PENDING_APPROVAL'],
    ['Denied', 403, 'SENDER_NOT_AUTHORIZED'],
    ['Archived', 422, 'SENDER_STATUS_UNKNOWN'],
  ])('200 tells that %s is refused, and no route', async (from, status, errorCode) => {
    const { refusal, sender, route, charge } = await told({ from })
    expect(refusal).toMatchObject({ status, errorCode })
    expect(sender).toEqual({
      type: 'alphanumeric',
      allowed: false,
      errorCode,
      errorMessage: refusal.errorMessage,
    })
    expect([route, charge.currency]).toEqual([null, 'USD'])
  })

  it('200 tells that the recipient has opted out, which a send accepts', async () => {
    await service.db.query(
      `insert into opt_outs (plan_id, sender, recipient) values (1, '12345', '+15551230001'), (2, '12345', '+15551230001')`,
    )
    expect(await told()).toMatchObject({ refusal: null, recipient: { optedOut: true } })
    const others = await Promise.all([
      told({ to: '+15551230002' }),
      told({ from: 'Aldis' }),
      told({ servicePlanId: PLAN_SECOND }),
    ])
    expect(others.map(({ recipient }) => recipient.optedOut)).toEqual([false, false, false])
  })

  it('200 names fields that a send ignores, and what may be meant', async () => {
    const { unknownFields, callbackUrl } = await told({ callbackURL: 'https://a.example', priority: 1 })
    expect(unknownFields).toEqual([
      { field: 'callbackURL', suggestion: 'callbackUrl' },
      { field: 'priority', suggestion: null },
    ])
    expect(callbackUrl).toBeNull()
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`field${n}`, n]))
    expect((await told(many)).unknownFields).toHaveLength(50)
  })

  it.each([
    [PLAN_INACTIVE, 401, 'SERVICE_PLAN_INACTIVE'],
    [PLAN_INCOMPLETE, 400, 'SERVICE_PLAN_INCOMPLETE'],
    [PLAN_SHORT_CODES, 403, 'SENDER_NOT_AUTHORIZED'],
  ])('200 tells of the own plan %s, which is answered %i %s', async (servicePlanId, status, errorCode) => {
    const { refusal, text } = await told({ servicePlanId, from: 'Aldis' })
    expect(refusal).toMatchObject({ status, errorCode })
    expect(text.segments).toBe(1)
  })

  it('200 tells nothing of the plan of somebody else, nor whether there is one', async () => {
    const [others, nobodys] = await Promise.all(
      [PLAN_OTHER, 'f'.repeat(24)].map((servicePlanId) => told({ servicePlanId })),
    )
    expect(others).toEqual(nobodys)
    expect(others).toMatchObject({
      refusal: { status: 404, errorCode: 'SERVICE_PLAN_NOT_FOUND' },
      text: null,
      sender: { allowed: null },
      recipient: { optedOut: null },
      route: null,
      charge: null,
      headroom: null,
    })
    const limited = { authorization: `Bearer ${TOKEN_LIMITED}` }
    const second = (await service.preflight({ servicePlanId: PLAN_SECOND }, limited)).json
    expect(second).toMatchObject({
      refusal: { status: 403, errorCode: 'FORBIDDEN' },
      text: null,
      route: null,
    })
  })

  it('413 to a body that no send may have; 200 to a record that is too large', async () => {
    expect((await service.preflight({ body: 'x'.repeat(70_000) })).status).toBe(413)
    await using small = await startHttpService({ database: service.database, limits: { recordBytes: 100 } })
    const { status, json } = await small.preflight({ body: 'x'.repeat(200) })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      refusal: { status: 413, errorCode: 'MESSAGE_TOO_LARGE' },
      text: { segments: 2 },
    })
  })
})

it('503 while the database does not tell whether the recipient has opted out', async () => {
  const refused = { status: 503, json: { errorCode: 'SERVICE_UNAVAILABLE' } }
  await withTransaction(service.db, async (locker) => {
    await locker.query('lock table opt_outs in access exclusive mode')
    const first = service.preflight()
    const waiting = () =>
      service.db.query<{ pid: number }>(
        `select pid from pg_locks where relation = 'opt_outs'::regclass and not granted`,
      )
    const [waiter] = await eventually(async () => {
      const { rows } = await waiting()
      return rows.length > 0 && rows
    })
    // The second gets no turn behind the first, and the connection of the first breaks.
    expect(await service.preflight()).toMatchObject(refused)
    await service.db.query('select pg_terminate_backend($1)', [waiter!.pid])
    const { headers, ...answer } = await first
    expect(answer).toMatchObject(refused)
    expect(headers.get('retry-after')).toBe('2')
  })
  expect((await service.preflight()).status).toBe(200)
})

describe('its limits', () => {
  it('it takes nothing from the rate limits of sends, and tells what is left', async () => {
    await using limited = await startHttpService({
      database: service.database,
      accountRateLimit: { perSecond: 1, burst: 3 },
      planRateLimit: { perSecond: 1, burst: 2 },
      clock: () => 0,
    })
    const headroom = async (servicePlanId: string) =>
      (await limited.preflight({ servicePlanId })).json.headroom
    for (let times = 0; times < 3; times += 1)
      expect(await headroom(PLAN)).toEqual({ messages: 2, limitedBy: 'plan' })
    expect(await headroom(PLAN_SECOND)).toEqual({ messages: 3, limitedBy: 'account' })
    await limited.send()
    expect(await headroom(PLAN)).toEqual({ messages: 1, limitedBy: 'plan' })
    await limited.send()
    expect((await limited.send()).status).toBe(429)
    expect((await limited.preflight()).json).toMatchObject({
      refusal: null,
      headroom: { messages: 0, limitedBy: 'plan' },
    })
    expect(await headroom(PLAN_SECOND)).toEqual({ messages: 0, limitedBy: 'account' })
  })

  it('429 beyond its own bound, which neither sends nor other accounts notice', async () => {
    await using bounded = await startHttpService({
      database: service.database,
      limits: { preflights: { perSecond: 1, burst: 2 } },
      clock: () => 0,
    })
    const statuses = [await bounded.preflight(), await bounded.preflight({ to: '1' })].map(
      ({ status }) => status,
    )
    expect(statuses).toEqual([200, 200])
    const refused = await bounded.preflight()
    expect([refused.status, refused.json.errorCode]).toEqual([429, 'RATE_LIMITED'])
    expect(refused.headers.get('ratelimit-policy')).toBe('"preflights";q=2;w=2')
    expect((await bounded.send()).status).toBe(202)
    const asOther = { authorization: `Bearer ${TOKEN_OTHER}` }
    expect((await bounded.preflight({ servicePlanId: PLAN_OTHER }, asOther)).status).toBe(200)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type HttpService,
  PLAN,
  PLAN_INACTIVE,
  PLAN_OTHER,
  PLAN_SECOND,
  startHttpService,
  TOKEN_LIMITED,
  TOKEN_OTHER,
} from '../../support/http-service.ts'
import type { HttpAnswer } from '../../support/raw-http.ts'

let service: HttpService
let sent: HttpAnswer
let msgId: string
/** Of the same account, under the plan that TOKEN_LIMITED does not cover. */
let secondId: string

beforeAll(async () => {
  service = await startHttpService()
  sent = await service.send({ body: 'Grüße' })
  msgId = sent.json.msgId
  secondId = (await service.send({ servicePlanId: PLAN_SECOND })).json.msgId
})
afterAll(() => service[Symbol.asyncDispose]())

const UNKNOWN = '00000000-0000-4000-8000-000000000000'
const limited = { authorization: `Bearer ${TOKEN_LIMITED}` }
const foreign = { authorization: `Bearer ${TOKEN_OTHER}` }

function outcome(answer: HttpAnswer): [number, string | undefined] {
  return [answer.status, answer.json?.errorCode]
}

describe('GET /v1/messages/sms/{msgId}', () => {
  const path = (id: string, plan = PLAN) => `/v1/messages/sms/${id}?servicePlanId=${plan}`

  it('200 answers the record as send did', async () => {
    const answer = await service.get(path(msgId))
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual(sent.json)
  })

  it('200 whatever the case of the ids, and with unknown parameters', async () => {
    const answer = await service.get(`${path(msgId.toUpperCase(), PLAN.toUpperCase())}&x=1`)
    expect(answer.json).toEqual(sent.json)
  })

  it('200 shows what became of the message', async () => {
    const { msgId: delivered } = (await service.send()).json
    await service.db.query(
      `update messages set status = 'DELIVERED', mccmnc = '310260', price = 0.0075, ptf = 0, currency = 'USD',
              sent_at = '2026-01-02T03:04:05.678Z', updated_at = '2026-01-02T03:04:06Z' where msg_id = $1`,
      [delivered],
    )
    expect((await service.get(path(delivered))).json).toMatchObject({
      status: 'DELIVERED',
      errorCode: '000',
      errorMessage: 'Message delivered to the handset',
      price: 0.0075,
      ptf: 0,
      currency: 'USD',
      mccmnc: '310260',
      sentAt: '2026-01-02T03:04:05.678Z',
      updatedAt: '2026-01-02T03:04:06.000Z',
    })
  })

  it('400 lists every fault of path and query', async () => {
    const answer = await service.get('/v1/messages/sms/nonsense?servicePlanId=xyz')
    expect(outcome(answer)).toEqual([400, 'VALIDATION_ERROR'])
    expect(answer.json.errors.map(({ field }: { field: string }) => field)).toEqual([
      'msgId',
      'servicePlanId',
    ])
  })

  it.each([
    ['missing', '', 'REQUIRED'],
    ['empty', '?servicePlanId=', 'EMPTY'],
    ['given twice', `?servicePlanId=${PLAN}&servicePlanId=${PLAN}`, 'REPEATED'],
    ['malformed', '?servicePlanId=65f0', 'INVALID_FORMAT'],
    ['in brackets', `?servicePlanId=${PLAN}&servicePlanId[]=${PLAN_OTHER}`, 'REPEATED'],
  ])('400 when servicePlanId is %s', async (_how, query, code) => {
    const answer = await service.get(`/v1/messages/sms/${msgId}${query}`)
    expect(outcome(answer)).toEqual([400, 'VALIDATION_ERROR'])
    expect(answer.json.errors).toEqual([{ field: 'servicePlanId', code, message: expect.any(String) }])
  })

  it('404 when there is no such message of that plan', async () => {
    for (const answer of [
      await service.get(path(UNKNOWN)),
      await service.get(path(secondId)),
      await service.get(path(msgId, PLAN_INACTIVE)),
      await service.get(path(msgId, PLAN_OTHER), foreign),
    ]) {
      expect(outcome(answer)).toEqual([404, 'MESSAGE_NOT_FOUND'])
    }
  })

  it('500 says nothing of what went wrong', async () => {
    await service.db.query('alter table messages rename column body to text')
    const answer = await service.get(path(msgId))
    await service.db.query('alter table messages rename column text to body')
    expect(outcome(answer)).toEqual([500, 'INTERNAL_ERROR'])
    expect(answer.json.errorMessage).toBe('The request could not be completed')
    expect(Object.keys(answer.json)).toEqual(['errorCode', 'errorMessage', 'requestId'])
  })
})

describe('GET /v1/messages/{msgId}', () => {
  it('200 with the plan left out searches every plan of the token', async () => {
    expect((await service.get(`/v1/messages/${msgId}`)).json).toEqual(sent.json)
    expect((await service.get(`/v1/messages/${secondId}`)).json.servicePlanId).toBe(PLAN_SECOND)
    expect((await service.get(`/v1/messages/${msgId}`, limited)).status).toBe(200)
  })

  it('400 for a malformed id, and for a malformed plan', async () => {
    expect((await service.get('/v1/messages/nonsense')).status).toBe(400)
    expect((await service.get(`/v1/messages/${msgId}?servicePlanId=`)).status).toBe(400)
  })

  it('404 outside the plans of the token', async () => {
    expect((await service.get(`/v1/messages/${secondId}`, limited)).status).toBe(404)
    expect((await service.get(`/v1/messages/${msgId}`, foreign)).status).toBe(404)
    expect((await service.get(`/v1/messages/${msgId}?servicePlanId=${PLAN_SECOND}`)).status).toBe(404)
  })
})

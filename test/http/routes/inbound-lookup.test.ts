import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ACCOUNT,
  type HttpService,
  PLAN,
  PLAN_OTHER,
  PLAN_SECOND,
  startHttpService,
  TOKEN_LIMITED,
  TOKEN_OTHER,
} from '../../support/http-service.ts'
import { newId } from '../../support/installation.ts'

const AT = Date.parse('2026-03-01T12:00:00.123Z')
const MINE = newId(AT)
const OTHERS = newId(AT)

let service: HttpService
beforeAll(async () => {
  service = await startHttpService()
  await service.db.query(
    `insert into inbound_messages (plan_id, msg_id, carrier_id, sender, recipient, keyword, body)
     values (1, $1, 1, '+15551230001', '71234', 'JOIN', 'join us'), (6, $2, 1, '+15551230001', '71235', null, '')`,
    [MINE, OTHERS],
  )
})
afterAll(() => service[Symbol.asyncDispose]())

function lookUp(msgId: string, plan: string, headers: Record<string, string> = {}) {
  return service.get(`/v1/inbound/sms/${msgId}?servicePlanId=${plan}`, headers)
}

describe('GET /v1/inbound/sms/{msgId}', () => {
  it('200 answers the message as it was pushed, id and plan in either case', async () => {
    const answer = await lookUp(MINE, PLAN)
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      accountId: ACCOUNT,
      servicePlanId: PLAN,
      msgId: MINE,
      channel: 'SMS',
      direction: 'MO',
      from: '+15551230001',
      to: '71234',
      keyword: 'JOIN',
      body: 'join us',
      receivedAt: '2026-03-01T12:00:00.123Z',
    })
    expect((await lookUp(MINE.toUpperCase(), PLAN.toUpperCase())).json).toEqual(answer.json)
    const theirs = await lookUp(OTHERS, PLAN_OTHER, { authorization: `Bearer ${TOKEN_OTHER}` })
    expect(theirs.json).toMatchObject({ msgId: OTHERS, body: '' })
    expect(theirs.json).not.toHaveProperty('keyword')
  })

  it('400 names what is at fault', async () => {
    for (const [path, fields] of [
      [`/v1/inbound/sms/${MINE}`, ['servicePlanId']],
      [`/v1/inbound/sms/12345?servicePlanId=x`, ['msgId', 'servicePlanId']],
      [`/v1/inbound/sms/${MINE}?servicePlanId=${PLAN}&servicePlanId=${PLAN}`, ['servicePlanId']],
      [`/v1/inbound/sms/${MINE}?servicePlanId[]=${PLAN}`, ['servicePlanId', 'servicePlanId']],
    ] as const) {
      const { status, json } = await service.get(path)
      expect([status, json.errorCode]).toEqual([400, 'VALIDATION_ERROR'])
      expect(json.errors.map(({ field }: { field: string }) => field)).toEqual(fields)
    }
  })

  it('403 for a plan that is not the token’s, whether the message exists or not', async () => {
    for (const msgId of [OTHERS, MINE, newId(AT)]) {
      const answer = await lookUp(msgId, PLAN_OTHER)
      expect([answer.status, answer.json.errorCode]).toEqual([403, 'FORBIDDEN'])
    }
    const limited = await lookUp(MINE, PLAN_SECOND, { authorization: `Bearer ${TOKEN_LIMITED}` })
    expect(limited.status).toBe(403)
  })

  it('404 for a message of another plan, as for none', async () => {
    const sent = await service.send()
    for (const [msgId, plan] of [
      [OTHERS, PLAN],
      [MINE, PLAN_SECOND],
      [newId(AT), PLAN],
      [sent.json.msgId, PLAN],
    ]) {
      const answer = await lookUp(msgId, plan!)
      expect([answer.status, answer.json.errorCode]).toEqual([404, 'MESSAGE_NOT_FOUND'])
    }
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aRoute } from '../../support/directory.ts'
import { type HttpService, PLAN, PLAN_SECOND, startHttpService } from '../../support/http-service.ts'

/** `read-access.test.ts` has who may read, and test/app/message-path.test.ts a carrier that is stopped. */

const route = aRoute({ carriers: [{ carrierId: 1, priority: 0, weight: 1 }] })

let service: HttpService
beforeAll(async () => {
  service = await startHttpService({ plan: { route }, contents: { routes: [route] } })
})
afterAll(() => service[Symbol.asyncDispose]())

const wait = (msgId: string, plan = PLAN) =>
  service.get(`/v1/messages/sms/${msgId}/wait?servicePlanId=${plan}`)

async function sent(): Promise<string> {
  return (await service.send()).json.msgId
}

describe('GET /v1/messages/sms/{msgId}/wait', () => {
  it('200 says why, and when it is tried again', async () => {
    const msgId = await sent()
    expect((await wait(msgId.toUpperCase())).json).toEqual({
      msgId,
      status: 'QUEUED',
      waiting: true,
      cause: 'turn',
      nextAttemptAt: null,
    })
    const dueAt = '2036-01-02T03:04:05.000Z'
    await service.db.query('update dispatches set due_at = $2, failed_attempts = 1 where msg_id = $1', [
      msgId,
      dueAt,
    ])
    expect((await wait(msgId)).json).toMatchObject({ cause: 'retry', nextAttemptAt: dueAt })
    await service.db.query('update dispatches set ambiguous = true where msg_id = $1', [msgId])
    expect((await wait(msgId)).json).toMatchObject({ cause: 'in-doubt', nextAttemptAt: dueAt })
  })

  it('200 of a message that neither a node has nor the database queues: no cause', async () => {
    const msgId = await sent()
    await service.db.query('delete from dispatches where msg_id = $1', [msgId])
    expect((await wait(msgId)).json).toMatchObject({ waiting: true, cause: null, nextAttemptAt: null })
  })

  it('200 of a message that was submitted', async () => {
    const msgId = await sent()
    await service.db.query(`update messages set status = 'SENT' where msg_id = $1`, [msgId])
    expect((await wait(msgId)).json).toEqual({
      msgId,
      status: 'SENT',
      waiting: false,
      cause: null,
      nextAttemptAt: null,
    })
  })

  it('404 for a message of another plan, and for none', async () => {
    const msgId = await sent()
    for (const answer of [await wait(msgId, PLAN_SECOND), await wait('00000000-0000-4000-8000-000000000000')])
      expect([answer.status, answer.json.errorCode]).toEqual([404, 'MESSAGE_NOT_FOUND'])
  })

  it('400 without a plan', async () => {
    const { status, json } = await service.get(`/v1/messages/sms/${await sent()}/wait`)
    expect([status, json.errors[0].field]).toEqual([400, 'servicePlanId'])
  })
})

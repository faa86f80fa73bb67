import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually, type Service } from '../support/service.ts'
import { serviceOfFile } from '../support/tenant-per-test.ts'
import { acknowledge, answerStatus, type ReceivedWebhook } from '../support/webhook-receiver.ts'

const { tenant } = serviceOfFile()
let service: Service

beforeEach(async () => {
  service = await tenant()
})

afterEach(() => service[Symbol.asyncDispose]())

interface Attempt {
  sequence: number
  attempt: number
  response_status: number | null
  error: string | null
}

async function attempts(msgId: string): Promise<Attempt[]> {
  const { rows } = await service.db.query<Attempt>(
    'select sequence, attempt, response_status, error from webhook_attempts where msg_id = $1 order by sequence, attempt',
    [msgId],
  )
  return rows
}

/** Waits until so many attempts are written down. */
function untilAttempts(msgId: string, count: number): Promise<unknown> {
  return eventually(async () => (await attempts(msgId)).length >= count)
}

function of(msgId: string): ReceivedWebhook[] {
  return service.receiver.received.filter(({ body }) => body.includes(msgId))
}

describe('a receiver that fails', () => {
  test('500, then 200: the same webhook-id, and SENT before DELIVERED although that came meanwhile', async () => {
    service.receiver.answerWith(answerStatus(500))
    const msgId = await service.sent()
    await service.until(msgId, 'DELIVERED')
    await untilAttempts(msgId, 1)
    expect(service.statuses(msgId)).toEqual(['SENT'])
    await service.makeDue()
    await untilAttempts(msgId, 2)
    service.receiver.answerWith(acknowledge)
    await service.makeDue()
    await service.untilWebhooks(msgId, ['SENT', 'SENT', 'SENT', 'DELIVERED'])
    const ids = of(msgId).map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids.slice(0, 3)).size).toBe(1)
    expect(ids[3]).not.toBe(ids[0])
    expect(
      new Set(
        of(msgId)
          .slice(0, 3)
          .map(({ body }) => body),
      ).size,
    ).toBe(1)
    expect(await attempts(msgId)).toMatchObject([
      { sequence: 1, attempt: 1, response_status: 500 },
      { sequence: 1, attempt: 2, response_status: 500 },
      { sequence: 1, attempt: 3, response_status: 200 },
    ])
    const { rows } = await service.db.query(
      'select sequence, attempts, response_status, delivered_at from events where msg_id = $1 order by sequence',
      [msgId],
    )
    expect(rows).toMatchObject([
      { sequence: 1, attempts: 3, response_status: 200, delivered_at: expect.any(Date) },
      { sequence: 2, attempts: 1, response_status: 200, delivered_at: expect.any(Date) },
    ])
  })

  test('410 from the callbackUrl of a message: given up and kept, the next event follows', async () => {
    service.receiver.answerWith((exchange) =>
      (exchange.request.status === 'SENT' ? answerStatus(410) : acknowledge)(exchange),
    )
    const msgId = await service.sent({ callbackUrl: `${service.receiver.origin}/own` })
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    await service.makeDue()
    const { rows } = await service.db.query(
      'select sequence, holder, state, due_at from event_deliveries where msg_id = $1',
      [msgId],
    )
    expect(rows).toEqual([{ sequence: 1, holder: null, state: 'failed', due_at: Number.POSITIVE_INFINITY }])
  })

  test('a redirect is a failure and not followed', async () => {
    service.receiver.answerWith(answerStatus(307, { location: `${service.receiver.origin}/elsewhere` }))
    const msgId = await service.sent()
    await untilAttempts(msgId, 1)
    expect(of(msgId).map(({ path }) => path)).toEqual(['/dlr'])
    expect(await attempts(msgId)).toMatchObject([{ response_status: 307, error: 'REDIRECT' }])
    service.receiver.answerWith(acknowledge)
    await service.makeDue()
    await service.untilWebhooks(msgId, ['SENT', 'SENT', 'DELIVERED'])
  })

  test('an inbound message is announced again too', async () => {
    service.receiver.answerWith(answerStatus(500))
    await service.simulator.sendInbound({ from: '+15550002222', to: service.inboundNumber, body: 'again' })
    const first = await service.receiver.next()
    const { msgId } = JSON.parse(first.body)
    await untilAttempts(msgId, 1)
    service.receiver.answerWith(acknowledge)
    await service.makeDue()
    await service.untilWebhooks(msgId, ['MO', 'MO'])
    expect(of(msgId)[1]!.headers['webhook-id']).toBe(first.headers['webhook-id'])
  })
})

describe('several destinations', () => {
  test('one that never answers does not hold up another', async () => {
    const slow = await service.anotherReceiver()
    const held: (() => void)[] = []
    slow.answerWith((exchange) => held.push(() => acknowledge(exchange)))
    const slowIds = await Promise.all(
      Array.from({ length: 60 }, () => service.sent({ callbackUrl: `${slow.origin}/slow` })),
    )
    await eventually(() => held.length > 0)
    const ids = await Promise.all(Array.from({ length: 20 }, () => service.sent()))
    for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    slow.answerWith(acknowledge)
    for (const answer of held) answer()
    await eventually(() => slow.received.length === 120)
    for (const msgId of slowIds) {
      const bodies = slow.received.map(({ body }) => JSON.parse(body)).filter((body) => body.msgId === msgId)
      expect(bodies.map(({ status }) => status)).toEqual(['SENT', 'DELIVERED'])
    }
  })
})

describe('a node that stops', () => {
  test('events that wait are delivered by the next', async () => {
    service.receiver.answerWith(answerStatus(500))
    const ids = await Promise.all(Array.from({ length: 10 }, () => service.sent()))
    for (const msgId of ids) await service.until(msgId, 'DELIVERED')
    for (const msgId of ids) await untilAttempts(msgId, 1)
    await service.app.stop()
    service.receiver.answerWith(acknowledge)
    await service.restart()
    await service.makeDue()
    for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT', 'SENT', 'DELIVERED'])
  })

  test('one in flight is requeued, and delivered once more', async () => {
    const asked = Promise.withResolvers<void>()
    service.receiver.answerWith(() => asked.resolve())
    const msgId = await service.sent()
    await asked.promise
    await service.until(msgId, 'DELIVERED')
    await service.app.stop()
    const { rows } = await service.db.query(
      'select sequence, holder from event_deliveries where msg_id = $1 order by sequence',
      [msgId],
    )
    expect(rows).toEqual([
      { sequence: 1, holder: null },
      { sequence: 2, holder: null },
    ])
    service.receiver.answerWith(acknowledge)
    await service.restart()
    await service.untilWebhooks(msgId, ['SENT', 'SENT', 'DELIVERED'])
  })

  test('a test event whose receiver hangs is not waited for', async () => {
    const { receiver, servicePlanId, token, app } = service
    receiver.answerWith(() => undefined)
    const answered = fetch(`${app.url}/v1/webhooks/test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ servicePlanId, url: receiver.origin }),
    }).catch(() => null)
    await receiver.next(({ headers }) => headers['aldis-test'] === 'true')
    await app.stop()
    await answered
    expect(service.logs.filter((line) => line.includes('did not stop'))).toEqual([])
    await service.restart()
  })
})

describe('the thread that sends webhooks', () => {
  test('dies with requests under way: each event comes again, in order, under the same webhook-id', async () => {
    await service.restart()
    const born = once(process, 'worker')
    service.receiver.answerWith(() => undefined)
    const msgIds = await Promise.all(Array.from({ length: 5 }, () => service.sent()))
    for (const msgId of msgIds) await service.until(msgId, 'DELIVERED')
    await eventually(() => msgIds.every((msgId) => of(msgId).length === 1))
    service.receiver.answerWith(acknowledge)
    const [thread] = (await born) as [Worker]
    await thread.terminate()
    // They wait for 5 s.
    await eventually(async () => {
      await service.makeDue()
      return msgIds.every((msgId) => of(msgId).length >= 2)
    })
    for (const msgId of msgIds) {
      await service.untilWebhooks(msgId, ['SENT', 'SENT', 'DELIVERED'])
      const [lost, again] = of(msgId)
      expect(again!.eventId).toBe(lost!.eventId)
      expect(again!.attempt).toBe(1)
    }
  })
})

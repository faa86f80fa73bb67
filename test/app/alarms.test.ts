import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requestAdmin } from '../../src/commands/admin/client.ts'
import type { AlarmTimings } from '../../src/services/upkeep/alarm-watch.ts'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { otherNodes } from '../support/other-nodes.ts'
import { eventually, type Service, startService } from '../support/service.ts'
import { startSmsc } from '../support/smsc.ts'
import {
  acknowledge,
  answerStatus,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts'

const SECRET = `whsec_${randomBytes(32).toString('base64')}`
const TIMINGS: AlarmTimings = { intervalMs: 150, raiseAfterMs: 0, clearAfterMs: 0, retriesMs: [10, 10] }

let receiver: WebhookReceiver
let service: Service
const others = otherNodes(() => service)

beforeAll(async () => {
  receiver = await startWebhookReceiver({ secrets: [SECRET] })
  service = await startService({
    app: {
      alarmWebhookUrl: `${receiver.origin}/alarms`,
      alarmWebhookSecret: SECRET,
      alarmTimings: TIMINGS,
      alarmBacklogSeconds: 0,
      baseUrl: 'https://sms.example.net',
      heartbeatMs: 100,
    },
  })
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await receiver.close()
})

interface Told {
  readonly name: string
  readonly state: string
  readonly object: string
  readonly alarmId: string
}

/** A carrier of its own that is bound, and what was told of it since then. */
async function aCarrier() {
  let smsc: Simulator = await startSimulator({ port: 0 })
  const { port } = smsc
  const name = await service.anotherCarrier(port, {}, false)
  // Either node may have its bind. Until it is bound, that may be told too.
  await eventually(async () => {
    const { binds } = await service.admin('GET', `/carriers/${name}/binds`)
    // Takes as long as the watch, which may have looked before it was bound.
    await listed()
    const { rowCount } = await service.db.query('select from alarms where object = $1', [name])
    return binds[0].state === 'bound' && rowCount === 0
  })
  const from = receiver.received.length
  const requests = () =>
    receiver.received
      .slice(from)
      .map((request) => ({ request, alarm: JSON.parse(request.body) as Told }))
      .filter(({ alarm }) => alarm.object === name)
  return {
    name,
    requests,
    states: () => requests().map(({ alarm }) => alarm.state),
    kill: () => smsc.stop(),
    revive: async () => {
      smsc = await startSimulator({ port })
    },
    /** Ends it as an operator does, so that it raises no further alarm. */
    end: async () => {
      await service.admin('PATCH', `/carriers/${name}`, { state: 'stopped' })
      await smsc.stop()
    },
  }
}

type Carrier = Awaited<ReturnType<typeof aCarrier>>
const untilTold = (carrier: Carrier, ...states: string[]) =>
  eventually(() => carrier.states().length >= states.length || null).then(() =>
    expect(carrier.states()).toEqual(states),
  )
const listed = async () =>
  (await service.admin('GET', '/alarms')).items as { object: string; raisedAt: string | null }[]

test('a carrier that is killed raises an alarm, and clears it when it is back', async () => {
  const carrier = await aCarrier()
  expect((await listed()).map(({ object }) => object)).not.toContain(carrier.name)
  await carrier.kill()
  await untilTold(carrier, 'raised')
  const [{ request, alarm }] = carrier.requests() as [ReturnType<Carrier['requests']>[0]]
  expect(request).toMatchObject({ path: '/alarms', verified: true, attempt: 1, sequence: 1 })
  expect(alarm).toEqual({
    type: 'alarm',
    alarmId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'carrier-unbound',
    state: 'raised',
    object: carrier.name,
    summary: expect.stringMatching(`^Carrier ${carrier.name} is not bound`),
    value: 1,
    since: expect.any(String),
    raisedAt: expect.any(String),
    clearedAt: null,
    whatToDo: expect.stringContaining('docs/alarms.md#carrier-unbound'),
    installation: 'https://sms.example.net',
  })
  expect(await listed()).toContainEqual(
    expect.objectContaining({ object: carrier.name, raisedAt: expect.any(String) }),
  )
  await carrier.revive()
  await untilTold(carrier, 'raised', 'cleared')
  const [raised, cleared] = carrier.requests()
  expect(cleared!.alarm).toMatchObject({ alarmId: alarm.alarmId, clearedAt: expect.any(String) })
  expect(cleared!.request.eventId).not.toBe(raised!.request.eventId)
  await carrier.end()
})

test('of two nodes one tells, and a restart repeats nothing', async () => {
  await others.join()
  const carrier = await aCarrier()
  await carrier.kill()
  await untilTold(carrier, 'raised')
  await service.restart()
  await carrier.revive()
  await untilTold(carrier, 'raised', 'cleared')
  await carrier.end()
})

test('a message that waits in the memory of one node is an alarm, whichever node is asked', async () => {
  const nodes = [service.app, await others.join()]
  await using smsc = await startSmsc()
  const unanswered: (() => void)[] = []
  smsc.on('submit_sm', (pdu, peer) => unanswered.push(() => smsc.accept(pdu, peer)))
  const carrier = await service.anotherCarrier(smsc.port, {}, false)
  await service.admin('POST', '/routes', { name: carrier, carriers: [{ carrier }] })
  await service.admin('POST', '/routing-rules', { prefix: '+4479', route: carrier })
  await service.sent({ to: '+447900000001' })
  await eventually(() => unanswered.length === 1)
  const { operatorToken } = service
  for (const { url } of nodes)
    await eventually(async () => {
      const { items } = (await requestAdmin({ url, operatorToken }, 'GET', '/alarms')) as { items: Told[] }
      return items.some(({ name, object }) => name === 'messages-wait' && object === carrier)
    })
  for (const answer of unanswered) answer()
  await service.admin('PATCH', `/carriers/${carrier}`, { state: 'stopped' })
})

describe('a test alarm', () => {
  test('is signed, says that it is one, and is told whether or not anything is wrong; one a second', async () => {
    const answer = await service.admin('POST', '/alarms/test')
    expect(answer).toMatchObject({
      destination: receiver.origin,
      delivered: true,
      responseStatus: 200,
      error: null,
    })
    const told = receiver.received.find(({ body }) => (JSON.parse(body) as Told).alarmId === answer.alarmId)!
    expect(told).toMatchObject({ path: '/alarms', verified: true, attempt: 1 })
    expect(told.headers['aldis-test']).toBe('true')
    expect(JSON.parse(told.body)).toMatchObject({
      type: 'alarm',
      name: 'test',
      state: 'raised',
      object: '',
      installation: 'https://sms.example.net',
    })
    expect((await service.db.query("select from alarms where name = 'test'")).rowCount).toBe(0)
    await expect(service.admin('POST', '/alarms/test')).rejects.toThrow('429')
  })

  test('says what a receiver that fails has answered, and is not repeated', async () => {
    receiver.answerWith(answerStatus(503))
    // Until the one before it is a second ago.
    const answer = await eventually(() => service.admin('POST', '/alarms/test').catch(() => null))
    expect(answer).toMatchObject({ delivered: false, responseStatus: 503, error: 'HTTP_STATUS' })
    receiver.answerWith(acknowledge)
  })
})

describe('a receiver that is down', () => {
  test('is told again, with the same id, as often as its schedule says, and of the end all the same', async () => {
    const carrier = await aCarrier()
    receiver.answerWith(answerStatus(503))
    await carrier.kill()
    await eventually(
      () => service.logs.some((line) => line.includes('given up') && line.includes(carrier.name)) || null,
    )
    expect(carrier.states()).toEqual(['raised', 'raised', 'raised'])
    expect(carrier.requests().map(({ request }) => request.attempt)).toEqual([1, 2, 3])
    expect(new Set(carrier.requests().map(({ request }) => request.eventId)).size).toBe(1)
    receiver.answerWith(acknowledge)
    await carrier.revive()
    await untilTold(carrier, 'raised', 'raised', 'raised', 'cleared')
    await carrier.end()
  })
})

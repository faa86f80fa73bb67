import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { IN_FLIGHT_LIMITS } from '../../src/domain/webhooks/delivery-scheduler.ts'
import { expectAllInOrder, type HostileTenant, hostileTenant } from '../support/hostile-tenant.ts'
import { eventually } from '../support/service.ts'
import { serviceOfFile } from '../support/tenant-per-test.ts'
import {
  acknowledge,
  answerStatus,
  type WebhookAnswer,
  type WebhookExchange,
} from '../support/webhook-receiver.ts'

/** Longer than any test: a probe is sent when a test says so. */
const NEVER_MS = 3_600_000

const tenants = serviceOfFile({
  webhookProbeMs: NEVER_MS,
  webhooksHeld: 400,
})
let hostile: HostileTenant

beforeEach(async () => {
  hostile = await hostileTenant(tenants)
})
afterEach(() => hostile[Symbol.asyncDispose]())

interface Row {
  readonly destination: string
  readonly state: string
  readonly error: string | null
}

async function destinations(): Promise<Row[]> {
  const { rows } = await hostile.service.db.query<Row>(
    'select destination, state, error from webhook_destinations where plan_id = $1 order by since',
    [hostile.plan],
  )
  return rows
}

/** Waits until so many events of these messages are parked. */
async function untilParked(msgIds: readonly string[], count: number): Promise<void> {
  await eventually(async () => {
    const { rows } = await hostile.service.db.query<{ count: number }>(
      `select count(*)::integer as count from event_deliveries
       where msg_id = any ($1) and state = 'parked' and holder is null`,
      [msgIds],
    )
    return rows[0]!.count === count
  })
}

/** Waits until everything has been delivered, without anything being made due. */
async function untilAllGone(): Promise<void> {
  await eventually(async () => {
    const { rows } = await hostile.service.db.query(
      'select 1 from event_deliveries where plan_id = $1 limit 1',
      [hostile.plan],
    )
    return rows.length === 0
  })
}

async function probeNow(): Promise<void> {
  await hostile.service.db.query(
    `update webhook_destinations set probe_at = now() where plan_id = $1 and state = 'open'`,
    [hostile.plan],
  )
}

/** The breaker is open, by ten messages and ten inbound ones whose events have all failed once and are parked. */
async function opened(): Promise<{ sent: string[]; received: string[] }> {
  const { held, behaviour } = holding()
  hostile.receiver.answerWith(behaviour)
  const [sent, received] = await Promise.all([hostile.send(10), hostile.receive(10)])
  await eventually(() => held.length === 20)
  hostile.receiver.answerWith(answerStatus(500))
  // At once: on a busy machine the first would be tried again before the last has failed.
  for (const exchange of held.splice(0)) answerStatus(500)(exchange)
  await untilParked([...sent, ...received], 20)
  // Known to the node before it is written.
  await eventually(async () => (await destinations()).length > 0)
  expect(await destinations()).toEqual([
    { destination: hostile.receiver.origin, state: 'open', error: 'HTTP_STATUS' },
  ])
  expect(hostile.receiver.received).toHaveLength(20)
  return { sent, received }
}

async function expectRecovery({ sent, received }: { sent: string[]; received: string[] }): Promise<void> {
  hostile.receiver.answerWith(acknowledge)
  await probeNow()
  await untilAllGone()
  expectAllInOrder(hostile, sent, [1, 2])
  expectAllInOrder(hostile, received, [0])
  await eventually(async () => (await destinations())[0]?.state === 'recovering')
}

/** Sends through this node, whichever the service's own is. */
async function sendAt(url: string): Promise<string> {
  const { service } = hostile
  const answer = await fetch(`${url}/v1/sendsms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      servicePlanId: service.servicePlanId,
      channel: 'SMS',
      from: 'Aldis',
      to: '+15551230000',
      body: 'hello',
    }),
  })
  return ((await answer.json()) as { msgId: string }).msgId
}

describe('20 failures in a row', () => {
  test('open the breaker: what comes later is parked unsent; after a probe that succeeds all of it arrives', async () => {
    const first = await opened()
    const later = await hostile.send(5)
    await untilParked(later, 5)
    expect(hostile.receiver.received).toHaveLength(20)
    await expectRecovery({ ...first, sent: [...first.sent, ...later] })
  })

  test('one probe at a time is sent; one that fails leaves it open', async () => {
    const { sent, received } = await opened()
    for (const count of [21, 22, 23]) {
      await probeNow()
      await eventually(async () => {
        const tried = await hostile.attempts([...sent, ...received])
        return tried.length === count
      })
      await untilParked([...sent, ...received], 20)
      expect(hostile.receiver.received).toHaveLength(count)
    }
    // Each probe was another event's.
    expect(new Set(hostile.receiver.received.slice(20).map(({ msgId }) => msgId)).size).toBe(3)
    await expectRecovery({ sent, received })
  })

  test('an event that is never accepted keeps no others waiting', async () => {
    const { sent, received } = await opened()
    const { rows } = await hostile.service.db.query<{ msg_id: string }>(
      `select msg_id from event_deliveries where plan_id = $1 and state = 'parked' order by due_at limit 1`,
      [hostile.plan],
    )
    const refused = rows[0]!.msg_id
    hostile.receiver.answerWith((exchange) =>
      (exchange.request.msgId === refused ? answerStatus(500) : acknowledge)(exchange),
    )
    await eventually(async () => {
      await probeNow()
      const left = await hostile.service.db.query(
        'select 1 from event_deliveries where plan_id = $1 and msg_id <> $2',
        [hostile.plan, refused],
      )
      return left.rows.length === 0
    })
    expectAllInOrder(
      hostile,
      sent.filter((msgId) => msgId !== refused),
      [1, 2],
    )
    expectAllInOrder(
      hostile,
      received.filter((msgId) => msgId !== refused),
      [0],
    )
  })

  test('concern neither another plan there nor another destination of the plan', async () => {
    const { service, receiver } = hostile
    const { sent, received } = await opened()
    const { servicePlanId } = await service.admin('POST', '/service-plans', {
      accountId: service.accountId,
      name: 'Other',
      route: service.route,
    })
    await service.admin('PUT', `/service-plans/${servicePlanId}/senders/Aldis`, { status: 'approved' })
    receiver.answerWith(acknowledge, '/other')
    const beside = await service.sent({ servicePlanId, callbackUrl: `${receiver.origin}/other` })
    await eventually(() => hostile.requestsOf(beside).length === 2)
    expectAllInOrder(hostile, [beside], [1, 2])

    const elsewhere = await service.sent({ callbackUrl: `${service.receiver.origin}/elsewhere` })
    await service.untilWebhooks(elsewhere, ['SENT', 'DELIVERED'])
    expect(await destinations()).toMatchObject([{ state: 'open' }])
    await expectRecovery({ sent, received })
  })

  test('a node that starts knows of it', async () => {
    const { sent, received } = await opened()
    await hostile.service.restart()
    const later = await hostile.send(5)
    await untilParked(later, 5)
    expect(hostile.receiver.received).toHaveLength(20)
    await expectRecovery({ sent: [...sent, ...later], received })
  })
})

describe('the URL is changed while the breaker is open', () => {
  /** Ten messages to the default URL of the account, two events each. */
  async function openedByDefault(): Promise<string[]> {
    hostile.receiver.answerWith(answerStatus(410))
    const sent = await Promise.all(Array.from({ length: 10 }, () => hostile.service.sent()))
    await hostile.settled(sent)
    await untilParked(sent, 10)
    return sent
  }

  const change = (defaultDlrUrl: string | null) =>
    hostile.service.admin('PATCH', `/accounts/${hostile.service.accountId}`, { defaultDlrUrl })

  test('what is parked goes to the new one with the next probe', async () => {
    const { service } = hostile
    const sent = await openedByDefault()
    await change(`${service.receiver.origin}/new`)
    await probeNow()
    await untilAllGone()
    for (const msgId of sent) expect(service.statuses(msgId)).toEqual(['SENT', 'DELIVERED'])
  })

  test('to none: what is parked is kept', async () => {
    const { service, receiver } = hostile
    await openedByDefault()
    const asked = receiver.received.length
    await change(null)
    await probeNow()
    await untilAllGone()
    const { rows } = await service.db.query('select delivered_at from events where plan_id = $1', [
      hostile.plan,
    ])
    expect(rows).toEqual(Array.from({ length: 20 }, () => ({ delivered_at: null })))
    expect(receiver.received).toHaveLength(asked)
  })
})

describe('410', () => {
  test('from a configured URL opens the breaker at once, and ends nothing', async () => {
    const { service, receiver } = hostile
    receiver.answerWith(answerStatus(410))
    const first = await service.sent()
    await untilParked([first], 1)
    await eventually(async () => (await destinations()).length > 0)
    expect(await destinations()).toMatchObject([{ destination: receiver.origin, state: 'open' }])
    const second = await service.sent()
    await untilParked([second], 1)
    expect(receiver.received).toHaveLength(1)
    await hostile.settled([first, second])
    await expectRecovery({ sent: [first, second], received: [] })
  })

  test("from a message's own URL ends the event alone, however many", async () => {
    const { service, receiver } = hostile
    receiver.answerWith(answerStatus(410), '/gone')
    const gone = await Promise.all(
      Array.from({ length: 15 }, () => service.sent({ callbackUrl: `${receiver.origin}/gone` })),
    )
    await eventually(async () => {
      const { rows } = await service.db.query(
        `select 1 from event_deliveries where msg_id = any ($1) and state = 'failed' and holder is null`,
        [gone],
      )
      return rows.length === 30
    })
    for (const msgId of gone)
      expect(hostile.requestsOf(msgId).map(({ sequence }) => sequence)).toEqual([1, 2])
    expect(await destinations()).toEqual([])
    const [msgId] = await hostile.send(1)
    await eventually(() => hostile.requestsOf(msgId!).length === 2)
    expectAllInOrder(hostile, [msgId!], [1, 2])
  })
})

describe('a paused destination', () => {
  const turn = (verb: 'pause' | 'resume') =>
    hostile.service.admin('POST', `/webhook-destinations/${verb}`, {
      servicePlanId: hostile.service.servicePlanId,
      destination: hostile.receiver.origin,
    })

  test('is sent nothing, not even what waited in memory; resumed, it gets everything in order', async () => {
    const { service, receiver } = hostile
    const { held, behaviour } = holding()
    receiver.answerWith(behaviour)
    const { perEndpoint } = IN_FLIGHT_LIMITS
    const sent = await hostile.send(perEndpoint + 36)
    await eventually(() => held.length === perEndpoint)
    await turn('pause')
    await untilParked(sent, 36)
    const { rows } = await service.db.query(
      `select 1 from event_deliveries where plan_id = $1 and state = 'parked' and due_at < 'infinity'`,
      [hostile.plan],
    )
    expect(rows).toEqual([])
    for (const exchange of held.splice(0)) answerStatus(500)(exchange)
    await untilParked(sent, sent.length)
    const later = await hostile.send(5)
    await untilParked(later, 5)
    expect(receiver.received).toHaveLength(perEndpoint)

    receiver.answerWith(acknowledge)
    await turn('resume')
    await untilAllGone()
    expectAllInOrder(hostile, [...sent, ...later], [1, 2])
  })
})

test('a destination that failed a few times is tried at once when it is resumed', async () => {
  const { service, receiver } = hostile
  receiver.answerWith(answerStatus(500))
  const sent = await hostile.send(3)
  await eventually(async () => {
    const { rows } = await service.db.query(
      `select 1 from event_deliveries
       where plan_id = $1 and failed_attempts = 1 and due_at > now() and holder is null and destination is not null`,
      [hostile.plan],
    )
    return rows.length === 3
  })
  // As late in their schedule as they can be.
  await service.db.query(
    `update event_deliveries set due_at = now() + interval '20 hours' where plan_id = $1 and holder is null`,
    [hostile.plan],
  )
  expect(await destinations()).toEqual([])
  receiver.answerWith(acknowledge)
  await service.admin('POST', '/webhook-destinations/resume', {
    servicePlanId: service.servicePlanId,
    destination: receiver.origin,
  })
  await untilAllGone()
  expectAllInOrder(hostile, sent, [1, 2])
})

/** Keeps every request waiting, until the test answers it. */
function holding(): { held: WebhookExchange[]; behaviour: WebhookAnswer } {
  const held: WebhookExchange[] = []
  return { held, behaviour: (exchange) => held.push(exchange) }
}

describe('more events than there is room for in memory', () => {
  test('leave room for another destination, and come back from the database when their own is free', async () => {
    const { service, receiver } = hostile
    const { held, behaviour } = holding()
    receiver.answerWith(behaviour)
    const { perEndpoint } = IN_FLIGHT_LIMITS
    const sent = await hostile.send(perEndpoint + 136)
    await eventually(() => held.length === perEndpoint)
    await eventually(async () => {
      // Has the records written. Unless somebody asks for them, they come after 10 s.
      await service.admin('GET', `/webhook-events?servicePlanId=${service.servicePlanId}&limit=1`)
      const { rows } = await service.db.query<{ held: number; parked: number }>(
        `select count(*) filter (where holder is not null and sequence = 1)::integer as held,
                count(*) filter (where state = 'parked')::integer as parked
         from event_deliveries where plan_id = $1`,
        [hostile.plan],
      )
      const { held: inMemory, parked } = rows[0]!
      return inMemory <= perEndpoint + 200 / 2 && inMemory + parked === sent.length
    })
    const beside = await service.sent({ callbackUrl: `${service.receiver.origin}/beside` })
    await service.untilWebhooks(beside, ['SENT', 'DELIVERED'])
    expect(await destinations()).toEqual([])

    receiver.answerWith(acknowledge)
    for (const exchange of held.splice(0)) acknowledge(exchange)
    await untilAllGone()
    expectAllInOrder(hostile, sent, [1, 2])
    expect(receiver.received).toHaveLength(2 * sent.length)
  })
})

// The last: the node of the others has all buckets until then.
test('two nodes share it, and its probes', async () => {
  const { service, receiver } = hostile
  await service.restart({ heartbeatMs: 100 })
  const { sent, received } = await opened()
  const other = await service.startNode({ nodeName: 'node-b', heartbeatMs: 100 })
  await eventually(async () => {
    const { rows } = await service.db.query<{ count: number }>(
      `select count(*)::integer as count from buckets b join nodes n using (node_id) where n.name = 'node-b'`,
    )
    return rows[0]!.count === 128
  })
  const urls = [service.app.url, other.url]
  const later = await Promise.all(Array.from({ length: 10 }, (_, index) => sendAt(urls[index % 2]!)))
  await hostile.settled(later)
  await untilParked(later, 10)
  expect(receiver.received).toHaveLength(20)
  await probeNow()
  await eventually(async () => (await hostile.attempts([...sent, ...received, ...later])).length === 21)
  await untilParked([...sent, ...received, ...later], 30)
  expect(receiver.received).toHaveLength(21)
  await expectRecovery({ sent: [...sent, ...later], received })
  await other.stop()
})

import { afterEach, expect, test } from 'vitest'
import { IN_FLIGHT_LIMITS } from '../../src/domain/webhooks/delivery-scheduler.ts'
import { hang } from '../support/hostile-behaviours.ts'
import { eventually, RECIPIENT, ROUTE, type Service, startService } from '../support/service.ts'
import type { WebhookReceiver } from '../support/webhook-receiver.ts'

const AT_ONCE = 100

let service: Service
let other: Customer

afterEach(() => service[Symbol.asyncDispose]())

async function start(webhooksHeld: number): Promise<WebhookReceiver> {
  service = await startService({ app: { webhooksHeld } })
  const hanging = await service.anotherReceiver()
  hanging.answerWith(hang)
  return hanging
}

/** So many messages whose webhooks go to this receiver. */
async function sendTo({ origin }: { origin: string }, count: number): Promise<string[]> {
  const msgIds: string[] = []
  while (msgIds.length < count) {
    const some = Math.min(AT_ONCE, count - msgIds.length)
    const callbackUrl = `${origin}/own`
    msgIds.push(...(await Promise.all(Array.from({ length: some }, () => service.sent({ callbackUrl })))))
  }
  return msgIds
}

interface Customer {
  readonly servicePlanId: string
  readonly token: string
}

/** Another account with a plan. */
async function anotherCustomer(): Promise<Customer> {
  const { accountId } = await service.admin('POST', '/accounts', { name: 'Other' })
  const plan = { accountId, name: 'Other', route: ROUTE }
  const { servicePlanId } = await service.admin('POST', '/service-plans', plan)
  await service.admin('PUT', `/service-plans/${servicePlanId}/senders/Other`, { status: 'approved' })
  const { token } = await service.admin('POST', '/tokens', { accountId, name: 'other' })
  return { servicePlanId, token }
}

async function sendOf(customer: Customer, { origin }: { origin: string }, count: number): Promise<string[]> {
  const { servicePlanId, token } = customer
  const fields = { servicePlanId, channel: 'SMS', from: 'Other', to: RECIPIENT, body: 'hello' }
  const send = async () => {
    const answer = await fetch(`${service.app.url}/v1/sendsms`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...fields, callbackUrl: `${origin}/own` }),
    })
    return ((await answer.json()) as { msgId: string }).msgId
  }
  return Promise.all(Array.from({ length: count }, send))
}

/** In the tables: of a message whose webhooks hang, events are in memory alone for 10 s unless somebody asks for them. */
async function recordedCount(): Promise<number> {
  for (const plan of [service.servicePlanId, other.servicePlanId])
    await service.admin('GET', `/webhook-events?servicePlanId=${plan}&limit=1`)
  return await countOf('true')
}

async function countOf(condition: string, counted = '*'): Promise<number> {
  const { rows } = await service.db.query<{ count: number }>(
    `select count(${counted})::integer as count from event_deliveries where ${condition}`,
  )
  return rows[0]!.count
}

// A plan may fill half of the memory. The second is too small for all pending events, so the rest stays in the database.
test.each([
  { webhooksHeld: 20_000, messages: 150 },
  { webhooksHeld: 400, messages: 220 },
])(
  'with memory for $webhooksHeld messages, $messages that hang hold up no other destination and no other plan',
  async ({ webhooksHeld, messages }) => {
    const hanging = await start(webhooksHeld)
    other = await anotherCustomer()
    const hung = new Set(await sendTo(hanging, messages))
    // Each has two events, and the second waits for the end of the first.
    await eventually(async () => (await recordedCount()) === 2 * messages)
    await eventually(() => hanging.received.length === IN_FLIGHT_LIMITS.perEndpoint)
    await eventually(
      async () => (await countOf('holder is null and sequence = 1')) > 0 === webhooksHeld / 2 < messages,
    )
    // A message takes one place, however many events it has.
    expect(await countOf('holder is not null', 'distinct msg_id')).toBeLessThanOrEqual(webhooksHeld)

    const own = await sendTo(service.receiver, 20)
    const others = await sendOf(other, service.receiver, 20)
    for (const msgId of [...own, ...others]) await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    const atHanging = await sendOf(other, hanging, 10)
    await eventually(() => hanging.received.length >= IN_FLIGHT_LIMITS.perEndpoint + atHanging.length)

    // All that came first still hangs or waits, and no more of it is under way.
    await eventually(async () => (await recordedCount()) === 2 * (messages + atHanging.length))
    expect(hanging.received).toHaveLength(IN_FLIGHT_LIMITS.perEndpoint + atHanging.length)
    const requested = hanging.received.map(({ msgId }) => msgId)
    expect(requested.slice(0, IN_FLIGHT_LIMITS.perEndpoint).filter((msgId) => !hung.has(msgId))).toEqual([])
    expect(new Set(requested.slice(IN_FLIGHT_LIMITS.perEndpoint))).toEqual(new Set(atHanging))
    expect(hanging.open).toBe(requested.length)
    // A message takes one place, however many events it has.
    expect(await countOf('holder is not null', 'distinct msg_id')).toBeLessThanOrEqual(webhooksHeld)
  },
)

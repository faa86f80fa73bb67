/** A tenant of a service whose webhooks all go to a receiver that misbehaves. */
import { expect, vi } from 'vitest'
import type { Service } from './service.ts'
import type { ReceivedWebhook, WebhookReceiver } from './webhook-receiver.ts'

/** One attempt as it was recorded; of a first one that was answered 2xx the event itself tells. */
interface RecordedAttempt {
  readonly msgId: string
  readonly sequence: number
  readonly attempt: number
  readonly status: number | null
  readonly error: string | null
  readonly head: string | null
  readonly latencyMs: number
}

export interface HostileTenant extends AsyncDisposable {
  readonly service: Service
  readonly receiver: WebhookReceiver
  /** The plan's key in the database. */
  readonly plan: number
  /** Sends so many messages, every second one with a callbackUrl of its own, and waits until each is DELIVERED. */
  send(count: number): Promise<string[]>
  /** Waits until each message is recorded as DELIVERED: its events are in the database then. */
  settled(msgIds: readonly string[]): Promise<void>
  /** So many inbound messages come. Returns their ids. */
  receive(count: number): Promise<string[]>
  /** All attempts to deliver events of these messages, by message, event and number. */
  attempts(msgIds: readonly string[]): Promise<RecordedAttempt[]>
  /** Waits until every event of these messages is delivered, what waits for its next attempt being made due. */
  untilDelivered(msgIds: readonly string[]): Promise<void>
  /** The requests that came of a message. */
  requestsOf(msgId: string): ReceivedWebhook[]
}

export async function hostileTenant({ tenant }: Pick<Service, 'tenant'>): Promise<HostileTenant> {
  const service = await tenant()
  const receiver = await service.anotherReceiver()
  await service.admin('PATCH', `/accounts/${service.accountId}`, { defaultDlrUrl: `${receiver.origin}/dlr` })
  await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, {
    inboundUrl: `${receiver.origin}/mo`,
  })
  const plan = await service.planKey()
  return {
    service,
    receiver,
    plan,
    ...traffic(service, receiver, plan),
    ...recorded(service),
    requestsOf: (msgId) => receiver.received.filter((request) => request.msgId === msgId),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

function traffic(
  service: Service,
  receiver: WebhookReceiver,
  plan: number,
): Pick<HostileTenant, 'send' | 'settled' | 'receive'> {
  const inboundIds = async () => {
    const found = 'select msg_id from inbound_messages where plan_id = $1'
    return (await service.db.query<{ msg_id: string }>(found, [plan])).rows.map(({ msg_id }) => msg_id)
  }
  const settled: HostileTenant['settled'] = async (msgIds) => {
    await waitUntil(async () => (await deliveredOf(service, msgIds)) === msgIds.length)
  }
  return {
    settled,
    async send(count) {
      const own = { callbackUrl: `${receiver.origin}/own` }
      const sent = Array.from({ length: count }, (_, index) => service.sent(index % 2 === 0 ? {} : own))
      const msgIds = await Promise.all(sent)
      await settled(msgIds)
      return msgIds
    },
    async receive(count) {
      const known = new Set(await inboundIds())
      for (let index = 0; index < count; index += 1)
        await service.simulator.sendInbound({
          from: '+15550002222',
          to: service.inboundNumber,
          body: `no. ${index}`,
        })
      return waitUntil(async () => {
        const fresh = (await inboundIds()).filter((msgId) => !known.has(msgId))
        return fresh.length === count && fresh
      })
    },
  }
}

async function deliveredOf({ db }: Service, msgIds: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count from messages where msg_id = any ($1) and status = 'DELIVERED'`,
    [msgIds],
  )
  return rows[0]!.count
}

function recorded(service: Service): Pick<HostileTenant, 'attempts' | 'untilDelivered'> {
  return {
    async attempts(msgIds) {
      const { rows } = await service.db.query<RecordedAttempt>(
        `select msg_id as "msgId", sequence, attempt, response_status as status, error, response_head as head,
                latency_ms as "latencyMs"
         from webhook_attempts where msg_id = any ($1)
         union all
         select msg_id, sequence, attempts, response_status, null, response_head, latency_ms
         from events where msg_id = any ($1) and attempts = 1
         order by 1, 2, 3`,
        [msgIds],
      )
      return rows
    },
    async untilDelivered(msgIds) {
      await waitUntil(async () => {
        await service.makeDue()
        const { rows } = await service.db.query<{ missing: number }>(
          `select count(*)::integer as missing from events e
           where msg_id = any ($1) and (delivered_at is null
             or exists (select from event_deliveries d where d.msg_id = e.msg_id and d.sequence = e.sequence))`,
          [msgIds],
        )
        return rows[0]!.missing === 0
      })
    },
  }
}

/** Not as often as `eventually`: each time asks much of the database. */
async function waitUntil<T>(condition: () => Promise<T | false>): Promise<T> {
  return (await vi.waitUntil(condition, { interval: 100, timeout: 100_000 })) as T
}

/**
 * Checks what came of some messages: every event of each, in order, one request at a time, counted from 1, whole and signed
 * each time, and answered 2xx in the end.
 */
export function expectAllInOrder(
  hostile: Pick<HostileTenant, 'requestsOf'>,
  msgIds: readonly string[],
  sequence: readonly number[],
): void {
  for (const msgId of msgIds) {
    const requests = hostile.requestsOf(msgId)
    expect([...new Set(requests.map((request) => request.sequence))]).toEqual(sequence)
    expect(requests.filter(({ overlapped, verified }) => overlapped || !verified)).toEqual([])
    for (const [sequence, ofEvent] of Map.groupBy(requests, (request) => request.sequence)) {
      expect(new Set(ofEvent.map(({ eventId }) => eventId))).toEqual(new Set([`${msgId}-${sequence}`]))
      expect(new Set(ofEvent.map(({ body }) => body)).size).toBe(1)
      const numbers = ofEvent.map(({ attempt }) => attempt)
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      expect(new Set(numbers).size).toBe(numbers.length)
      expect(ofEvent.at(-1)!.acknowledged).toBe(true)
    }
    const order = requests.map((request) => request.sequence)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  }
}

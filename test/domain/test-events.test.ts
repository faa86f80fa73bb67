import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { verifyWebhook } from '../../client/src/index.ts'
import { parseEventId } from '../../src/domain/events.ts'
import { messageId } from '../../src/domain/identifiers.ts'
import { testEvent } from '../../src/domain/test-events.ts'
import { webhookHeaders } from '../../src/domain/webhook-requests.ts'
import { formatWebhookSecret } from '../../src/domain/webhook-signatures.ts'
import { anAccount, aPlan } from '../support/directory.ts'

const secret = formatWebhookSecret(Buffer.alloc(32, 7))
const plan = aPlan({ account: anAccount({ webhookSecrets: [secret] }) })
const nowMs = Date.now()
const msgId = messageId(nowMs, Buffer.alloc(9, 3), 0)
const now = { msgId, nowMs }

describe('a test event', () => {
  it.each([
    ['deliveryReceipt', 2],
    ['inboundMessage', 0],
  ] as const)('%s is one to every verifier, and says that it is none', async (type, sequence) => {
    const made = testEvent(type, plan, now)
    const { eventId, body } = made
    const headers = webhookHeaders(made, [secret])
    expect(parseEventId(eventId)).toEqual({ msgId, seq: sequence })
    expect(headers).toMatchObject({
      'webhook-id': eventId,
      'aldis-attempt': '1',
      'aldis-sequence': String(sequence),
      'aldis-test': 'true',
    })
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
    const event = await verifyWebhook(headers, body, [secret])
    expect(event).toMatchObject({ type, eventId, attempt: 1, sequence, data: JSON.parse(body), test: true })
  })

  it('tells of numbers that nobody has', () => {
    const { body } = testEvent('deliveryReceipt', plan, now)
    expect(JSON.parse(body)).toMatchObject({
      msgId,
      servicePlanId: plan.servicePlanId,
      status: 'DELIVERED',
      from: '+12025550100',
      to: '+12025550101',
      createdAt: new Date(nowMs).toISOString(),
    })
  })
})

import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, test } from 'vitest'
import { verifyWebhook } from '../../client/src/index.ts'
import { type EventPayload, eventType, feedPage, testEvent } from '../../src/domain/events.ts'
import { eventId, messageId, parseEventId } from '../../src/domain/identifiers.ts'
import { formatWebhookSecret, webhookHeaders } from '../../src/domain/webhooks/requests.ts'
import { anAccount, aPlan } from '../support/directory.ts'

describe('events', () => {
  const MSG_ID = '0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'

  test('an id is that of the message, a dash and the number', () => {
    expect(eventId({ msgId: MSG_ID, sequence: 2 })).toBe(`${MSG_ID}-2`)
    expect(parseEventId(`${MSG_ID.toUpperCase()}-0`)).toEqual({ msgId: MSG_ID, sequence: 0 })
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 0, max: 32_767 }), (msgId, sequence) => {
        expect(parseEventId(eventId({ msgId, sequence }))).toEqual({ msgId, sequence })
      }),
    )
  })

  test.each([
    '',
    '-',
    MSG_ID,
    `${MSG_ID}-`,
    `${MSG_ID}-x`,
    `${MSG_ID}-01`,
    `${MSG_ID}--1`,
    `${MSG_ID}-32768`,
    `${MSG_ID}-1 `,
    `${MSG_ID}-1-2`,
    `${MSG_ID.slice(1)}-1`,
  ])('%j is none', (text) => {
    expect(parseEventId(text)).toBeNull()
  })

  test('only the inbound message itself has the number 0', () => {
    expect([0, 1, 2].map(eventType)).toEqual(['inboundMessage', 'deliveryReceipt', 'deliveryReceipt'])
  })
})

describe('test events', () => {
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
      expect(parseEventId(eventId)).toEqual({ msgId, sequence })
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
})

function event(body: string): { payload: EventPayload } {
  const inbound = { planId: 1, msgId: 'id', sender: 'a', recipient: 'b', body, keyword: null }
  return { payload: { direction: 'MO', inbound } }
}

describe('feedPage', () => {
  it('has at most `limit` events', () => {
    const events = ['a', 'b', 'c'].map(event)
    expect(feedPage(events, 2)).toEqual(events.slice(0, 2))
    expect(feedPage(events, 3)).toEqual(events)
    expect(feedPage(events, 4)).toEqual(events)
    expect(feedPage([], 4)).toEqual([])
  })

  it('ends with the text that fills it, by bytes, and has one event at least', () => {
    const events = Array.from({ length: 10 }, () => event('é'.repeat(350_000)))
    expect(feedPage(events, 10)).toEqual(events.slice(0, 3))
    const huge = [event('x'.repeat(3_000_000)), event('x')]
    expect(feedPage(huge, 10)).toEqual(huge.slice(0, 1))
  })
})

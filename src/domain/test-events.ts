import type { ServicePlan } from './configuration.ts'
import { type EventType, eventBody, eventId, type Told } from './events.ts'
import type { WebhookContents } from './webhook-requests.ts'

/** An event that never happened, for testing a receiver. */

/** Numbers that nobody has (NANP: 555-0100 to 555-0199). */
const SENDER = '+12025550100'
const RECIPIENT = '+12025550101'
const TEXT = 'This is a test event of Aldis.'

/** Has the form of any other event; `aldis-test` tells them apart. `msgId` belongs to no message. */
export function testEvent(
  type: EventType,
  plan: ServicePlan,
  { msgId, nowMs }: { msgId: string; nowMs: number },
): WebhookContents {
  const sequence = type === 'inboundMessage' ? 0 : 2
  return {
    eventId: eventId({ msgId, seq: sequence }),
    attempt: 1,
    sequence,
    body: JSON.stringify(eventBody(made(type, plan.id, msgId, new Date(nowMs)), plan)),
    timestampMs: nowMs,
    isTest: true,
  }
}

function made(type: EventType, planId: number, msgId: string, at: Date): Told {
  const texts = { planId, msgId, sender: SENDER, recipient: RECIPIENT, body: TEXT }
  if (type === 'inboundMessage') return { direction: 'MO', inbound: { ...texts, keyword: null } }
  const message = {
    ...texts,
    status: 'DELIVERED' as const,
    segments: 1,
    callbackUrl: null,
    country: 'US',
    mccmnc: null,
    errorCode: '000',
    price: null,
    ptf: null,
    currency: null,
    sentAt: at,
    updatedAt: at,
  }
  return { direction: 'MT', message }
}

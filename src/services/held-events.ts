import type { ReceivedInbound } from '../operations/receive-inbound.ts'
import type { ChangedMessage } from '../store/submissions.ts'
import type { WebhookEvent } from '../store/webhook-events.ts'

/** The events of these changes that this node delivers from memory. */
export function heldEvents(messages: readonly ChangedMessage[], holder: number): WebhookEvent[] {
  return messages
    .filter((message) => message.held)
    .map((message) => ({
      planId: message.planId,
      msgId: message.msgId,
      seq: message.seq,
      holder,
      attempt: 0,
      body: { direction: 'MT', message },
    }))
}

/** The same of inbound messages. */
export function heldInboundEvents(received: readonly ReceivedInbound[], holder: number): WebhookEvent[] {
  return received
    .filter(({ held }) => held)
    .map(({ inbound }) => ({
      planId: inbound.planId,
      msgId: inbound.msgId,
      seq: 0,
      holder,
      attempt: 0,
      body: { direction: 'MO', inbound },
    }))
}

import type { Told } from '../../domain/events.ts'
import { createdAtMs } from '../../domain/message-ids.ts'
import type { ChangedMessage } from '../../domain/messages-in-progress.ts'
import type { ReceivedInbound } from '../../operations/receive-inbound.ts'
import type { WebhookEvent } from '../../store/event-deliveries.ts'

/** The events of these changes that this node delivers from memory. */
export function heldEvents(messages: readonly ChangedMessage[], holder: number): WebhookEvent[] {
  return messages
    .filter((message) => message.held)
    .map((message) => ({
      ...fresh(message, message.seq, holder, { direction: 'MT', message }),
      beganAtMs: message.updatedAt.getTime(),
    }))
}

/** The same of inbound messages. */
export function heldInboundEvents(received: readonly ReceivedInbound[], holder: number): WebhookEvent[] {
  return received
    .filter(({ held }) => held)
    .map(({ inbound }) => fresh(inbound, 0, holder, { direction: 'MO', inbound }))
}

function fresh(
  { planId, msgId }: { planId: number; msgId: string },
  seq: number,
  holder: number,
  told: Told,
): WebhookEvent {
  return {
    planId,
    msgId,
    seq,
    holder,
    attempt: 0,
    earlierAttempts: 0,
    beganAtMs: createdAtMs(msgId),
    waited: false,
    told,
  }
}

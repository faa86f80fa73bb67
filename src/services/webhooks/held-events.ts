import type { Told } from '../../domain/events.ts'
import { createdAtMs } from '../../domain/message-ids.ts'
import type { ChangedMessage } from '../../domain/messages-in-progress.ts'
import type { ReceivedInbound } from '../../operations/receive-inbound.ts'
import type { WebhookEvent } from '../../store/event-deliveries.ts'

/** The events of these changes that this node delivers from memory. */
export function heldEvents(messages: readonly ChangedMessage[], holder: number): WebhookEvent[] {
  return messages
    .filter(({ held }) => held)
    .map((message) =>
      untried(message, message.seq, holder, message.updatedAt.getTime(), { direction: 'MT', message }),
    )
}

/** The same of inbound messages. */
export function heldInboundEvents(received: readonly ReceivedInbound[], holder: number): WebhookEvent[] {
  return received
    .filter(({ held }) => held)
    .map(({ inbound }) =>
      untried(inbound, 0, holder, createdAtMs(inbound.msgId), { direction: 'MO', inbound }),
    )
}

function untried(
  { planId, msgId }: { readonly planId: number; readonly msgId: string },
  seq: number,
  holder: number,
  beganAtMs: number,
  told: Told,
): WebhookEvent {
  return { planId, msgId, seq, holder, attempt: 0, earlierAttempts: 0, beganAtMs, waited: false, told }
}

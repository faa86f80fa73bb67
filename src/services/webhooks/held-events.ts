import { createdAtMs } from '../../domain/message-ids.ts'
import type { ChangedMessage } from '../../domain/messages-in-progress.ts'
import type { ReceivedInbound } from '../../operations/receive-inbound.ts'
import type { WebhookEvent } from '../../store/event-deliveries.ts'

const UNTRIED = { attempt: 0, earlierAttempts: 0, waited: false }

/** The events of these changes that this node delivers from memory. */
export function heldEvents(messages: readonly ChangedMessage[], holder: number): WebhookEvent[] {
  return messages
    .filter(({ held }) => held)
    .map((message) => {
      const { planId, msgId, seq, updatedAt } = message
      return {
        ...UNTRIED,
        planId,
        msgId,
        seq,
        holder,
        beganAtMs: updatedAt.getTime(),
        told: { direction: 'MT', message },
      }
    })
}

/** The same for inbound messages. */
export function heldInboundEvents(received: readonly ReceivedInbound[], holder: number): WebhookEvent[] {
  return received
    .filter(({ held }) => held)
    .map(({ inbound }) => {
      const { planId, msgId } = inbound
      return {
        ...UNTRIED,
        planId,
        msgId,
        seq: 0,
        holder,
        beganAtMs: createdAtMs(msgId),
        told: { direction: 'MO', inbound },
      }
    })
}

import type { EventPayload } from '../../domain/events.ts'
import { createdAtMs } from '../../domain/identifiers.ts'
import type { ChangedMessage } from '../../domain/journal/messages-in-progress.ts'
import type { ReceivedInbound } from '../../operations/receive-inbound.ts'
import type { WebhookEvent } from '../../store/event-deliveries.ts'

/** The events of these changes that are delivered from memory. `holder`: the node that they were written for, if any. */
export function heldEvents(messages: readonly ChangedMessage[], holder: number | null): WebhookEvent[] {
  if (holder === null) return []
  return messages
    .filter(({ held }) => held)
    .map((message) =>
      untried(message, message.sequence, holder, message.updatedAt.getTime(), { direction: 'MT', message }),
    )
}

/** The same of inbound messages. */
export function heldInboundEvents(
  received: readonly ReceivedInbound[],
  holder: number | null,
): WebhookEvent[] {
  if (holder === null) return []
  return received
    .filter(({ held }) => held)
    .map(({ inbound }) =>
      untried(inbound, 0, holder, createdAtMs(inbound.msgId), { direction: 'MO', inbound }),
    )
}

function untried(
  { planId, msgId }: { readonly planId: number; readonly msgId: string },
  sequence: number,
  holder: number,
  beganAtMs: number,
  payload: EventPayload,
): WebhookEvent {
  return {
    planId,
    msgId,
    sequence,
    holder,
    failedAttempts: 0,
    earlierAttempts: 0,
    beganAtMs,
    waited: false,
    payload,
  }
}

import type { DeliveryReceipt, InboundSmsWebhook } from '../../../../client/src/api.ts'

/** A message on the screen of a handset: one that was sent to it, or one that it sent. */
export type Bubble =
  | { readonly kind: 'received'; readonly id: string; readonly at: string; readonly message: DeliveryReceipt }
  | { readonly kind: 'sent'; readonly id: string; readonly at: string; readonly message: InboundSmsWebhook }

/** A list as far as it has been read, newest first. */
interface Read<Item> {
  readonly items: readonly Item[]
  readonly hasMore: boolean
}

/**
 * Both directions in one order, oldest first. What is older than the end of a list that goes on is left out: something
 * between may not have been read yet.
 */
export function conversationOf(
  received: Read<DeliveryReceipt>,
  sent: Read<InboundSmsWebhook>,
): readonly Bubble[] {
  const left = received.items.map((message): Bubble => {
    const at = message.createdAt ?? message.updatedAt ?? ''
    return { kind: 'received', id: message.msgId, at, message }
  })
  const right = sent.items.map(
    (message): Bubble => ({ kind: 'sent', id: message.msgId, at: message.receivedAt, message }),
  )
  const ends = [received.hasMore && left.at(-1), sent.hasMore && right.at(-1)]
  const from = ends.map((end) => (end ? Date.parse(end.at) : 0)).reduce((one, other) => Math.max(one, other))
  return [...left, ...right]
    .filter(({ at }) => Date.parse(at) >= from)
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
}

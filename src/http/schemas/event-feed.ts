import { Type } from 'typebox'
import { DEFAULT_FEED_PAGE, MAX_FEED_PAGE } from '../../domain/event-feed.ts'
import type { EventType } from '../../domain/events.ts'
import { DeliveryReceiptSchema } from './delivery-receipt.ts'
import { PlanParameter } from './list-query.ts'
import { oneOf } from './nullable.ts'
import { titled } from './titled.ts'
import { InboundSmsWebhookSchema } from './webhooks.ts'

/** For the documentation only: the domain reads and judges the texts. */
export const FeedQuerySchema = Type.Object({
  servicePlanId: PlanParameter,
  cursor: Type.Optional(Type.String({ description: 'cursor of the previous page, unchanged' })),
  since: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Without a cursor: begin with events from this time on; default: the oldest event that is kept',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: DEFAULT_FEED_PAGE,
      description: `Values above ${MAX_FEED_PAGE} are ${MAX_FEED_PAGE}; long texts make a page shorter`,
    }),
  ),
})

const COMMON = {
  eventId: Type.String({ description: 'webhook-id of its webhook' }),
  sequence: Type.Integer({
    description: 'Place among the events of its message: 1, 2, …; 0: an inbound message',
  }),
  occurredAt: Type.String({ format: 'date-time' }),
}

function event<Of extends EventType>(
  type: Of,
  title: string,
  data: typeof DeliveryReceiptSchema | typeof InboundSmsWebhookSchema,
) {
  return Type.Object({ ...COMMON, type: oneOf([type]), data }, { title })
}

/** Events that were pushed, or would have been. */
export const FeedSchema = titled('EventFeed', {
  items: Type.Array(
    Type.Union([
      event('deliveryReceipt', 'DeliveryReceiptEvent', DeliveryReceiptSchema),
      event('inboundMessage', 'InboundMessageEvent', InboundSmsWebhookSchema),
    ]),
  ),
  cursor: Type.String({ description: 'Where to continue, now or later; it does not expire' }),
  hasMore: Type.Boolean({ description: 'More events can be read right away' }),
  gap: Type.Boolean({
    description: 'Events in between may be gone: the cursor, or since, is older than the oldest event kept',
  }),
})

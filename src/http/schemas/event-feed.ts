import { Type } from 'typebox'
import { DEFAULT_FEED_PAGE, FEED_FILTERS, MAX_FEED_PAGE } from '../../domain/event-feed.ts'
import type { EventType } from '../../domain/events.ts'
import { DeliveryReceiptSchema } from './delivery-receipt.ts'
import { listQuery } from './list-query.ts'
import { oneOf } from './nullable.ts'
import { titled } from './titled.ts'
import { InboundSmsWebhookSchema } from './webhooks.ts'

export const FeedQuerySchema = listQuery(
  FEED_FILTERS,
  {
    since: Type.String({
      format: 'date-time',
      description:
        'Without a cursor: begin with events from this time on; default: the oldest event that is kept',
    }),
  },
  {
    page: {
      defaultLimit: DEFAULT_FEED_PAGE,
      limit: `Values above ${MAX_FEED_PAGE} are ${MAX_FEED_PAGE}; long texts make a page shorter`,
      cursor: 'cursor of the previous page, unchanged',
    },
  },
)

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

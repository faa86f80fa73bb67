import type { FastifyInstance } from 'fastify'
import type { ServicePlan } from '../../domain/configuration/configuration.ts'
import {
  DEFAULT_FEED_PAGE,
  type EventType,
  eventBody,
  eventType,
  type FeedPlace,
  feedPage,
  MAX_FEED_PAGE,
  placeBehind,
} from '../../domain/events.ts'
import { eventId } from '../../domain/identifiers.ts'
import { DAY_MS } from '../../domain/instants.ts'
import { FEED_FILTERS, type FeedFilters, type Page } from '../../domain/lists.ts'
import { invalidField } from '../../errors.ts'
import type { MessageReads } from '../../operations/read-messages.ts'
import { type FeedEvent, feedEnd, readFeed } from '../../store/event-feed.ts'
import { CursorPages, type ListDeps } from '../cursor-pages.ts'
import { answered } from '../schemas/error-body.ts'
import { listQuery } from '../schemas/parameters.ts'
import { EVENT_FEED } from '../schemas/response-examples.ts'
import { Type } from '../schemas/schema-builder.ts'
import { oneOf, titled } from '../schemas/shapes.ts'
import { DeliveryReceiptSchema, InboundSmsWebhookSchema } from '../schemas/webhooks.ts'

const FeedQuery = listQuery(
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
const Feed = titled('EventFeed', {
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

export interface FeedDeps extends ListDeps {
  /** How many days events are kept. */
  readonly retentionDays: number
  readonly messages: MessageReads
}

const FEED = {
  operationId: 'listEvents',
  summary: "Read a plan's events in their order, oldest first",
  description: 'Every change of status and every inbound message, whether or not it was pushed to a URL.',
  tags: ['Events'],
  querystring: FeedQuery,
  response: answered(200, Feed, 'The events behind the cursor', EVENT_FEED),
}

/** `GET /v1/events`. */
export function registerEventFeed(app: FastifyInstance, deps: FeedDeps): void {
  const pages = new CursorPages<FeedFilters, FeedPlace>(deps, 'feed', FEED_FILTERS, {
    lifetimeMs: null,
    defaultLimit: DEFAULT_FEED_PAGE,
    maxLimit: MAX_FEED_PAGE,
  })
  app.route({
    method: 'GET',
    url: '/v1/events',
    schema: FEED,
    // A union would be serialised by trial and error.
    serializerCompiler: () => JSON.stringify,
    handler: async (request) => {
      const { plan, page } = await pages.read(request)
      const readAtMs = deps.clock()
      // Everything that this node has told anybody about the plan is then in the feed.
      await deps.messages.untilEventsRecorded(plan.id, null)
      const { shown, place } = await read(deps, page, readAtMs)
      const startMs = page.after?.atMs ?? page.filters.since
      return {
        items: shown.map((event) => presented(event, plan)),
        cursor: pages.cursorBehind(page, place ?? shown.at(-1)!.place),
        hasMore: place === null,
        gap: startMs !== null && startMs < readAtMs - deps.retentionDays * DAY_MS,
      }
    },
  })
}

/** The rows of a page, and the place behind it; null: there is more behind the last row. */
async function read(
  { db }: FeedDeps,
  page: Page<FeedFilters, FeedPlace>,
  readAtMs: number,
): Promise<{ shown: FeedEvent[]; place: FeedPlace | null }> {
  const end = await feedEnd(db, page.planId)
  if (page.after !== null && BigInt(page.after.position) > BigInt(end)) {
    const message = 'is from a later state of the database than it has now; begin again with since'
    throw invalidField('cursor', 'INVALID_CURSOR', message)
  }
  const events = await readFeed(db, { ...page, limit: page.limit + 1 }, end)
  const shown = feedPage(events, page.limit)
  return { shown, place: shown.length < events.length ? null : placeBehind(end, readAtMs) }
}

function presented({ msgId, sequence, occurredAt, payload }: FeedEvent, plan: ServicePlan) {
  return {
    eventId: eventId({ msgId, sequence }),
    sequence,
    type: eventType(sequence),
    occurredAt: occurredAt.toISOString(),
    data: eventBody(payload, plan),
  }
}

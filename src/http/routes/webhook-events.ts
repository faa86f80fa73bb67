import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { EVENT_STATES } from '../../domain/events.ts'
import type { EventKey } from '../../domain/identifiers.ts'
import { EVENT_FILTERS, type EventFilters } from '../../domain/lists.ts'
import type { HeaderSettings } from '../../domain/webhooks/attempt-headers.ts'
import { notFound } from '../../errors.ts'
import { findEvent, listEvents } from '../../store/event-list.ts'
import { planToRead } from '../authentication.ts'
import { CursorPages, type ListDeps } from '../cursor-pages.ts'
import { answered } from '../schemas/error-body.ts'
import {
  EventPathSchema,
  LookupQuerySchema,
  listQuery,
  pageSchema,
  windowParameters,
} from '../schemas/parameters.ts'
import { WEBHOOK_EVENT_DETAIL, WEBHOOK_EVENT_LIST } from '../schemas/response-examples.ts'
import { oneOf } from '../schemas/shapes.ts'
import {
  DestinationField,
  MsgIdField,
  presentEvent,
  presentEventDetail,
  WebhookEventDetailSchema,
  WebhookEventSchema,
} from '../schemas/webhooks.ts'
import type { LookupDeps } from './messages.ts'

const ListQuery = listQuery(EVENT_FILTERS, {
  state: oneOf(EVENT_STATES, { description: 'State of the delivery' }),
  msgId: MsgIdField,
  destination: DestinationField,
  ...windowParameters("messages' createdAt"),
})

const WebhookEventList = pageSchema(WebhookEventSchema, 'WebhookEventList')

const COMMON = { tags: ['Webhook deliveries'] }

const LIST = {
  ...COMMON,
  operationId: 'listWebhookEvents',
  summary: 'List the events of a plan and their state, newest message first',
  description: 'Says whether each event was delivered, and where to. Events without a URL are listed too.',
  querystring: ListQuery,
  response: answered(200, WebhookEventList, 'A page, newest message first', WEBHOOK_EVENT_LIST),
}

const DETAIL = {
  ...COMMON,
  operationId: 'getWebhookEvent',
  summary: 'Get an event with every attempt to deliver it',
  description: 'Has the headers of each attempt, and the response of your receiver, up to its first 1 KiB.',
  params: EventPathSchema,
  querystring: LookupQuerySchema,
  response: answered(200, WebhookEventDetailSchema, 'The event', WEBHOOK_EVENT_DETAIL, [404]),
}

export interface EventDetailDeps extends LookupDeps {
  /** For the headers of attempts. */
  readonly headerSettings: HeaderSettings
}

/** `GET /v1/webhooks/events` and `/v1/webhooks/events/{eventId}`. */
export function registerWebhookEvents(app: FastifyInstance, deps: ListDeps & EventDetailDeps): void {
  const { records, directory, messages } = deps
  const pages = new CursorPages<EventFilters, EventKey>(deps, 'events', EVENT_FILTERS)
  app.get('/v1/webhooks/events', { schema: LIST }, async (request) => {
    const { plan, page } = await pages.read(request)
    await messages.untilEventsRecorded(plan.id, page.filters.msgId)
    return pages.answer(
      page,
      (wanted) => listEvents(records, wanted),
      ({ msgId, sequence }) => ({ msgId, sequence }),
      (event) => presentEvent(event, plan.servicePlanId),
    )
  })
  app.get('/v1/webhooks/events/:eventId', { schema: DETAIL }, async (request) => {
    const key = eventOfPath(request)
    const { servicePlanId } = request.query as Static<typeof LookupQuerySchema>
    const plan = planToRead(await directory(), request, servicePlanId)
    await messages.untilRecorded([key.msgId], plan.id)
    const event = await findEvent(records, plan.id, key)
    if (event === null) throw notFound('event')
    return presentEventDetail(event, plan, deps.headerSettings)
  })
}

/** The event that the path names, as EventPathSchema has read it. */
export function eventOfPath(request: FastifyRequest): EventKey {
  return (request.params as { eventId: EventKey }).eventId
}

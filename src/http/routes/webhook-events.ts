import type { FastifyInstance, FastifyRequest } from 'fastify'
import { EVENT_FILTERS, type EventFilters } from '../../domain/event-filters.ts'
import { type EventKey, parseEventId } from '../../domain/events.ts'
import { fault } from '../../domain/faults.ts'
import { MAX_PAGE, parseListQuery } from '../../domain/list-queries.ts'
import { bracketFaults, planParameter, type Query } from '../../domain/query-parameters.ts'
import { invalid } from '../../errors.ts'
import { refuseMissing } from '../../operations/refuse-administration.ts'
import { findEvent, listEvents } from '../../store/event-list.ts'
import { planToRead } from '../authentication.ts'
import { CursorPages, type ListDeps } from '../pages.ts'
import { answered } from '../schemas/error-body.ts'
import { LookupQuerySchema } from '../schemas/message-query.ts'
import { WEBHOOK_EVENT_DETAIL, WEBHOOK_EVENT_LIST } from '../schemas/response-examples.ts'
import { presentEvent, presentEventDetail, WebhookEventDetailSchema } from '../schemas/webhook-event.ts'
import { EventListQuerySchema, EventPathSchema, WebhookEventListSchema } from '../schemas/webhook-query.ts'
import type { LookupDeps } from './message-lookups.ts'

const COMMON = { tags: ['Webhook deliveries'] }

const LIST = {
  ...COMMON,
  operationId: 'listWebhookEvents',
  summary: 'List the events of a plan and their state, newest message first',
  description: 'Says whether each event was delivered, and where to. Events without a URL are listed too.',
  querystring: EventListQuerySchema,
  response: answered(200, WebhookEventListSchema, 'A page, newest message first', WEBHOOK_EVENT_LIST),
}

const DETAIL = {
  ...COMMON,
  operationId: 'getWebhookEvent',
  summary: 'Get an event with every attempt to deliver it',
  description: 'Has the response of your receiver to each attempt, up to its first 1 KiB.',
  params: EventPathSchema,
  querystring: LookupQuerySchema,
  response: answered(200, WebhookEventDetailSchema, 'The event', WEBHOOK_EVENT_DETAIL, [404]),
}

/** `GET /v1/webhooks/events` and `/v1/webhooks/events/{eventId}`. */
export function webhookEventRoutes(app: FastifyInstance, deps: ListDeps & LookupDeps): void {
  const { db, directory, messages } = deps
  const pages = new CursorPages<EventFilters, EventKey>(deps, 'events')
  app.get('/v1/webhooks/events', { schema: LIST }, async (request) => {
    const bounds = { filtered: false, maxPage: MAX_PAGE }
    const { plan, page } = await pages.read(
      request,
      parseListQuery(request.query as Query, EVENT_FILTERS, bounds),
    )
    await messages.untilEventsRecorded(plan.id, page.filters.msgId)
    return pages.answer(
      page,
      (wanted) => listEvents(db, wanted),
      ({ msgId, seq }) => ({ msgId, seq }),
      (event) => presentEvent(event, plan.servicePlanId),
    )
  })
  app.get('/v1/webhooks/events/:eventId', { schema: DETAIL }, async (request) => {
    const { key, servicePlanId } = readEventLookup(request)
    const plan = planToRead(await directory(), request, servicePlanId)
    await messages.untilRecorded([key.msgId], plan.id)
    const event = await findEvent(db, plan.id, key)
    if (event === null) throw refuseMissing('event')
    return presentEventDetail(event, plan.servicePlanId)
  })
}

/** The event that the path names, or 400. */
export function eventOfPath(request: FastifyRequest): EventKey {
  const key = parseEventId((request.params as { eventId: string }).eventId)
  if (key === null) throw invalid([EVENT_ID_FAULT])
  return key
}

const EVENT_ID_FAULT = fault('eventId', 'INVALID_FORMAT', 'must be a message id, a dash and a number')

function readEventLookup(request: FastifyRequest): { key: EventKey; servicePlanId: string } {
  const query = request.query as Query
  const faults = bracketFaults(query, new Set(['servicePlanId']))
  const key = parseEventId((request.params as { eventId: string }).eventId)
  if (key === null) faults.push(EVENT_ID_FAULT)
  const servicePlanId = planParameter(query, true, faults)
  if (key === null || servicePlanId === undefined || faults.length > 0) throw invalid(faults)
  return { key, servicePlanId }
}

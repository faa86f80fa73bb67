import { EVENT_STATES } from '../../../domain/events.ts'
import { canonicalPublicId, type EventKey, eventId, parseEventId } from '../../../domain/identifiers.ts'
import { parseEventFilters } from '../../../domain/lists.ts'
import { checked, invalidField, notFound } from '../../../errors.ts'
import { keyOfPlan } from '../../../operations/manage/configuration-rows.ts'
import { redeliverEvent, redeliverEvents } from '../../../operations/redeliver-events.ts'
import { findEvent, findPlanOfEvent, listEvents } from '../../../store/event-list.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { oneOf, requestBody } from '../../schemas/shapes.ts'
import {
  DryRunField,
  presentEvent,
  presentEventDetail,
  RedeliveredSchema,
  WebhookEventDetailSchema,
  WebhookEventSchema,
} from '../../schemas/webhooks.ts'
import { described, EventId, MessageId, pageQuery, ServicePlanId } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'
import { addList } from './resource.ts'

/** The domain reads these texts. */
const text = (description: string) => Type.String({ maxLength: 300, description })
const FILTERS = {
  servicePlanId: ServicePlanId,
  msgId: Type.Optional(MessageId),
  destination: Type.Optional(text('Scheme, host and port: https://hooks.example.com')),
  fromDate: Type.Optional(text("Start of the window of the messages' createdAt, RFC 3339, inclusive")),
  toDate: Type.Optional(text('End of the window, RFC 3339, inclusive')),
}
const Redeliveries = requestBody(
  'RedeliverEventsRequest',
  {
    ...FILTERS,
    state: Type.Optional(
      oneOf(['failed', 'kept'], { description: 'failed, or kept without a URL; default: failed' }),
    ),
    dryRun: DryRunField,
    after: Type.Optional(described(EventId, 'Continue after this event')),
  },
  { servicePlanId: '65f0c0ffee65f0c0ffee65f0', state: 'failed' },
)

const tags = ['Webhook administration']
const params = Type.Object({ eventId: EventId })

/** The events that are announced to customers, and their delivery. */
export function registerWebhookEvents(scope: AdminScope, deps: AdminDeps): void {
  const { reads, records, messages } = deps

  addList(scope, '/webhook-events', {
    operationId: 'listWebhookEventsOfPlan',
    summary: 'List the events of a service plan',
    description: 'Sorted by message, newest first.',
    tags,
    query: pageQuery(EventId, {
      ...FILTERS,
      state: Type.Optional(oneOf(EVENT_STATES, { description: 'State of the delivery' })),
    }),
    item: WebhookEventSchema,
    fetch: async ({ query }, limit) => {
      const filters = filtersOf(query)
      const planId = await keyOfPlan(reads, query.servicePlanId)
      await messages.untilEventsRecorded(planId, filters.msgId)
      return listEvents(records, { planId, filters, after: positionOf(query.after), limit })
    },
    keyOf: (event) => eventId(event),
    present: (event, { query }) => presentEvent(event, canonicalPublicId(query.servicePlanId)),
  })

  addOperation(scope, 'GET /webhook-events/:eventId', {
    operationId: 'getWebhookEventOfPlan',
    summary: 'Show an event',
    description: 'Returns the event and every attempt to deliver it.',
    tags,
    params,
    answer: WebhookEventDetailSchema,
    run: async ({ params }) => show(deps, await locate(deps, params.eventId)),
  })

  registerRedeliveries(scope, deps)
}

function registerRedeliveries(scope: AdminScope, deps: AdminDeps): void {
  const { change, reads, messages } = deps

  addOperation(scope, 'POST /webhook-events/:eventId/redeliver', {
    operationId: 'redeliverWebhookEventOfPlan',
    summary: 'Redeliver an event',
    description: 'Delivers the event again, or a pending one now, under the same id.',
    tags,
    params,
    answer: WebhookEventDetailSchema,
    statuses: [202],
    run: async (request) => {
      const { planId, key } = await locate(deps, request.params.eventId)
      await change(request, async (transaction) => {
        await redeliverEvent(transaction, planId, key)
        const objectId = eventId(key)
        return { value: null, entry: { objectType: 'webhook-event', objectId, before: null, after: null } }
      })
      return show(deps, { planId, key })
    },
  })

  addOperation(scope, 'POST /webhook-redeliveries', {
    operationId: 'redeliverWebhookEventsOfPlan',
    summary: 'Redeliver events of a service plan',
    description:
      'Redelivers up to 20,000 events that failed, or were kept without a URL. Pass `nextAfter` as `after` for the rest.',
    tags,
    body: Redeliveries,
    answer: RedeliveredSchema,
    statuses: [202],
    run: async (request) => {
      const { state = 'failed', dryRun = false, servicePlanId, after, ...texts } = request.body
      const filters = filtersOf(texts)
      const planId = await keyOfPlan(reads, servicePlanId)
      const query = { ...filters, planId, state, dryRun, after: positionOf(after) }
      await messages.untilEventsRecorded(planId, filters.msgId)
      const objectId = canonicalPublicId(servicePlanId)
      // Each batch is a change of its own.
      const { redelivered, nextAfter } = await redeliverEvents(
        (redelivery) =>
          change(request, async (transaction) => {
            const value = await redelivery(transaction)
            const { queued } = value
            const detail = { state, ...texts, redelivered: queued }
            const made = { objectType: 'service-plan', objectId, before: null, after: detail }
            return { value, entry: queued === 0 || dryRun ? null : made }
          }),
        query,
      )
      return { redelivered, nextAfter: nextAfter === null ? null : eventId(nextAfter) }
    },
  })
}

type EventLocation = { planId: number; key: EventKey }

/** The key of an event, whichever plan it belongs to; or 404. */
async function locate({ reads, messages }: AdminDeps, id: string): Promise<EventLocation> {
  const key = parseEventId(id)
  if (key !== null) await messages.untilRecorded([key.msgId])
  const planId = key === null ? undefined : await findPlanOfEvent(reads, key)
  if (key === null || planId === undefined) throw notFound('event')
  return { planId, key }
}

async function show({ records, directory, headerSettings }: AdminDeps, { planId, key }: EventLocation) {
  const plan = directory.current().planById(planId)
  const event = await findEvent(records, planId, key)
  if (event === null || plan === undefined) throw notFound('event')
  return presentEventDetail(event, plan, headerSettings)
}

function filtersOf(texts: Parameters<typeof parseEventFilters>[0]) {
  return checked((faults) => parseEventFilters(texts, faults))
}

/** Where a list continues. A malformed id would otherwise restart the list. */
function positionOf(after: string | undefined): EventKey | null {
  const key = after === undefined ? null : parseEventId(after)
  if (after !== undefined && key === null) {
    throw invalidField('after', 'INVALID_FORMAT', 'must be nextAfter of the previous response')
  }
  return key
}

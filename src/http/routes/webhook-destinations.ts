import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import { retryConflicts } from '../../operations/manage/configuration-rows.ts'
import {
  pauseDestination,
  resumeDestination,
  retryWaiting,
} from '../../operations/manage/webhook-destinations.ts'
import { findDestination, listDestinations } from '../../store/webhook-destinations.ts'
import { planToRead } from '../authentication.ts'
import { CursorPages, type ListDeps } from '../cursor-pages.ts'
import { answered } from '../schemas/error-body.ts'
import { listQuery, PlanParameter, pageSchema } from '../schemas/parameters.ts'
import {
  PAUSED_DESTINATION,
  RESUMED_DESTINATION,
  WEBHOOK_DESTINATION_LIST,
} from '../schemas/response-examples.ts'
import { requestBody } from '../schemas/shapes.ts'
import { DestinationField, WebhookDestinationSchema } from '../schemas/webhooks.ts'
import type { WebhookActionDeps } from './webhook-actions.ts'

const ListQuery = listQuery({}, {})

const WebhookDestinationList = pageSchema(WebhookDestinationSchema, 'WebhookDestinationList')

const DestinationBody = requestBody(
  'DestinationRequest',
  { servicePlanId: PlanParameter, destination: DestinationField },
  { servicePlanId: '65f0c0ffee65f0c0ffee65f0', destination: 'https://hooks.example.com' },
)

const COMMON = { tags: ['Webhook deliveries'] }

const LIST = {
  ...COMMON,
  operationId: 'listWebhookDestinations',
  summary: 'List destinations that are in trouble, paused, or have waiting events, by name',
  description:
    'A destination is the scheme, host and port of a URL. One that works, and has nothing waiting, is not listed.',
  querystring: ListQuery,
  response: answered(200, WebhookDestinationList, 'A page, by name', WEBHOOK_DESTINATION_LIST),
}

function change(operationId: string, summary: string, description: string, example: object) {
  return {
    ...COMMON,
    operationId,
    summary,
    description,
    body: DestinationBody,
    response: answered(
      200,
      WebhookDestinationSchema,
      'The destination in its new state',
      example,
      [409, 413, 415],
    ),
  }
}

const PAUSE = change(
  'pauseWebhookDestination',
  "Stop delivering a plan's events to a destination",
  'They wait, without end, until it is resumed.',
  PAUSED_DESTINATION,
)
const RESUME = change(
  'resumeWebhookDestination',
  'Resume a destination that is paused or has failed',
  'Its waiting events are delivered now, including those that wait for their next attempt. Only the operator can resume what the operator has paused.',
  RESUMED_DESTINATION,
)

/** `GET /v1/webhooks/destinations`. */
export function registerWebhookDestinations(app: FastifyInstance, deps: ListDeps): void {
  const pages = new CursorPages<object, string>(deps, 'destinations', {})
  app.get('/v1/webhooks/destinations', { schema: LIST }, async (request) => {
    const { page } = await pages.read(request)
    return pages.answer(
      page,
      ({ planId, after, limit }) => listDestinations(deps.db, { planId, after: after ?? '', limit }),
      ({ destination }) => destination,
      (destination) => destination,
    )
  })
}

/** `POST /v1/webhooks/destinations/pause` and `/resume`. */
export function registerDestinationActions(
  app: FastifyInstance,
  { directory, writes }: WebhookActionDeps,
): void {
  for (const [verb, schema, make] of [
    ['pause', PAUSE, pauseDestination],
    ['resume', RESUME, resumeDestination],
  ] as const) {
    app.post(`/v1/webhooks/destinations/${verb}`, { schema }, async (request) => {
      const { servicePlanId, destination } = request.body as Static<typeof DestinationBody>
      const plan = planToRead(await directory(), request, servicePlanId)
      await retryConflicts(() => make(writes, plan.id, destination, 'customer'))
      if (verb === 'resume')
        await retryWaiting((batch) => retryConflicts(() => batch(writes)), plan.id, destination)
      return findDestination(writes, plan.id, destination)
    })
  }
}

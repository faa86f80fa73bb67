import { Type } from 'typebox'
import { EVENT_FILTERS } from '../../domain/event-filters.ts'
import { EVENT_STATES, parseEventId } from '../../domain/events.ts'
import { judged } from '../validate.ts'
import { listQuery, PlanParameter, pageSchema, windowParameters } from './list-query.ts'
import { nullableInteger, nullableString, oneOf } from './nullable.ts'
import { titled } from './titled.ts'
import { EVENT_TYPES, WebhookDestinationSchema, WebhookEventSchema } from './webhook-event.ts'

/** Parameters of the customers' webhook API. */

const Destination = Type.String({
  maxLength: 300,
  description: 'Scheme, host and port: https://example.com:8443',
})
const MsgId = Type.String({ maxLength: 36, format: 'uuid', description: 'Of one message' })

export const EventPathSchema = Type.Object({
  eventId: judged(
    Type.String({
      examples: ['019dab2c-7000-7a3b-8c4d-5e6f70819203-1'],
      description: '{msgId}-{sequence}, as in webhook-id',
    }),
    { parse: parseEventId, rule: 'must be a message id, a dash and a number' },
  ),
})

export const EventListQuerySchema = listQuery(EVENT_FILTERS, {
  state: oneOf(EVENT_STATES, { description: 'State of the delivery' }),
  msgId: MsgId,
  destination: Destination,
  ...windowParameters("messages' createdAt"),
})

export const DestinationListQuerySchema = listQuery({}, {})

export const WebhookEventListSchema = pageSchema(WebhookEventSchema, 'WebhookEventList')
export const WebhookDestinationListSchema = pageSchema(WebhookDestinationSchema, 'WebhookDestinationList')

/** Unknown fields are refused: a misspelt field would not narrow what is done. */
const strict = (title: string, example: object) => ({
  title,
  additionalProperties: false,
  examples: [{ servicePlanId: '65f0c0ffee65f0c0ffee65f0', ...example }],
})

export const PlanBodySchema = Type.Object(
  { servicePlanId: PlanParameter },
  strict('RedeliverEventRequest', {}),
)

export const DestinationBodySchema = Type.Object(
  { servicePlanId: PlanParameter, destination: Destination },
  strict('DestinationRequest', { destination: 'https://hooks.example.com' }),
)

export const RedeliverBodySchema = Type.Object(
  {
    servicePlanId: PlanParameter,
    state: Type.Optional(
      oneOf(['failed', 'kept'], {
        description: 'default: failed; kept: events that had no URL when they happened, and have one now',
      }),
    ),
    msgId: Type.Optional(MsgId),
    destination: Type.Optional(Destination),
    fromDate: Type.Optional(
      Type.String({ maxLength: 64, format: 'date-time', description: "Of messages' createdAt, inclusive" }),
    ),
    toDate: Type.Optional(Type.String({ maxLength: 64, format: 'date-time', description: 'Inclusive' })),
    after: Type.Optional(Type.String({ maxLength: 42, description: 'nextAfter of the previous response' })),
  },
  strict('RedeliverEventsRequest', { state: 'failed', fromDate: '2026-11-01T00:00:00Z' }),
)

export const RedeliveredSchema = titled('Redelivered', {
  redelivered: Type.Integer({ description: 'Events that are to be delivered now' }),
  nextAfter: nullableString({ description: 'Where to continue with the same request; null: that was all' }),
})

export const TestBodySchema = Type.Object(
  {
    servicePlanId: PlanParameter,
    type: Type.Optional(oneOf(EVENT_TYPES, { title: 'EventType', description: 'default: deliveryReceipt' })),
    url: Type.Optional(
      Type.String({
        format: 'uri',
        description: "When absent: the account's default DLR URL, or the plan's inbound URL",
      }),
    ),
  },
  strict('TestEventRequest', { url: 'https://hooks.example.com/receipts' }),
)

export const TestEventSchema = titled('TestEvent', {
  eventId: Type.String({ description: 'webhook-id of the test event; it belongs to no message' }),
  url: Type.String({
    description: 'Where it went, without credentials; a configured URL is shown without its query',
  }),
  delivered: Type.Boolean({ description: 'It was answered 2xx' }),
  responseStatus: nullableInteger(),
  latencyMs: Type.Integer({ description: 'From the DNS look-up to the end of the answer' }),
  error: nullableString({ description: 'Why it was not delivered' }),
  responseHead: nullableString({ description: 'The first 1 KiB of the answer' }),
})

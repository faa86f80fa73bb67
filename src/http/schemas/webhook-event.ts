import { Type } from 'typebox'
import { EVENT_STATES, type EventType, eventId, eventType } from '../../domain/events.ts'
import type { EventAttempt, EventRecord } from '../../store/event-list.ts'
import { instant, Nullable, nullableInteger, nullableString, oneOf, titled } from './shapes.ts'

/**
 * Events and destinations of webhooks, as operators and customers see them: their schemas, and the functions that fill
 * them.
 */

export const EVENT_TYPES: readonly EventType[] = ['deliveryReceipt', 'inboundMessage']

const FIELDS = {
  eventId: Type.String({ description: 'webhook-id of its webhooks' }),
  servicePlanId: Type.String(),
  msgId: Type.String({ format: 'uuid' }),
  sequence: Type.Integer({ description: '1, 2, … for the changes of status; 0: an inbound message' }),
  type: oneOf(EVENT_TYPES, { title: 'EventType' }),
  messageStatus: nullableString({ description: 'The status it announces; null for an inbound message' }),
  state: oneOf(EVENT_STATES, {
    description: 'failed: until it is redelivered; kept: there was no URL when it happened',
  }),
  occurredAt: instant(),
  deliveredAt: Nullable(instant({ description: 'When it was last answered 2xx' })),
  attempts: Type.Integer(),
  nextAttemptAt: Nullable(
    instant({
      description:
        'Latest time of the next attempt; an event parked for its destination goes as soon as that recovers. Null: none is planned',
    }),
  ),
  destination: nullableString({
    description: 'Scheme, host and port; known once it was delivered, or an attempt has failed',
  }),
  responseStatus: nullableInteger({ description: 'HTTP status of the last attempt' }),
  error: nullableString({
    description: 'Error of the last attempt; null: it was answered 2xx',
  }),
}

export const WebhookEventSchema = titled('WebhookEvent', FIELDS)

export const WebhookEventDetailSchema = titled('WebhookEventDetail', {
  ...FIELDS,
  attemptRecords: Type.Array(
    titled('WebhookAttempt', {
      attempt: Type.Integer(),
      attemptedAt: instant(),
      latencyMs: Type.Integer(),
      responseStatus: nullableInteger(),
      error: nullableString(),
      responseHead: nullableString({ description: 'The first 1 KiB of the answer' }),
    }),
    { description: 'Oldest first' },
  ),
})

/** An event of the plan with this public id. */
export function presentEvent(event: EventRecord, servicePlanId: string) {
  return { ...event, eventId: eventId(event), servicePlanId, type: eventType(event.sequence) }
}

export function presentEventDetail(
  event: EventRecord & { readonly attemptRecords: readonly EventAttempt[] },
  servicePlanId: string,
) {
  return { ...presentEvent(event, servicePlanId), attemptRecords: [...event.attemptRecords] }
}

/** Events behind an earlier event of their message are not counted: they have no destination yet. */
const counted = (what: string) => Type.Integer({ description: `${what}; at most 10,000 are counted` })

export const WebhookDestinationSchema = titled('WebhookDestination', {
  destination: Type.String({ description: 'Scheme, host and port' }),
  state: oneOf(['delivering', 'open', 'paused', 'recovering'], {
    description:
      'open: it failed too often, one event a minute is tried; paused: nothing is sent; recovering: what waited is',
  }),
  since: Nullable(instant()),
  error: nullableString({ description: 'Of the last failure that opened it' }),
  pausedBy: nullableString({ description: 'customer or operator' }),
  waiting: counted('Events that wait for their next attempt after a failure'),
  parked: counted('Events put aside until the destination takes them, the first of each message'),
  failed: counted('Events given up'),
})

export const DestinationField = Type.String({
  maxLength: 300,
  description: 'Scheme, host and port: https://example.com:8443',
})

export const MsgIdField = Type.String({ maxLength: 36, format: 'uuid', description: 'Of one message' })

export const DryRunField = Type.Optional(
  Type.Boolean({ description: 'true: only counts the events that would be redelivered; default: false' }),
)

export const RedeliveredSchema = titled('Redelivered', {
  redelivered: Type.Integer({ description: 'Events that are to be delivered now, or would be' }),
  nextAfter: nullableString({ description: 'Where to continue with the same request; null: that was all' }),
})

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

import type { TObject } from 'typebox'
import type { ServicePlan } from '../../domain/configuration/configuration.ts'
import { EVENT_STATES, type EventType, eventType } from '../../domain/events.ts'
import { eventId } from '../../domain/identifiers.ts'
import { MESSAGE_STATUSES } from '../../domain/messages/messages.ts'
import { type HeaderSettings, shownHeaders } from '../../domain/webhooks/attempt-headers.ts'
import type { EventDetail, EventRecord } from '../../store/event-list.ts'
import { Type } from './schema-builder.ts'
import {
  instant,
  Nullable,
  nullableInteger,
  nullableNumber,
  nullableString,
  oneOf,
  titled,
} from './shapes.ts'

/** The public record of a message. The API calls it a DeliveryReceipt from its acceptance on. */
export const DeliveryReceiptSchema = titled('DeliveryReceipt', {
  accountId: nullableString({ description: 'Account that owns the message' }),
  servicePlanId: nullableString({ description: 'Service plan that owns the message' }),
  msgId: Type.String({ format: 'uuid' }),
  channel: oneOf(['SMS', 'MMS']),
  direction: Type.String({ description: 'MT' }),
  from: nullableString({ description: 'Sender' }),
  to: nullableString({ description: 'Recipient' }),
  body: nullableString({
    description: 'Text, exactly as sent; null: discarded, because the message has ended',
  }),
  status: oneOf(MESSAGE_STATUSES, { title: 'MessageStatus' }),
  errorCode: Type.String({ description: '000 on success, otherwise the failure code' }),
  errorMessage: Type.String(),
  segments: nullableInteger(),
  price: nullableNumber({
    description: 'Of all segments, at most 6 decimals; null until the message is sent, or without a rate',
  }),
  ptf: nullableNumber({ description: 'Pass-through fee of all segments, as price' }),
  currency: nullableString({ description: 'ISO 4217; of price and ptf' }),
  mccmnc: nullableString({
    description:
      'Mobile country and network code; a receipt may correct it, and price, ptf and currency with it',
  }),
  country: nullableString({ description: 'ISO 3166-1 alpha-2' }),
  createdAt: Type.String({ format: 'date-time' }),
  sentAt: nullableString({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
})

// Events and destinations of webhooks, as operators and customers see them: their schemas, and the functions that fill
// them.

export const EVENT_TYPES: readonly EventType[] = ['deliveryReceipt', 'inboundMessage']

const FIELDS = {
  eventId: Type.String({ description: 'webhook-id of its webhooks' }),
  servicePlanId: Type.String(),
  msgId: Type.String({ format: 'uuid' }),
  sequence: Type.Integer({ description: '1, 2, … for the changes of status; 0: an inbound message' }),
  type: oneOf(EVENT_TYPES, { title: 'EventType' }),
  messageStatus: nullableString({ description: 'The status it announces; null for an inbound message' }),
  state: oneOf(EVENT_STATES, {
    description:
      'failed: until it is redelivered; kept: there was no URL for it, when it happened or when it was to be sent',
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

/** Of an attempt. */
export const RequestHeaders = Nullable(
  Type.Record(Type.String(), Type.String(), {
    description:
      "Headers that were sent, or would have been with a connection, without Host, Connection and Content-Length. ***: the signature, and values of the account's own headers and credentials, as they are configured now. Null: these cannot be decrypted",
  }),
)

export const WebhookEventDetailSchema = titled('WebhookEventDetail', {
  ...FIELDS,
  attemptRecords: Type.Array(
    titled('WebhookAttempt', {
      attempt: Type.Integer(),
      attemptedAt: instant(),
      latencyMs: Type.Integer(),
      responseStatus: nullableInteger(),
      error: nullableString(),
      requestHeaders: RequestHeaders,
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
  { attemptRecords, callbackUrl, ...event }: EventDetail,
  plan: ServicePlan,
  settings: HeaderSettings,
) {
  const { msgId, sequence } = event
  return {
    ...presentEvent(event, plan.servicePlanId),
    attemptRecords: attemptRecords.map((attempt) => ({
      ...attempt,
      requestHeaders: shownHeaders({ msgId, sequence, callbackUrl, plan }, attempt, settings),
    })),
  }
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

/** The record of a message; only two of its fields are promised. */
const DeliveryReceiptWebhookSchema = {
  ...DeliveryReceiptSchema,
  required: ['msgId', 'status'],
  title: 'DeliveryReceiptWebhook',
}

/** An inbound message, as it is pushed and listed. */
export const InboundSmsWebhookSchema = titled('InboundSmsWebhook', {
  accountId: Type.String({ description: 'Account that owns the message' }),
  servicePlanId: Type.String({ description: 'Service plan that owns the number' }),
  msgId: Type.String({ format: 'uuid' }),
  channel: oneOf(['SMS']),
  direction: oneOf(['MO']),
  from: Type.String({ description: 'Sender' }),
  to: Type.String({ description: 'Number it was sent to' }),
  keyword: Type.Optional(Type.String({ description: 'Keyword of the number that the text begins with' })),
  body: Type.String(),
  receivedAt: Type.String({ format: 'date-time', description: 'UTC' }),
})

/** A limit of a service plan was reached. It has no `direction`. */
const LimitReachedWebhookSchema = titled('LimitReachedWebhook', {
  type: Type.String({ description: 'capReached or countryPaused; others may follow' }),
  accountId: Type.String(),
  servicePlanId: Type.String(),
  at: Type.String({ format: 'date-time', description: 'UTC' }),
  text: Type.String({ description: 'For people' }),
  country: Type.Optional(Type.String({ description: 'The country that is paused' })),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'When the pause ends' })),
  percent: Type.Optional(Type.Integer({ description: 'How much of the cap is used' })),
  cap: Type.Optional(
    titled('ReachedCap', {
      per: oneOf(['day', 'month']),
      begins: Type.String({ format: 'date', description: 'The day, or the first of the month, UTC' }),
      messages: Nullable(Type.Integer()),
      cost: Nullable(Type.String({ description: 'Decimal' })),
      currency: Nullable(Type.String()),
    }),
  ),
})

/** The first three are those of Standard Webhooks. */
const HEADERS = {
  'webhook-id': 'Id of the event, the same at each attempt',
  'webhook-timestamp': 'Unix seconds of this attempt',
  'webhook-signature':
    'v1, and the base64 of an HMAC-SHA-256 over id.timestamp.body; several during a rotation',
  'aldis-attempt': '1, 2, …; goes on counting when the event is redelivered',
  'aldis-sequence':
    'Place of the event among those of its message: 1, 2, …; 0: an inbound message or a limit',
  'aldis-test': 'true: a test event, of no message',
}
/** Those of these headers that not every webhook has. */
const OPTIONAL_HEADERS: ReadonlySet<string> = new Set(['aldis-test'])

/** `webhooks` of the OpenAPI document: what is POSTed to the customer. */
export const WEBHOOKS = {
  deliveryReceipt: webhook(
    'deliveryReceipt',
    'The status of an outbound message changed',
    "To the message's callbackUrl, or else the account's default DLR URL.",
    DeliveryReceiptWebhookSchema,
  ),
  inboundMessage: webhook(
    'inboundMessage',
    'An inbound message was received',
    "To the service plan's inbound URL.",
    InboundSmsWebhookSchema,
  ),
  limitReached: webhook(
    'limitReached',
    'A limit of a service plan was reached',
    "To the service plan's inbound URL, if the plan asks for it.",
    LimitReachedWebhookSchema,
  ),
}

type ObjectSchema = Omit<TObject, 'required'> & { required: string[] }

function webhook(operationId: string, summary: string, description: string, schema: ObjectSchema) {
  const parameters = Object.entries(HEADERS).map(([name, text]) => ({
    name,
    in: 'header',
    required: !OPTIONAL_HEADERS.has(name),
    description: text,
    schema: { type: 'string' as const },
  }))
  return {
    post: {
      operationId,
      summary,
      description,
      tags: ['Webhooks'],
      security: [],
      parameters,
      requestBody: { required: true, content: { 'application/json': { schema } } },
      responses: {
        '2XX': { description: 'Taken; any other answer is tried again' },
        410: {
          description:
            "Not wanted: from a message's own URL it ends the event, from a configured one it holds up the destination",
        },
      },
    },
  }
}

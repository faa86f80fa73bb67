import { type TObject, Type } from 'typebox'
import { DeliveryReceiptSchema } from './delivery-receipt.ts'
import { Nullable, oneOf, titled } from './shapes.ts'

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

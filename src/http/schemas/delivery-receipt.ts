import { Type } from 'typebox'
import { MESSAGE_STATUSES } from '../../domain/messages/messages.ts'
import { nullableInteger, nullableNumber, nullableString, oneOf, titled } from './shapes.ts'

/** The public record of a message. */
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

import { Type } from 'typebox'
import { MESSAGE_FILTERS } from '../../domain/message-filters.ts'
import { STATUSES } from '../../domain/message-states.ts'
import { DeliveryReceiptSchema } from './delivery-receipt.ts'
import { listQuery, PlanParameter, pageSchema, windowParameters } from './list-query.ts'
import { oneOf } from './nullable.ts'

export const MessagePathSchema = Type.Object({
  msgId: Type.String({
    format: 'uuid',
    examples: ['019dab2c-7000-7a3b-8c4d-5e6f70819203'],
    description: 'As it was answered when the message was sent',
  }),
})

export const LookupQuerySchema = Type.Object({ servicePlanId: PlanParameter })

export const ShortLookupQuerySchema = Type.Object({ servicePlanId: Type.Optional(PlanParameter) })

export const ListQuerySchema = listQuery(
  MESSAGE_FILTERS,
  {
    from: Type.String({ description: 'Sender' }),
    to: Type.String({ examples: ['+15551230001'], description: 'Destination' }),
    status: oneOf(STATUSES, { title: 'MessageStatus', description: 'Current status' }),
    country: Type.String({ description: 'ISO 3166-1 alpha-2' }),
    mccmnc: Type.String({ pattern: '^[0-9]{5,6}$', description: 'Mobile country code and network code' }),
    ...windowParameters('createdAt'),
  },
  { needsFilter: true },
)

export const MessageListSchema = pageSchema(DeliveryReceiptSchema, 'MessageList')

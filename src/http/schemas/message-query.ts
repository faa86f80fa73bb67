import { Type } from 'typebox'
import { DEFAULT_PAGE, MAX_PAGE } from '../../domain/message-filters.ts'
import { STATUSES } from '../../domain/message-states.ts'
import { DeliveryReceiptSchema } from './delivery-receipt.ts'
import { nullableString, oneOf } from './nullable.ts'

/** Query strings and paths, for the documentation: parameters are texts, and the domain reads and judges them. */

const PlanParameter = Type.String({ pattern: '^[a-fA-F0-9]{24}$', description: '24 hex digits' })

export const MessagePathSchema = Type.Object({ msgId: Type.String({ format: 'uuid' }) })

export const LookupQuerySchema = Type.Object({ servicePlanId: PlanParameter })

export const ShortLookupQuerySchema = Type.Object({ servicePlanId: Type.Optional(PlanParameter) })

/** Spec §4.3. */
export const ListQuerySchema = Type.Object({
  servicePlanId: PlanParameter,
  from: Type.Optional(Type.String({ description: 'Sender' })),
  to: Type.Optional(Type.String({ description: 'Destination' })),
  status: Type.Optional(oneOf(STATUSES)),
  country: Type.Optional(Type.String({ description: 'ISO 3166-1 alpha-2' })),
  mccmnc: Type.Optional(Type.String({ pattern: '^[0-9]{5,6}$' })),
  fromDate: Type.Optional(
    Type.String({ format: 'date-time', description: 'Start of the createdAt window, inclusive' }),
  ),
  toDate: Type.Optional(
    Type.String({ format: 'date-time', description: 'End, inclusive; at most 31 days after fromDate' }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: DEFAULT_PAGE,
      description: `Values above ${MAX_PAGE} are ${MAX_PAGE}`,
    }),
  ),
  cursor: Type.Optional(Type.String({ description: 'nextCursor of the page before, unchanged' })),
})

/** Spec §2.3, §4.3 rule 4. */
export const MessageListSchema = Type.Object(
  {
    items: Type.Array(DeliveryReceiptSchema),
    pagination: Type.Object({
      limit: Type.Integer(),
      hasMore: Type.Boolean(),
      nextCursor: nullableString(),
    }),
  },
  { title: 'MessageList' },
)

import { Type } from 'typebox'
import { INBOUND_FILTERS } from '../../domain/inbound-filters.ts'
import { listQuery, pageSchema, windowParameters } from './list-query.ts'
import { InboundSmsWebhookSchema } from './webhooks.ts'

export const InboundListQuerySchema = listQuery(
  INBOUND_FILTERS,
  {
    from: Type.String({ description: 'Sender' }),
    to: Type.String({ examples: ['71234'], description: 'Number it was sent to' }),
    keyword: Type.String({ description: 'Keyword it matched, in any case' }),
    ...windowParameters('receivedAt'),
  },
  { needsFilter: true },
)

/** Inbound messages as they were pushed. */
export const InboundMessageListSchema = pageSchema(InboundSmsWebhookSchema, 'InboundMessageList')

import { Type } from 'typebox'
import { PAGE_PARAMETERS, PlanParameter, pageSchema, windowParameters } from './list-query.ts'
import { InboundSmsWebhookSchema } from './webhooks.ts'

/** Like the message list: see message-query.ts. */
export const InboundListQuerySchema = Type.Object({
  servicePlanId: PlanParameter,
  from: Type.Optional(Type.String({ description: 'Sender' })),
  to: Type.Optional(Type.String({ examples: ['71234'], description: 'Number it was sent to' })),
  keyword: Type.Optional(Type.String({ description: 'Keyword it matched, in any case' })),
  ...windowParameters('receivedAt'),
  ...PAGE_PARAMETERS,
})

/** Inbound messages as they were pushed. */
export const InboundMessageListSchema = pageSchema(InboundSmsWebhookSchema, 'InboundMessageList')

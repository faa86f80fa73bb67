import { Type } from 'typebox'
import { createdAtMs } from '../../../domain/identifiers.ts'
import { AppError } from '../../../errors.ts'
import { keyOfPlan } from '../../../operations/configuration-rows.ts'
import {
  type AdminInboundRecord,
  findInboundForOperator,
  listInboundForOperator,
} from '../../../store/inbound-message-list.ts'
import { titled } from '../../schemas/shapes.ts'
import {
  InboundNumberField,
  InboundSender,
  Keyword,
  limitOf,
  MessageId,
  NullableText,
  page,
  pageOf,
  pageQuery,
  ServicePlanId,
  Timestamp,
} from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const InboundMessage = titled('InspectedInboundMessage', {
  accountId: Type.String(),
  servicePlanId: Type.String(),
  msgId: Type.String(),
  carrier: NullableText,
  from: Type.String(),
  to: Type.String(),
  keyword: NullableText,
  body: Type.String(),
  receivedAt: Timestamp,
})

/** Messages to numbers that somebody owns; `/unowned-inbound-messages` shows the others. */
export function registerInboundMessages(scope: AdminScope, { reads }: AdminDeps): void {
  const tags = ['Inbound message search']

  const Query = pageQuery(MessageId, {
    servicePlanId: ServicePlanId,
    from: Type.Optional(InboundSender),
    to: Type.Optional(InboundNumberField),
    keyword: Type.Optional(Keyword),
  })
  scope.get(
    '/inbound-messages',
    {
      schema: {
        operationId: 'listInboundMessagesOfPlan',
        summary: 'List the inbound messages of a service plan',
        description: 'Newest first.',
        tags,
        querystring: Query,
        response: answers(200, pageOf(InboundMessage)),
      },
    },
    async ({ query }) => {
      const { shown, fetched } = limitOf(query)
      const { from = null, to = null, keyword = null, after = null } = query
      const rows = await listInboundForOperator(reads, {
        planId: await keyOfPlan(reads, query.servicePlanId),
        filters: { from, to, keyword, fromDate: null, toDate: null },
        after,
        limit: fetched,
      })
      return page(rows, shown, ({ msgId }) => msgId, present)
    },
  )

  const One = Type.Object({ msgId: MessageId })
  scope.get(
    '/inbound-messages/:msgId',
    {
      schema: {
        operationId: 'getInboundMessageOfPlan',
        summary: 'Show an inbound message',
        description: 'Returns the message and the carrier that delivered it.',
        tags,
        params: One,
        response: answers(200, InboundMessage),
      },
    },
    async ({ params }) => {
      const message = await findInboundForOperator(reads, params.msgId)
      if (message === undefined) throw new AppError('MESSAGE_NOT_FOUND')
      return present(message)
    },
  )
}

function present({ sender, recipient, ...message }: AdminInboundRecord) {
  const receivedAt = new Date(createdAtMs(message.msgId)).toISOString()
  return { ...message, from: sender, to: recipient, receivedAt }
}

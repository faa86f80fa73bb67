import { Type } from 'typebox'
import { createdAtMs } from '../../../domain/identifiers.ts'
import { parseWindow } from '../../../domain/lists.ts'
import { AppError, checked } from '../../../errors.ts'
import { keyOfPlan } from '../../../operations/manage/configuration-rows.ts'
import { findInboundForOperator, listInboundForOperator } from '../../../store/inbound-message-list.ts'
import { titled } from '../../schemas/shapes.ts'
import {
  InboundNumberField,
  InboundSender,
  Keyword,
  MessageId,
  NullableText,
  pageQuery,
  ServicePlanId,
  Timestamp,
  WINDOW,
} from './fields.ts'
import { addOperation } from './operations.ts'
import { addList } from './resource.ts'
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
export function registerInboundMessages(scope: AdminScope, { reads, records }: AdminDeps): void {
  const tags = ['Inbound message search']

  addList(scope, '/inbound-messages', {
    operationId: 'listInboundMessagesOfPlan',
    summary: 'List the inbound messages of a service plan',
    description: 'Newest first.',
    tags,
    query: pageQuery(MessageId, {
      servicePlanId: ServicePlanId,
      from: Type.Optional(InboundSender),
      to: Type.Optional(InboundNumberField),
      keyword: Type.Optional(Keyword),
      ...WINDOW,
    }),
    item: InboundMessage,
    fetch: async ({ query }, limit) => {
      const { servicePlanId, from = null, to = null, keyword = null, after = null } = query
      const filters = { from, to, keyword, ...checked((faults) => parseWindow(query, faults)) }
      const planId = await keyOfPlan(reads, servicePlanId)
      return listInboundForOperator(records, { planId, filters, after, limit })
    },
    keyOf: ({ msgId }) => msgId,
    present: presentInbound,
  })

  const One = Type.Object({ msgId: MessageId })
  addOperation(scope, 'GET /inbound-messages/:msgId', {
    operationId: 'getInboundMessageOfPlan',
    summary: 'Show an inbound message',
    description: 'Returns the message and the carrier that delivered it.',
    tags,
    params: One,
    answer: InboundMessage,
    run: async ({ params }) => {
      const message = await findInboundForOperator(records, params.msgId)
      if (message === undefined) throw new AppError('MESSAGE_NOT_FOUND')
      return presentInbound(message)
    },
  })
}

/** A message as its carrier delivered it, with the names of the API. */
export function presentInbound<Message extends { msgId: string; sender: string; recipient: string }>({
  sender,
  recipient,
  ...message
}: Message) {
  return { ...message, from: sender, to: recipient, receivedAt: new Date(createdAtMs(message.msgId)) }
}

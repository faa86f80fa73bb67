import { canonicalPublicId, createdAtMs } from '../../../domain/identifiers.ts'
import { parseWindow } from '../../../domain/lists.ts'
import { AppError, checked } from '../../../errors.ts'
import { keyOfPlan } from '../../../operations/manage/configuration-rows.ts'
import { giveUnownedInbound } from '../../../operations/manage/unowned-inbound-messages.ts'
import {
  findInboundForOperator,
  listInboundForOperator,
  listUnownedInboundMessages,
} from '../../../store/inbound-messages.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { requestBody, titled } from '../../schemas/shapes.ts'
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
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'
import { addList } from './resource.ts'

const PART_COUNTS = {
  parts: Type.Integer({ description: 'Parts of a long message that came; 1: a short message' }),
  partsExpected: Type.Integer({
    description: 'Parts in which it was sent; more than parts: some did not come',
  }),
}

const InboundMessage = titled('InspectedInboundMessage', {
  accountId: Type.String(),
  servicePlanId: Type.String(),
  msgId: Type.String(),
  carrier: NullableText,
  from: Type.String(),
  to: Type.String(),
  keyword: NullableText,
  body: Type.String(),
  ...PART_COUNTS,
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
function presentInbound<Message extends { msgId: string; sender: string; recipient: string }>({
  sender,
  recipient,
  ...message
}: Message) {
  return { ...message, from: sender, to: recipient, receivedAt: new Date(createdAtMs(message.msgId)) }
}

const UnownedInbound = titled('UnownedInboundMessage', {
  msgId: Type.String(),
  carrier: NullableText,
  from: Type.String(),
  to: Type.String(),
  body: Type.String(),
  ...PART_COUNTS,
  receivedAt: Timestamp,
})
const Gift = requestBody(
  'UnownedInboundMessageGift',
  { servicePlanId: ServicePlanId },
  { servicePlanId: '65f0c0ffee65f0c0ffee65f0' },
)

const tags = ['Inbound message search']

/** Messages to numbers that nobody owned when they came. */
export function registerUnownedInboundMessages(
  scope: AdminScope,
  { change, clock, records }: AdminDeps,
): void {
  addList(scope, '/unowned-inbound-messages', {
    operationId: 'listUnownedInboundMessages',
    summary: 'List unowned inbound messages',
    description: 'Messages to numbers that no service plan has, newest first.',
    tags,
    query: pageQuery(MessageId, {}),
    item: UnownedInbound,
    fetch: ({ query: { after = null } }, limit) =>
      listUnownedInboundMessages(records, { before: after, limit }),
    keyOf: ({ msgId }) => msgId,
    present: presentInbound,
  })

  addOperation(scope, 'POST /unowned-inbound-messages/:msgId/give', {
    operationId: 'giveUnownedInboundMessage',
    summary: 'Give an unowned inbound message to a service plan',
    description:
      'The message keeps its id, appears among those of the plan, and is pushed to its inbound URL. STOP, START and HELP in it are not obeyed.',
    tags,
    params: Type.Object({ msgId: { ...MessageId, examples: ['019dab2c-7000-7a3b-8c4d-5e6f7081920a'] } }),
    body: Gift,
    run: async (request) => {
      const { msgId } = request.params
      await change(request, async (transaction) => {
        await giveUnownedInbound(transaction, { msgId, ...request.body }, clock())
        const after = { servicePlanId: canonicalPublicId(request.body.servicePlanId) }
        return {
          value: null,
          entry: { objectType: 'unowned-inbound-message', objectId: msgId, before: null, after },
        }
      })
    },
  })
}

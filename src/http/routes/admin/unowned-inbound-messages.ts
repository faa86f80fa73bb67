import { Type } from 'typebox'
import { canonicalPublicId } from '../../../domain/identifiers.ts'
import { giveUnownedInbound } from '../../../operations/manage/unowned-inbound-messages.ts'
import { listUnownedInboundMessages } from '../../../store/unowned-inbound-messages.ts'
import { requestBody, titled } from '../../schemas/shapes.ts'
import { MessageId, NullableText, pageQuery, ServicePlanId, Timestamp } from './fields.ts'
import { presentInbound } from './inbound-messages.ts'
import { addOperation } from './operations.ts'
import { addList } from './resource.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const UnownedInbound = titled('UnownedInboundMessage', {
  msgId: Type.String(),
  carrier: NullableText,
  from: Type.String(),
  to: Type.String(),
  body: Type.String(),
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

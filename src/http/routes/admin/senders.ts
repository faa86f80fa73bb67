import type { Static } from 'typebox'
import { canonicalPublicId } from '../../../domain/identifiers.ts'
import { notFound } from '../../../errors.ts'
import { removeSenderSubscription, setSenderSubscription } from '../../../operations/configuration/senders.ts'
import { keyOfPlanInPath } from '../../../operations/manage/configuration-rows.ts'
import type { ObjectChange } from '../../../store/audit-log.ts'
import type { Database, Queryable } from '../../../store/database.ts'
import {
  findSenderSubscription,
  listSenderSubscriptions,
  type SenderSubscriptionRecord,
} from '../../../store/sender-subscriptions.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { requestBody, titled } from '../../schemas/shapes.ts'
import { octetString, pageQuery, ServicePlanId, SubscriptionStatus, Timestamp } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'
import { AT_ONCE, addList, PAGED } from './resource.ts'

export const SenderSetting = requestBody(
  'SenderSetting',
  {
    status: SubscriptionStatus,
    force: Type.Optional(
      Type.Boolean({
        description: 'Accept any other status; messages from this sender are refused while it is set',
      }),
    ),
  },
  { status: 'approved' },
)
/** Any text a sender may have: a text that is not a sender is not found, or refused when it is written. */
const SenderKey = octetString(16, 1, { description: 'Sender: its number or name', examples: ['Aldis'] })
const Params = Type.Object({ servicePlanId: ServicePlanId, sender: SenderKey })
const Sender = titled('Sender', {
  servicePlanId: Type.String(),
  sender: Type.String(),
  status: Type.String(),
  createdAt: Timestamp,
})

const tags = ['Senders']
const path = '/service-plans/:servicePlanId/senders'

export function registerSenders(scope: AdminScope, { change, reads }: AdminDeps): void {
  addSenderReads(scope, reads)

  addOperation(scope, `PUT ${path}/:sender`, {
    operationId: 'setSender',
    summary: 'Create or replace a sender subscription',
    description:
      'The service plan may use the sender while the status is approved; pending and denied are the others.',
    tags,
    params: Params,
    body: SenderSetting,
    answer: Sender,
    statuses: [200, 201],
    run: async (request, reply) => {
      const { servicePlanId, sender } = request.params
      const subscription = await change(request, async (transaction) => {
        const { before, after } = await setSenderSubscription(
          transaction,
          servicePlanId,
          sender,
          request.body,
        )
        return { value: after, entry: changeOf(request.params, before, after) }
      })
      reply.code(subscription.created ? 201 : 200)
      return present(servicePlanId)(subscription)
    },
  })

  addOperation(scope, `DELETE ${path}/:sender`, {
    operationId: 'deleteSender',
    summary: 'Delete a sender subscription',
    description: `The service plan may not send from this sender any more. ${AT_ONCE}`,
    tags,
    params: Params,
    run: async (request) => {
      const { servicePlanId, sender } = request.params
      await change(request, async (transaction) => {
        const before = await removeSenderSubscription(transaction, servicePlanId, sender)
        return { value: null, entry: changeOf(request.params, before, undefined) }
      })
    },
  })
}

function addSenderReads(scope: AdminScope, reads: Database): void {
  addList(scope, path, {
    operationId: 'listSenders',
    summary: 'List the senders of a service plan',
    description: PAGED,
    tags,
    params: Type.Object({ servicePlanId: ServicePlanId }),
    query: pageQuery(SenderKey, {}),
    item: Sender,
    fetch: async ({ params, query: { after = '' } }, limit) =>
      listSenderSubscriptions(reads, await keyOfPlanInPath(reads, params.servicePlanId), { after, limit }),
    keyOf: ({ sender }) => sender,
    present: (subscription, { params }) => present(params.servicePlanId)(subscription),
  })

  addOperation(scope, `GET ${path}/:sender`, {
    operationId: 'getSender',
    summary: 'Show a sender subscription',
    description: 'Returns the status of the sender for this service plan.',
    tags,
    params: Params,
    answer: Sender,
    run: async ({ params }) => {
      const subscription = await subscriptionOf(reads, params)
      if (subscription === undefined) throw notFound('sender subscription')
      return present(params.servicePlanId)(subscription)
    },
  })
}

type Key = Static<typeof Params>

async function subscriptionOf(db: Queryable, { servicePlanId, sender }: Key) {
  return findSenderSubscription(db, await keyOfPlanInPath(db, servicePlanId), sender)
}

function changeOf(
  { servicePlanId, sender }: Key,
  before: SenderSubscriptionRecord | undefined,
  after: SenderSubscriptionRecord | undefined,
): ObjectChange {
  const shown = present(servicePlanId)
  return {
    objectType: 'sender',
    objectId: `${canonicalPublicId(servicePlanId)}/${sender}`,
    before: before === undefined ? null : shown(before),
    after: after === undefined ? null : shown(after),
  }
}

function present(servicePlanId: string) {
  return ({ sender, status, createdAt }: SenderSubscriptionRecord) => ({
    servicePlanId: canonicalPublicId(servicePlanId),
    sender,
    status,
    createdAt,
  })
}

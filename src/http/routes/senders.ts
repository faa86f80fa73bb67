import type { FastifyInstance } from 'fastify'
import type { ServicePlan } from '../../domain/configuration/configuration.ts'
import { classifySender } from '../../domain/messages/addresses.ts'
import { allowsSender } from '../../domain/messages/send-requests.ts'
import { SENDER_STATUSES } from '../../operations/configuration/senders.ts'
import { listSenderSubscriptions, type SenderSubscriptionRecord } from '../../store/sender-subscriptions.ts'
import { CursorPages, type ListDeps } from '../cursor-pages.ts'
import { answered } from '../schemas/error-body.ts'
import { listQuery, pageSchema } from '../schemas/parameters.ts'
import { SENDER_LIST } from '../schemas/response-examples.ts'
import { Type } from '../schemas/schema-builder.ts'
import { nullableString, oneOf, titled } from '../schemas/shapes.ts'

const OwnSender = titled('OwnSender', {
  sender: Type.String({ description: 'The from of a send' }),
  type: nullableString({ description: 'short-code, e164 or alphanumeric' }),
  status: oneOf([...SENDER_STATUSES, 'other'], {
    description: 'Of the subscription; other: one that a send is answered 422 for',
  }),
  allowed: Type.Boolean({
    description:
      'Whether a send from it is accepted, unless a rule for the country of the recipient forbids its type',
  }),
})

const LIST = {
  operationId: 'listSenders',
  summary: 'List the senders of a service plan, by name',
  description:
    'Returns every sender that the plan is subscribed to. A send from any other sender is answered 403.',
  tags: ['Messages'],
  querystring: listQuery({}, {}),
  response: answered(200, pageSchema(OwnSender, 'OwnSenderList'), 'A page, by name', SENDER_LIST),
}

/** `GET /v1/senders`. */
export function registerSenders(app: FastifyInstance, deps: ListDeps): void {
  const pages = new CursorPages<object, string>(deps, 'senders', {})
  app.get('/v1/senders', { schema: LIST }, async (request) => {
    const { plan, page } = await pages.read(request)
    return pages.answer(
      page,
      ({ planId, after, limit }) => listSenderSubscriptions(deps.db, planId, { after: after ?? '', limit }),
      ({ sender }) => sender,
      present(plan),
    )
  })
}

function present(plan: ServicePlan) {
  return ({ sender, status }: SenderSubscriptionRecord) => ({
    sender,
    type: classifySender(sender),
    status: SENDER_STATUSES.find((known) => known === status) ?? 'other',
    allowed: allowsSender(plan, sender, status),
  })
}

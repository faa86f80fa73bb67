import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import { INBOUND_FILTERS, type InboundFilters } from '../../domain/lists.ts'
import { toInboundWebhook } from '../../domain/messages/messages.ts'
import { AppError } from '../../errors.ts'
import { findInboundMessage, listInboundMessages } from '../../store/inbound-messages.ts'
import { planToRead } from '../authentication.ts'
import { CursorPages, type ListDeps } from '../cursor-pages.ts'
import { answered } from '../schemas/error-body.ts'
import {
  LookupQuerySchema,
  listQuery,
  MessagePathSchema,
  pageSchema,
  windowParameters,
} from '../schemas/parameters.ts'
import { INBOUND_MESSAGE, INBOUND_MESSAGE_LIST } from '../schemas/response-examples.ts'
import { Type } from '../schemas/schema-builder.ts'
import { InboundSmsWebhookSchema } from '../schemas/webhooks.ts'

const ListQuery = listQuery(
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
const InboundMessageList = pageSchema(InboundSmsWebhookSchema, 'InboundMessageList')

const LOOKUP = {
  operationId: 'getInboundMessage',
  summary: 'Get an inbound message',
  description: 'The message as it is pushed to the inbound URL, whether or not there is one.',
  tags: ['Inbound messages'],
  params: MessagePathSchema,
  querystring: LookupQuerySchema,
  response: answered(200, InboundSmsWebhookSchema, 'The message, as it was pushed', INBOUND_MESSAGE, [404]),
}

const LIST = {
  operationId: 'listInboundMessages',
  summary: 'List inbound messages, newest first',
  description: 'Needs servicePlanId and at least one filter or a cursor.',
  tags: ['Inbound messages'],
  querystring: ListQuery,
  response: answered(200, InboundMessageList, 'A page, newest first', INBOUND_MESSAGE_LIST),
}

/** `GET /v1/inbound/sms/{msgId}`, and `/v1/inbound/sms` by the rules of the message list. */
export function registerInboundMessages(app: FastifyInstance, deps: ListDeps): void {
  app.get('/v1/inbound/sms/:msgId', { schema: LOOKUP }, async (request) => {
    const { msgId } = request.params as Static<typeof MessagePathSchema>
    const { servicePlanId } = request.query as Static<typeof LookupQuerySchema>
    const plan = planToRead(await deps.directory(), request, servicePlanId)
    const inbound = await findInboundMessage(deps.records, plan.id, msgId)
    if (inbound === undefined) throw new AppError('MESSAGE_NOT_FOUND')
    return toInboundWebhook(inbound, plan)
  })

  const pages = new CursorPages<InboundFilters, string>(deps, 'inbound-messages', INBOUND_FILTERS)
  app.get('/v1/inbound/sms', { schema: LIST }, async (request) => {
    const { plan, page } = await pages.read(request)
    return pages.answer(
      page,
      (wanted) => listInboundMessages(deps.records, wanted),
      (inbound) => inbound.msgId,
      (inbound) => toInboundWebhook(inbound, plan),
    )
  })
}

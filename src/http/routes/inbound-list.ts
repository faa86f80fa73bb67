import type { FastifyInstance } from 'fastify'
import { INBOUND_FILTERS, type InboundFilters } from '../../domain/inbound-filters.ts'
import { toInboundWebhook } from '../../domain/inbound-webhooks.ts'
import { listInboundMessages } from '../../store/inbound-message-list.ts'
import { CursorPages, type ListDeps } from '../pages.ts'
import { answered } from '../schemas/error-body.ts'
import { InboundListQuerySchema, InboundMessageListSchema } from '../schemas/inbound-query.ts'
import { INBOUND_MESSAGE_LIST } from '../schemas/response-examples.ts'

const SCHEMA = {
  operationId: 'listInboundMessages',
  summary: 'List inbound messages, newest first',
  description: 'Needs servicePlanId and at least one filter or a cursor.',
  tags: ['Inbound messages'],
  querystring: InboundListQuerySchema,
  response: answered(200, InboundMessageListSchema, 'A page, newest first', INBOUND_MESSAGE_LIST),
}

/** `GET /v1/inbound/sms`: by the rules of the message list. */
export function inboundListRoute(app: FastifyInstance, deps: ListDeps): void {
  const pages = new CursorPages<InboundFilters, string>(deps, 'inbound-messages', INBOUND_FILTERS)
  app.get('/v1/inbound/sms', { schema: SCHEMA }, async (request) => {
    const { plan, page } = await pages.read(request)
    return pages.answer(
      page,
      (wanted) => listInboundMessages(deps.db, wanted),
      (inbound) => inbound.msgId,
      (inbound) => toInboundWebhook(inbound, plan),
    )
  })
}

import type { FastifyInstance } from 'fastify'
import { deliveryReceipt } from '../../domain/delivery-receipts.ts'
import { MESSAGE_FILTERS, type MessageFilters } from '../../domain/message-filters.ts'
import { CursorPages, type ListDeps } from '../pages.ts'
import { answered } from '../schemas/error-body.ts'
import { ListQuerySchema, MessageListSchema } from '../schemas/message-query.ts'
import { MESSAGE_LIST } from '../schemas/response-examples.ts'
import type { LookupDeps } from './message-lookups.ts'

const SCHEMA = {
  operationId: 'listMessages',
  summary: 'List messages, newest first',
  description: 'Needs servicePlanId and at least one filter or a cursor.',
  tags: ['Messages'],
  querystring: ListQuerySchema,
  response: answered(200, MessageListSchema, 'A page, newest first', MESSAGE_LIST),
}

/** `GET /v1/messages/sms`. */
export function listRoute(app: FastifyInstance, deps: ListDeps & LookupDeps): void {
  const pages = new CursorPages<MessageFilters, string>(deps, 'messages', MESSAGE_FILTERS)
  app.get('/v1/messages/sms', { schema: SCHEMA }, async (request) => {
    const { plan, page } = await pages.read(request)
    return pages.answer(
      page,
      (wanted) => deps.messages.list(wanted),
      (message) => message.msgId,
      (message) => deliveryReceipt(message, plan),
    )
  })
}

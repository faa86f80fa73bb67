import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import { toInboundWebhook } from '../../domain/inbound-webhooks.ts'
import { AppError } from '../../errors.ts'
import { findInboundMessage } from '../../store/inbound-message-list.ts'
import { planToRead } from '../authentication.ts'
import type { ListDeps } from '../pages.ts'
import { answered } from '../schemas/error-body.ts'
import { LookupQuerySchema, MessagePathSchema } from '../schemas/message-query.ts'
import { INBOUND_MESSAGE } from '../schemas/response-examples.ts'
import { InboundSmsWebhookSchema } from '../schemas/webhooks.ts'

const SCHEMA = {
  operationId: 'getInboundMessage',
  summary: 'Get an inbound message',
  description: 'The message as it is pushed to the inbound URL, whether or not there is one.',
  tags: ['Inbound messages'],
  params: MessagePathSchema,
  querystring: LookupQuerySchema,
  response: answered(200, InboundSmsWebhookSchema, 'The message, as it was pushed', INBOUND_MESSAGE, [404]),
}

/** `GET /v1/inbound/sms/{msgId}`. */
export function inboundLookupRoute(
  app: FastifyInstance,
  { directory, db }: Pick<ListDeps, 'directory' | 'db'>,
): void {
  app.get('/v1/inbound/sms/:msgId', { schema: SCHEMA }, async (request) => {
    const { msgId } = request.params as Static<typeof MessagePathSchema>
    const { servicePlanId } = request.query as Static<typeof LookupQuerySchema>
    const plan = planToRead(await directory(), request, servicePlanId)
    const inbound = await findInboundMessage(db, plan.id, msgId)
    if (inbound === undefined) throw new AppError('MESSAGE_NOT_FOUND')
    return toInboundWebhook(inbound, plan)
  })
}

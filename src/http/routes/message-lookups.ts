import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { deliveryReceipt } from '../../domain/delivery-receipts.ts'
import { readablePlanIds } from '../../domain/plan-scopes.ts'
import { AppError } from '../../errors.ts'
import type { MessageReads } from '../../operations/read-messages.ts'
import { planToRead, tokenOf } from '../authentication.ts'
import type { DirectorySource } from '../fresh-directory.ts'
import { DeliveryReceiptSchema } from '../schemas/delivery-receipt.ts'
import { answered } from '../schemas/error-body.ts'
import { LookupQuerySchema, MessagePathSchema, ShortLookupQuerySchema } from '../schemas/message-query.ts'
import { DELIVERED_MESSAGE } from '../schemas/response-examples.ts'

export interface LookupDeps {
  readonly directory: DirectorySource
  readonly messages: MessageReads
}

const SCHEMA = {
  operationId: 'getMessage',
  summary: 'Get the delivery record of a message',
  description: 'The record may not be readable immediately after the send: retry a 404.',
  tags: ['Messages'],
  params: MessagePathSchema,
  querystring: LookupQuerySchema,
  response: answered(200, DeliveryReceiptSchema, 'The current record', DELIVERED_MESSAGE, [404]),
}

const SHORT_SCHEMA = {
  ...SCHEMA,
  operationId: 'getMessageAtLocation',
  summary: 'Get the delivery record of a message (the Location of a send)',
  querystring: ShortLookupQuerySchema,
}

/** `GET /v1/messages/sms/{msgId}` and `/v1/messages/{msgId}`, where the plan may be left out. */
export function lookupRoutes(app: FastifyInstance, deps: LookupDeps): void {
  app.get('/v1/messages/sms/:msgId', { schema: SCHEMA }, (request) => lookUp(deps, request))
  app.get('/v1/messages/:msgId', { schema: SHORT_SCHEMA }, (request) => lookUp(deps, request))
}

async function lookUp({ directory, messages }: LookupDeps, request: FastifyRequest) {
  const { msgId } = request.params as Static<typeof MessagePathSchema>
  const { servicePlanId } = request.query as Static<typeof ShortLookupQuerySchema>
  const snapshot = await directory()
  const planIds =
    servicePlanId === undefined
      ? readablePlanIds(snapshot, tokenOf(request))
      : [planToRead(snapshot, request, servicePlanId).id]
  const message = await messages.find(planIds, msgId)
  const plan = message === null ? undefined : snapshot.planById(message.planId)
  if (message === null || plan === undefined) throw new AppError('MESSAGE_NOT_FOUND')
  return deliveryReceipt(message, plan)
}

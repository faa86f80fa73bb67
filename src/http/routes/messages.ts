import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { readablePlanIds } from '../../domain/configuration/directory.ts'
import { MESSAGE_FILTERS, type MessageFilters } from '../../domain/lists.ts'
import { MESSAGE_STATUSES, publicMessage } from '../../domain/messages/messages.ts'
import { AppError } from '../../errors.ts'
import type { MessageReads } from '../../operations/read-messages.ts'
import { planToRead, tokenOf } from '../authentication.ts'
import { CursorPages, type ListDeps } from '../cursor-pages.ts'
import type { DirectorySource } from '../outages.ts'
import { answered } from '../schemas/error-body.ts'
import {
  countQuery,
  LookupQuerySchema,
  listQuery,
  MessagePathSchema,
  PlanParameter,
  pageSchema,
  windowParameters,
} from '../schemas/parameters.ts'
import { DELIVERED_MESSAGE, MESSAGE_LIST, STATUS_COUNTS } from '../schemas/response-examples.ts'
import { oneOf } from '../schemas/shapes.ts'
import { MOST_COUNTED, presentCounts, StatusCountsSchema } from '../schemas/status-counts.ts'
import { DeliveryReceiptSchema } from '../schemas/webhooks.ts'

const ShortLookupQuery = Type.Object({ servicePlanId: Type.Optional(PlanParameter) })

const FILTERS = {
  from: Type.String({ description: 'Sender' }),
  to: Type.String({ examples: ['+15551230001'], description: 'Recipient' }),
  status: oneOf(MESSAGE_STATUSES, { title: 'MessageStatus', description: 'Current status' }),
  country: Type.String({ description: 'ISO 3166-1 alpha-2' }),
  mccmnc: Type.String({ pattern: '^[0-9]{5,6}$', description: 'Mobile country code and network code' }),
  ...windowParameters('createdAt'),
}
const ListQuery = listQuery(MESSAGE_FILTERS, FILTERS, { needsFilter: true })
const CountQuery = countQuery(MESSAGE_FILTERS, FILTERS)

const MessageList = pageSchema(DeliveryReceiptSchema, 'MessageList')

export interface LookupDeps {
  readonly directory: DirectorySource
  readonly messages: MessageReads
}

const LOOKUP = {
  operationId: 'getMessage',
  summary: 'Get the delivery record of a message',
  description: 'The record may not be readable immediately after the send: retry a 404.',
  tags: ['Messages'],
  params: MessagePathSchema,
  querystring: LookupQuerySchema,
  response: answered(200, DeliveryReceiptSchema, 'The current record', DELIVERED_MESSAGE, [404]),
}

const AT_LOCATION = {
  ...LOOKUP,
  operationId: 'getMessageAtLocation',
  summary: 'Get the delivery record of a message (the Location of a send)',
  querystring: ShortLookupQuery,
}

const LIST = {
  operationId: 'listMessages',
  summary: 'List messages, newest first',
  description: 'Needs servicePlanId and at least one filter or a cursor.',
  tags: ['Messages'],
  querystring: ListQuery,
  response: answered(200, MessageList, 'A page, newest first', MESSAGE_LIST),
}

const COUNTS = {
  operationId: 'countMessages',
  summary: 'Count messages by status',
  description: `Needs servicePlanId and at least one filter. Counts the newest ${MOST_COUNTED.toLocaleString('en')} that match.`,
  tags: ['Messages'],
  querystring: CountQuery,
  response: answered(200, StatusCountsSchema, 'Their statuses', STATUS_COUNTS),
}

/** `GET /v1/messages/sms/{msgId}`, `/v1/messages/{msgId}`, where the plan may be left out, `/v1/messages/sms` and its counts. */
export function registerMessages(app: FastifyInstance, deps: ListDeps & LookupDeps): void {
  app.get('/v1/messages/sms/:msgId', { schema: LOOKUP }, (request) => lookUp(deps, request))
  app.get('/v1/messages/:msgId', { schema: AT_LOCATION }, (request) => lookUp(deps, request))

  const pages = new CursorPages<MessageFilters, string>(deps, 'messages', MESSAGE_FILTERS)
  app.get('/v1/messages/sms', { schema: LIST }, async (request) => {
    const { plan, page } = await pages.read(request)
    return pages.answer(
      page,
      (wanted) => deps.messages.list(wanted),
      (message) => message.msgId,
      (message) => publicMessage(message, plan),
    )
  })
  app.get('/v1/messages/sms/counts', { schema: COUNTS }, async (request) => {
    const { page } = await pages.read(request)
    return presentCounts(await deps.messages.list({ ...page, limit: MOST_COUNTED + 1 }))
  })
}

async function lookUp(deps: LookupDeps, request: FastifyRequest) {
  const { message, plan } = await findRequested(deps, request)
  return publicMessage(message, plan)
}

/** The message that a request names, of a plan that its token may read, or 404. */
export async function findRequested({ directory, messages }: LookupDeps, request: FastifyRequest) {
  const { msgId } = request.params as Static<typeof MessagePathSchema>
  const { servicePlanId } = request.query as Static<typeof ShortLookupQuery>
  const snapshot = await directory()
  const planIds =
    servicePlanId === undefined
      ? readablePlanIds(snapshot, tokenOf(request))
      : [planToRead(snapshot, request, servicePlanId).id]
  const message = await messages.find(planIds, msgId)
  const plan = message === null ? undefined : snapshot.planById(message.planId)
  if (message === null || plan === undefined) throw new AppError('MESSAGE_NOT_FOUND')
  return { message, plan, directory: snapshot }
}

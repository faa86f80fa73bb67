import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { PUBLIC_CAUSES, publicCause } from '../../domain/backlog.ts'
import { MESSAGE_FILTERS, type MessageFilters } from '../../domain/lists.ts'
import { MESSAGE_STATUSES, publicMessage } from '../../domain/messages/messages.ts'
import { AppError } from '../../errors.ts'
import { type WaitsOfNode, waitOf } from '../../operations/explain-waits.ts'
import type { MessageReads } from '../../operations/read-messages.ts'
import type { Queryable } from '../../store/database.ts'
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
import { DELIVERED_MESSAGE, MESSAGE_LIST, MESSAGE_WAIT, STATUS_COUNTS } from '../schemas/response-examples.ts'
import { Type } from '../schemas/schema-builder.ts'
import { nullableString, oneOf, titled } from '../schemas/shapes.ts'
import { MOST_COUNTED, presentCounts, StatusCountsSchema } from '../schemas/statistics.ts'
import { DeliveryReceiptSchema } from '../schemas/webhooks.ts'

const ShortLookupQuery = Type.Object({ servicePlanId: Type.Optional(PlanParameter) })

/** For the document. `MESSAGE_FILTERS` has what is checked. */
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
    // Before a handler runs, `validateRequests` has replaced the query's texts by parsed values (`parsedBy`).
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
async function findRequested({ directory, messages }: LookupDeps, request: FastifyRequest) {
  const { msgId } = request.params as Static<typeof MessagePathSchema>
  const { servicePlanId } = request.query as Static<typeof ShortLookupQuery>
  const snapshot = await directory()
  const planIds =
    servicePlanId === undefined
      ? snapshot.readablePlanIds(tokenOf(request))
      : [planToRead(snapshot, request, servicePlanId).id]
  const message = await messages.find(planIds, msgId)
  const plan = message === null ? undefined : snapshot.planById(message.planId)
  if (message === null || plan === undefined) throw new AppError('MESSAGE_NOT_FOUND')
  return { message, plan, directory: snapshot }
}

export interface WaitDeps extends LookupDeps, WaitsOfNode {
  /** For look-ups. */
  readonly db: Queryable
}

const Wait = titled('MessageWait', {
  msgId: Type.String({ format: 'uuid' }),
  status: oneOf(MESSAGE_STATUSES, { title: 'MessageStatus' }),
  waiting: Type.Boolean({ description: 'Whether it is still to be submitted' }),
  cause: nullableString({
    description: `Why it waits: ${PUBLIC_CAUSES.join(', ')}; null: it does not, or is about to move between nodes`,
  }),
  nextAttemptAt: nullableString({
    format: 'date-time',
    description: 'When it is tried again at the latest; null: as soon as it can be submitted',
  }),
})

const SCHEMA = {
  operationId: 'getMessageWait',
  summary: 'Tell why a message waits',
  description: 'Of a message that is QUEUED: what it waits for until a carrier has it.',
  tags: ['Messages'],
  params: MessagePathSchema,
  querystring: LookupQuerySchema,
  response: answered(200, Wait, 'Why it waits, if it does', MESSAGE_WAIT, [404]),
}

/** `GET /v1/messages/sms/{msgId}/wait`. */
export function registerMessageWaits(app: FastifyInstance, deps: WaitDeps): void {
  app.get('/v1/messages/sms/:msgId/wait', { schema: SCHEMA }, async (request) => {
    const { message, directory } = await findRequested(deps, request)
    const wait = await waitOf(deps.db, directory, deps, message)
    return {
      msgId: message.msgId,
      status: message.status,
      waiting: wait !== null,
      cause: wait === null || wait.cause === null ? null : publicCause(wait.cause),
      nextAttemptAt: wait?.nextAttemptAt ?? null,
    }
  })
}

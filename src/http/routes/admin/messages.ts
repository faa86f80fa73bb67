import { EVENT_STATES } from '../../../domain/events.ts'
import { createdAtMs, eventId } from '../../../domain/identifiers.ts'
import { parseSearch } from '../../../domain/messages/message-search.ts'
import { attemptsOf, receiptsOf, timelineOf } from '../../../domain/messages/message-timeline.ts'
import { decimal } from '../../../domain/routing/rates.ts'
import { shownHeaders } from '../../../domain/webhooks/attempt-headers.ts'
import { AppError, checked } from '../../../errors.ts'
import { waitOf } from '../../../operations/explain-waits.ts'
import { keyOfCarrier, keyOfPlan } from '../../../operations/manage/configuration-rows.ts'
import type { FoundMessage } from '../../../store/message-search.ts'
import { type AdminMessageRecord, findMessageForOperator } from '../../../store/messages.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { instant, Nullable, oneOf, titled } from '../../schemas/shapes.ts'
import { MOST_COUNTED, presentCounts, StatusCountsSchema } from '../../schemas/statistics.ts'
import { RequestHeaders } from '../../schemas/webhooks.ts'
import { shownUrl } from './callback-urls.ts'
import {
  described,
  LinkKey,
  limitOf,
  MessageId,
  NullableText,
  page,
  pageOf,
  pageQuery,
  ServicePlanId,
  Timestamp,
} from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'

const Message = titled('InspectedMessage', {
  accountId: Type.String(),
  servicePlanId: Type.String(),
  msgId: Type.String(),
  status: Type.String(),
  from: Type.String(),
  to: Type.String(),
  body: Nullable(Type.String({ description: 'null: discarded, because the message has ended' })),
  segments: Type.Integer(),
  callbackUrl: NullableText,
  country: NullableText,
  mccmnc: NullableText,
  errorCode: Type.String(),
  price: Nullable(Type.Number()),
  ptf: Nullable(Type.Number()),
  currency: NullableText,
  route: NullableText,
  routeReason: Nullable(Type.String({ description: 'why this carrier' })),
  carrier: NullableText,
  carrierCode: Nullable(Type.String({ description: "the carrier's own status or error" })),
  attempts: Type.Array(
    titled('SubmitAttempt', {
      attemptedAt: instant({ description: 'when its first submit_sm was sent' }),
      endedAt: Nullable(instant({ description: 'when its last answer came, or was no longer awaited' })),
      carrier: Nullable(
        Type.String({ description: 'null: deleted since, or not known because its node is gone' }),
      ),
      outcome: Type.String({ description: 'accepted, refused, retry or no-answer (in doubt)' }),
      commandStatus: Nullable(Type.Integer()),
      segment: Nullable(
        Type.Integer({ description: 'from 0: the one that was not taken; null: all, or not known' }),
      ),
      resubmission: Type.Boolean({ description: 'an earlier attempt may have reached the carrier' }),
      reason: NullableText,
    }),
  ),
  submissions: Type.Array(
    titled('SegmentSubmission', {
      segment: Type.Integer(),
      carrierMessageId: Type.String(),
      carrier: NullableText,
      sentAt: Nullable(instant({ description: 'when its submit_sm was sent' })),
      answeredAt: Nullable(instant({ description: 'when its submit_sm_resp came' })),
      outcome: Nullable(Type.String({ description: 'what its receipt said, if there are several segments' })),
      errorCode: NullableText,
      carrierCode: NullableText,
      receiptAt: Nullable(Timestamp),
    }),
  ),
  receipts: Type.Array(
    titled('Receipt', {
      receivedAt: Timestamp,
      matchedAt: Nullable(
        instant({ description: 'when its message was found; null: at once, or less than a second later' }),
      ),
      carrier: NullableText,
      carrierMessageId: NullableText,
      outcome: Type.String({
        description: 'how it was interpreted; SENT: an intermediate one, which changes nothing',
      }),
      errorCode: Type.String(),
      carrierCode: Nullable(Type.String({ description: "the carrier's own words for its state and error" })),
      text: Nullable(
        Type.String({ description: 'as received; text and tlvs together at most 1,024 characters' }),
      ),
      tlvs: Type.Record(Type.String(), Type.String(), { description: 'octets in hexadecimal' }),
    }),
  ),
  waiting: Nullable({
    ...titled('MessageWaiting', {
      cause: Nullable(
        Type.String({ description: 'as in the backlog; null: it is about to move between nodes' }),
      ),
      node: Nullable(Type.String({ description: 'the node that has it in memory; null: none' })),
      nextAttemptAt: Nullable(instant({ description: 'null: as soon as it can be submitted' })),
    }),
    description: 'why it is not submitted yet; null: it is not to be submitted, or not any more',
  }),
  webhookAttempts: Type.Array(
    titled('EventAttempt', {
      event: Type.Integer({ description: '1, 2, … for the changes of status' }),
      attempt: Type.Integer(),
      attemptedAt: Timestamp,
      latencyMs: Type.Integer(),
      responseStatus: Nullable(Type.Integer()),
      error: NullableText,
      requestHeaders: RequestHeaders,
      responseHead: Nullable(Type.String({ description: 'the first 1 KiB of the answer' })),
    }),
  ),
  webhookEvents: Type.Array(
    titled('MessageEvent', {
      eventId: Type.String({ description: 'its webhook-id' }),
      event: Type.Integer(),
      status: Type.String(),
      state: oneOf(EVENT_STATES),
      attempts: Type.Integer(),
      occurredAt: Timestamp,
      deliveredAt: Nullable(Timestamp),
      dueAt: Nullable(instant({ description: 'null: no attempt is planned' })),
    }),
  ),
  timeline: Type.Array(
    titled('TimelineEntry', { at: Timestamp, what: Type.String(), detail: Type.String() }),
    {
      description: 'all of this in order, as readable text',
    },
  ),
  createdAt: Timestamp,
  sentAt: Nullable(Timestamp),
  updatedAt: Timestamp,
})
export function registerMessages(scope: AdminScope, deps: AdminDeps): void {
  const { reads, records, messages, secretKey, directory, carrierCondition = () => 'unbound' as const } = deps
  const { heldCause = () => null } = deps
  const tags = ['Message search']

  addOperation(scope, 'GET /messages/:msgId', {
    operationId: 'getMessageOfPlans',
    summary: 'Show a message and its timeline',
    description:
      'Returns every attempt, segment, receipt and webhook of the message, and a timeline of them.',
    tags,
    params: Type.Object({ msgId: MessageId }),
    answer: Message,
    run: async ({ params }) => {
      await messages.untilRecorded([params.msgId])
      const message = await findMessageForOperator(records, params.msgId)
      if (message === undefined) throw new AppError('MESSAGE_NOT_FOUND')
      const { sender, recipient, ...rest } = message
      const shown = {
        ...rest,
        callbackUrl: shownUrl(secretKey, message.callbackUrl),
        from: sender,
        to: recipient,
        price: decimal(message.price),
        ptf: decimal(message.ptf),
        webhookAttempts: attemptsShown(deps, message),
        webhookEvents: message.webhookEvents.map((event) => ({
          eventId: eventId({ msgId: message.msgId, sequence: event.event }),
          ...event,
        })),
        createdAt: createdAtOf(message.msgId),
        sentAt: message.sentAt?.toISOString() ?? null,
        updatedAt: message.updatedAt.toISOString(),
      }
      const travelled = {
        ...shown,
        attempts: attemptsOf(message.attempts, shown),
        receipts: receiptsOf(message.receipts, message.submissions),
      }
      const waiting = await waitOf(
        reads,
        directory.current(),
        { carrierCondition, heldCause, messages },
        message,
      )
      return {
        ...travelled,
        waiting: waiting && { ...waiting, node: message.node },
        timeline: timelineOf(travelled),
      }
    },
  })
}

/** Null headers: the plan is not known to this node yet. */
function attemptsShown({ directory, headerSettings }: AdminDeps, message: AdminMessageRecord) {
  const { msgId, callbackUrl, servicePlanId, webhookAttempts } = message
  const plan = directory.current().planByPublicId(servicePlanId)
  return webhookAttempts.map((attempt) => {
    const event = plan && { msgId, sequence: attempt.event, callbackUrl, plan }
    return { ...attempt, requestHeaders: event ? shownHeaders(event, attempt, headerSettings) : null }
  })
}

function createdAtOf(msgId: string): string {
  return new Date(createdAtMs(msgId)).toISOString()
}

/** A text that the domain parses. */
const Text = (description: string) => Type.Optional(Type.String({ maxLength: 300, description }))
const ListedMessage = titled('ListedMessage', {
  accountId: Type.String(),
  servicePlanId: Type.String(),
  msgId: Type.String(),
  status: Type.String(),
  from: Type.String(),
  to: Type.String(),
  segments: Type.Integer(),
  country: NullableText,
  mccmnc: NullableText,
  errorCode: Type.String(),
  route: NullableText,
  carrier: NullableText,
  carrierCode: Nullable(Type.String({ description: "the carrier's own status or error" })),
  createdAt: Timestamp,
  sentAt: Nullable(Timestamp),
  updatedAt: Timestamp,
})

/** Messages of all plans, or of one. */
export function registerMessageList(scope: AdminScope, deps: AdminDeps): void {
  const { messages } = deps
  const tags = ['Message search']
  const filters = {
    servicePlanId: Type.Optional(ServicePlanId),
    from: Text('Sender'),
    to: Text('Recipient'),
    status: Text('QUEUED, SENT, DELIVERED, FAILED or UNKNOWN'),
    country: Text('Country (ISO 3166-1 alpha-2)'),
    mccmnc: Text('Network (MCC and MNC), 5 or 6 digits'),
    fromDate: Text('Start of the createdAt window, RFC 3339, inclusive'),
    toDate: Text(
      'End of the window, RFC 3339, inclusive; without a service plan at most 24 hours after its start',
    ),
    errorCode: Text('Error code, 3 digits'),
    carrier: Type.Optional(described(LinkKey, 'Carrier, by name or number')),
    carrierMessageId: Text('Id that the carrier gave it in submit_sm_resp or a receipt, of the last 8 days'),
  }
  addOperation(scope, 'GET /messages', {
    operationId: 'listMessagesOfPlans',
    summary: 'List messages of all service plans, or of one',
    description:
      'Newest first; without `servicePlanId`, those of the last 24 hours unless a window is given. A page may have fewer items than the limit: go on until `nextAfter` is null.',
    tags,
    query: pageQuery(MessageId, filters),
    answer: pageOf(ListedMessage),
    run: async ({ query }) => {
      const { after = null, limit: _, ...wanted } = query
      const { shown, fetched } = limitOf(query)
      const search = {
        ...(await searchOf(deps, wanted)),
        after: after?.toLowerCase() ?? null,
        limit: fetched,
      }
      const { rows, searchedTo } = await messages.search(search)
      const answer = page(rows, shown, ({ msgId }) => msgId, present)
      return { ...answer, nextAfter: answer.nextAfter ?? searchedTo }
    },
  })

  addOperation(scope, 'GET /messages/counts', {
    operationId: 'countMessagesOfPlans',
    summary: 'Count messages by status',
    description: `Counts the newest ${MOST_COUNTED.toLocaleString('en')} that match; without \`servicePlanId\`, of those of the last 24 hours unless a window is given.`,
    tags,
    query: Type.Object(filters),
    answer: StatusCountsSchema,
    run: async ({ query }) => {
      const search = { ...(await searchOf(deps, query)), after: null, limit: MOST_COUNTED + 1 }
      const { rows, searchedTo } = await messages.search(search)
      return presentCounts(rows, searchedTo !== null)
    },
  })
}

type Wanted = Parameters<typeof parseSearch>[0] & { servicePlanId?: string; carrier?: string }

async function searchOf({ reads, clock }: AdminDeps, { servicePlanId, carrier, ...texts }: Wanted) {
  const scope = { ofPlan: servicePlanId !== undefined, nowMs: clock() }
  const filters = checked((faults) => parseSearch(texts, scope, faults))
  const planId = servicePlanId === undefined ? null : await keyOfPlan(reads, servicePlanId)
  const carrierId = carrier === undefined ? null : await keyOfCarrier(reads, carrier)
  return { planId, carrierId, filters }
}

function present({ sender, recipient, ...message }: FoundMessage) {
  return { ...message, from: sender, to: recipient, createdAt: new Date(createdAtMs(message.msgId)) }
}

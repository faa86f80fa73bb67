import { Type } from 'typebox'
import { createdAtMs } from '../../../domain/identifiers.ts'
import { parseSearch } from '../../../domain/messages/message-search.ts'
import { checked } from '../../../errors.ts'
import { keyOfCarrier, keyOfPlan } from '../../../operations/manage/configuration-rows.ts'
import type { FoundMessage } from '../../../store/message-search.ts'
import { Nullable, titled } from '../../schemas/shapes.ts'
import { MOST_COUNTED, presentCounts, StatusCountsSchema } from '../../schemas/status-counts.ts'
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
import { addOperation } from './operations.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

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

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ServicePlan } from '../../domain/configuration.ts'
import {
  CURSOR_IV_BYTES,
  CURSOR_LIFETIME_MS,
  type Cursor,
  openCursor,
  sealCursor,
} from '../../domain/cursors.ts'
import { deliveryReceipt } from '../../domain/delivery-receipts.ts'
import type { Directory } from '../../domain/directory.ts'
import { fault } from '../../domain/faults.ts'
import { contradictions, DEFAULT_PAGE, type ListQuery, parseListQuery } from '../../domain/message-filters.ts'
import { planForReading } from '../../domain/plan-scopes.ts'
import type { Query } from '../../domain/query-parameters.ts'
import { AppError, invalid } from '../../errors.ts'
import type { Queryable } from '../../store/database.ts'
import { listMessages, type MessagePage } from '../../store/message-list.ts'
import { tokenOf } from '../authentication.ts'
import { failures } from '../schemas/error-body.ts'
import { ListQuerySchema, MessageListSchema } from '../schemas/message-query.ts'

/** Keys of 32 bytes. New cursors are sealed with `cursor`; the old ones still open what was sealed before a rotation. */
interface CursorKeys {
  readonly cursor: Buffer
  readonly oldCursors?: readonly Buffer[]
}

export interface ListDeps {
  readonly directory: () => Directory
  readonly db: Queryable
  readonly keys: CursorKeys
  readonly clock: () => number
  readonly random: (bytes: number) => Buffer
}

const SCHEMA = {
  operationId: 'listMessages',
  summary: 'List messages, newest first',
  description: 'Needs servicePlanId and at least one filter or a cursor.',
  tags: ['Messages'],
  security: [{ bearer: [] }],
  querystring: ListQuerySchema,
  response: {
    200: { ...MessageListSchema, description: 'A page, newest first' },
    ...failures(400, 401, 403, 429, 500),
  },
}

/** `GET /v1/messages/sms`. */
export function listRoute(app: FastifyInstance, deps: ListDeps): void {
  app.get('/v1/messages/sms', { schema: SCHEMA }, async (request) => {
    const { query, plan } = readQuery(deps, request)
    const page = pageOf(deps, query, plan)
    // One more than is shown tells whether there is another page.
    const rows = await listMessages(deps.db, { ...page, limit: page.limit + 1 })
    const shown = rows.slice(0, page.limit)
    const last = shown.at(-1)
    const hasMore = rows.length > shown.length
    return {
      items: shown.map((message) => deliveryReceipt(message, plan)),
      pagination: {
        limit: page.limit,
        hasMore,
        nextCursor: hasMore && last !== undefined ? nextCursor(deps, page, last.msgId) : null,
      },
    }
  })
}

function readQuery(
  { directory }: ListDeps,
  request: FastifyRequest,
): { query: ListQuery; plan: ServicePlan } {
  const verdict = parseListQuery(request.query as Query)
  if (!verdict.ok) throw invalid(verdict.faults)
  const plan = planForReading(directory(), tokenOf(request), verdict.query.servicePlanId)
  if (plan === null) throw new AppError('FORBIDDEN')
  return { query: verdict.query, plan }
}

/** What to read: the query itself, or where its cursor goes on. */
function pageOf({ keys, clock }: ListDeps, query: ListQuery, plan: ServicePlan): MessagePage {
  const { filters, cursor: sealed, limit } = query
  if (sealed === null) return { planId: plan.id, filters, beforeMsgId: null, limit: limit ?? DEFAULT_PAGE }
  const cursor = openCursor(sealed, [keys.cursor, ...(keys.oldCursors ?? [])], clock())
  if (cursor === null || cursor.planId !== plan.id) {
    throw invalid([fault('cursor', 'INVALID_CURSOR', 'is malformed or expired; begin again without it')])
  }
  const faults = contradictions(cursor.filters, filters)
  if (faults.length > 0) throw invalid(faults)
  const { beforeMsgId } = cursor
  return { planId: plan.id, filters: cursor.filters, beforeMsgId, limit: limit ?? cursor.limit }
}

function nextCursor({ keys, clock, random }: ListDeps, page: MessagePage, beforeMsgId: string): string {
  const { planId, filters, limit } = page
  const cursor: Cursor = {
    planId,
    filters,
    limit,
    beforeMsgId,
    expiresAtMs: clock() + CURSOR_LIFETIME_MS,
  }
  return sealCursor(cursor, keys.cursor, random(CURSOR_IV_BYTES))
}

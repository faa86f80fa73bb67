import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { PUBLIC_CAUSES, publicCause } from '../../domain/backlog.ts'
import { MESSAGE_STATUSES } from '../../domain/messages/messages.ts'
import { type WaitsOfNode, waitOf } from '../../operations/explain-waits.ts'
import type { Queryable } from '../../store/database.ts'
import { answered } from '../schemas/error-body.ts'
import { LookupQuerySchema, MessagePathSchema } from '../schemas/parameters.ts'
import { MESSAGE_WAIT } from '../schemas/response-examples.ts'
import { nullableString, oneOf, titled } from '../schemas/shapes.ts'
import { findRequested, type LookupDeps } from './messages.ts'

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

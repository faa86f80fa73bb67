import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { ServicePlan } from '../../domain/configuration/configuration.ts'
import type { Directory } from '../../domain/configuration/directory.ts'
import { RateLimiter } from '../../domain/limits/rate-limits.ts'
import { isE164 } from '../../domain/messages/addresses.ts'
import { MESSAGE_STATUSES } from '../../domain/messages/messages.ts'
import { fieldFaults } from '../../domain/messages/send-requests.ts'
import type { HandsetMessage, HandsetSubmission, SandboxOutcome } from '../../domain/sandbox.ts'
import { AppError, fault, invalidField } from '../../errors.ts'
import { planToRead } from '../authentication.ts'
import type { ListDeps } from '../cursor-pages.ts'
import type { HttpLimits } from '../limits.ts'
import { unavailable } from '../outages.ts'
import { limitAccounts } from '../rate-limiting.ts'
import { answered } from '../schemas/error-body.ts'
import { LookupQuerySchema, PlanParameter, TextField } from '../schemas/parameters.ts'
import { HANDSET_MESSAGE, SANDBOX_DESCRIPTION } from '../schemas/response-examples.ts'
import { Type } from '../schemas/schema-builder.ts'
import { Nullable, nullableInteger, nullableString, oneOf, requestBody, titled } from '../schemas/shapes.ts'
import { withCheck } from '../validate.ts'

/** What the simulator of the sandbox plans does. */

const Refusal = titled('SandboxRefusal', {
  commandStatus: Type.String({ description: 'of submit_sm_resp, such as ESME_RTHROTTLED' }),
  attempts: nullableInteger({ description: 'how many submits of a message get it; null: all' }),
})

const Delay = titled('SandboxDelay', {
  least: Type.Integer(),
  most: Type.Integer(),
})

const Outcome = titled('SandboxOutcome', {
  lastDigits: nullableString({ description: 'of the destination; null: any others' }),
  summary: Type.String(),
  status: oneOf(MESSAGE_STATUSES, {
    title: 'MessageStatus',
    description: 'that the message gets; SENT if no receipt comes',
  }),
  refusal: Nullable({ ...Refusal, description: 'null: every submit is accepted' }),
  receipts: Type.Array(
    titled('SandboxReceipt', {
      state: Type.String({ description: 'such as DELIVRD' }),
      error: Type.String({ description: 'err: of the receipt' }),
    }),
    { description: 'in the order in which they are sent' },
  ),
  receiptDelayMs: Nullable({
    ...Delay,
    description: 'milliseconds from the submit to the first receipt; null: there is none',
  }),
})

const OwnNumber = titled('SandboxNumber', {
  number: Type.String(),
  keywords: Type.Array(Type.String()),
})

const SandboxSchema = titled('Sandbox', {
  servicePlanId: Type.String(),
  numbers: Type.Array(OwnNumber, { description: 'the inbound numbers of the plan; at most 1,000' }),
  outcomes: Type.Array(Outcome, { description: 'by the last digits of a destination' }),
})

const HandsetMessageSchema = titled('HandsetMessage', {
  servicePlanId: Type.String(),
  from: Type.String(),
  to: Type.String(),
  encoding: oneOf(['GSM7', 'UCS2']),
  parts: Type.Integer({ description: 'deliver_sm that carried the text' }),
})

/** The simulator of the sandbox plans, as this node has it. */
interface SandboxSimulator {
  readonly outcomes: readonly SandboxOutcome[]
  /** Null: the node is not bound to its simulator now. */
  send(message: HandsetMessage): Promise<HandsetSubmission | null>
}

export interface SandboxDeps extends Pick<ListDeps, 'directory' | 'clock'> {
  readonly limits: Pick<HttpLimits, 'handsetMessages'>
  readonly sandbox: SandboxSimulator
}

const HandsetRequest = withCheck(
  requestBody(
    'HandsetMessageRequest',
    {
      servicePlanId: PlanParameter,
      from: Type.String({ description: 'Number of the handset, E.164' }),
      to: Type.String({ description: 'Inbound number of the service plan' }),
      body: TextField,
    },
    {
      servicePlanId: '65f0c0ffee65f0c0ffee65f0',
      from: '+15551230001',
      to: '71234',
      body: 'Join the club',
    },
  ),
  ({ from, body }: { from?: unknown; body?: unknown }) => [
    ...(typeof from === 'string' && !isE164(from)
      ? [fault('from', 'INVALID_FORMAT', 'must be one E.164 number')]
      : []),
    ...fieldFaults({ body }),
  ],
)

const COMMON = { tags: ['Sandbox'] }

const SHOW = {
  ...COMMON,
  operationId: 'getSandbox',
  summary: 'Show what a sandbox plan simulates',
  description:
    'Returns the inbound numbers of the plan, and what becomes of a message by the last digits of its destination. Only for sandbox plans.',
  querystring: LookupQuerySchema,
  response: answered(200, SandboxSchema, 'The sandbox', SANDBOX_DESCRIPTION, [404]),
}

const INBOUND = {
  ...COMMON,
  operationId: 'sendFromHandset',
  summary: 'Send a message from a simulated handset',
  description:
    'The simulator delivers it to a number of the plan as a carrier does, a long text in parts. It is then an inbound message like any other. Only for sandbox plans.',
  body: HandsetRequest,
  response: answered(202, HandsetMessageSchema, 'Sent to the service plan', HANDSET_MESSAGE, [404, 413, 415]),
}

/** Inbound numbers that are shown, at most. */
const MAX_NUMBERS = 1_000

/** `GET /v1/sandbox`. */
export function registerSandbox(app: FastifyInstance, { directory, sandbox }: SandboxDeps): void {
  app.get('/v1/sandbox', { schema: SHOW }, async (request) => {
    const { servicePlanId } = request.query as Static<typeof LookupQuerySchema>
    const snapshot = await directory()
    const plan = sandboxPlan(snapshot, request, servicePlanId)
    return {
      servicePlanId: plan.servicePlanId,
      numbers: numbersOf(snapshot, plan),
      outcomes: sandbox.outcomes,
    }
  })
}

/** `POST /v1/sandbox/inbound`. */
export function registerHandset(
  app: FastifyInstance,
  { directory, sandbox, clock, limits }: SandboxDeps,
): void {
  const limiter = new RateLimiter()
  const limit = { name: 'handset', limiter, limitOf: () => limits.handsetMessages, clock }
  app.post(
    '/v1/sandbox/inbound',
    { schema: INBOUND, onRequest: limitAccounts(limit) },
    async (request, reply) => {
      const { servicePlanId, ...message } = request.body as Static<typeof HandsetRequest>
      const snapshot = await directory()
      const plan = sandboxPlan(snapshot, request, servicePlanId)
      if (snapshot.inboundNumber(message.to)?.plan.id !== plan.id)
        throw invalidField('to', 'NOT_FOUND', 'must be an inbound number of the service plan')
      const submitted = await sandbox.send(message)
      if (submitted === null) throw unavailable()
      const { from, to } = message
      return reply.code(202).send({ servicePlanId: plan.servicePlanId, from, to, ...submitted })
    },
  )
}

/** The plan that a request names. Throws 403 if the token may not read it, and 404 if it is not a sandbox. */
function sandboxPlan(directory: Directory, request: FastifyRequest, servicePlanId: string): ServicePlan {
  const plan = planToRead(directory, request, servicePlanId)
  if (!plan.sandbox) throw new AppError('NOT_FOUND', { message: 'The service plan is not a sandbox' })
  return plan
}

function numbersOf({ contents }: Directory, plan: ServicePlan) {
  return [...contents.inboundNumbers.values()]
    .filter((number) => number.plan.id === plan.id)
    .slice(0, MAX_NUMBERS)
    .map(({ number, keywords }) => ({ number, keywords }))
}

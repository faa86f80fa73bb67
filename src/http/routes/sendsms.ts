import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServicePlan } from '../../domain/configuration/configuration.ts'
import { planForSending } from '../../domain/configuration/directory.ts'
import { judgeRecipient, type LimitRefusal } from '../../domain/limits/plan-limits.ts'
import type { RateSource } from '../../domain/limits/rate-limits.ts'
import { publicMessage } from '../../domain/messages/messages.ts'
import {
  fieldFaults,
  idempotencyKeyHash,
  isIdempotencyKey,
  judgeSender,
  recordBytes,
  requestHash,
  type SendRequest,
} from '../../domain/messages/send-requests.ts'
import type { CallbackChecker } from '../../domain/webhooks/callback-url.ts'
import { AppError, type Fault, fault, refuseAny } from '../../errors.ts'
import type { LimitedAccepter, LimitedOutcome } from '../../operations/sends/accept-within-limits.ts'
import { authenticateCustomer, type CustomerAuthentication, tokenOf } from '../authentication.ts'
import type { HttpLimits } from '../limits.ts'
import { unavailable } from '../outages.ts'
import { limitAccounts, takeSharedOrRefuse } from '../rate-limiting.ts'
import { ErrorBodySchema, failures } from '../schemas/error-body.ts'
import { PublicId, TextField } from '../schemas/parameters.ts'
import { QUEUED_MESSAGE } from '../schemas/response-examples.ts'
import { Type } from '../schemas/schema-builder.ts'
import { oneOf } from '../schemas/shapes.ts'
import { DeliveryReceiptSchema } from '../schemas/webhooks.ts'
import { withCheck } from '../validate.ts'

/** The domain judges addresses and text, by the same rules wherever a send comes in. The callback guard judges the URL. */
export const SendSmsRequest = withCheck(
  Type.Object(
    {
      servicePlanId: PublicId,
      channel: oneOf(['SMS']),
      from: Type.String({
        examples: ['12345', '+15550001111', 'Aldis'],
        description:
          'A sender of a type that plan and recipient allow: short code of 3-8 digits, E.164 number, or up to 11 letters, digits, space . _ - & with at least one letter',
      }),
      to: Type.String({ examples: ['+15551230001'], description: 'One E.164 number' }),
      body: TextField,
      callbackUrl: Type.Optional(
        Type.String({ format: 'uri', description: 'Public https URL for delivery receipts of this message' }),
      ),
    },
    {
      title: 'SendSmsRequest',
      examples: [
        {
          servicePlanId: '65f0c0ffee65f0c0ffee65f0',
          channel: 'SMS',
          from: 'Aldis',
          to: '+15551230001',
          body: 'Your code is 271828',
          callbackUrl: 'https://hooks.example.com/receipts',
        },
      ],
    },
  ),
  fieldFaults,
)

/** The rate limits of accounts and plans, over all nodes. */
export interface SendRateLimits {
  readonly accounts: RateSource
  readonly plans: RateSource
}

export interface SendDeps extends CustomerAuthentication {
  readonly accepter: Pick<LimitedAccepter, 'accept' | 'refusalOf'>
  readonly guard: CallbackChecker
  readonly rateLimits: SendRateLimits
  readonly limits: Pick<HttpLimits, 'recordBytes'>
  readonly baseUrl: string | null
}

export const SEND_PATH = '/v1/sendsms'

const SCHEMA = {
  operationId: 'sendSms',
  summary: 'Send one SMS',
  description: 'Sends one message. The response comes once it is stored; receipts follow.',
  tags: ['Messages'],
  headers: Type.Object({
    'idempotency-key': Type.Optional(
      Type.String({ description: 'Up to 255 visible ASCII characters; the same key within 24 h sends once' }),
    ),
  }),
  body: SendSmsRequest,
  response: {
    202: {
      ...DeliveryReceiptSchema,
      description: 'Accepted and queued',
      examples: [QUEUED_MESSAGE],
      headers: {
        location: { type: 'string', description: 'Where the record is: /v1/messages/{msgId}' },
        'idempotent-replayed': {
          type: 'string',
          description: 'true if the Idempotency-Key was used before: the record is that of the first request',
        },
      },
    },
    ...failures(400, 401, 403, 404, 409, 413, 415, 422, 429, 503),
    500: {
      ...Type.Union([DeliveryReceiptSchema, ErrorBodySchema]),
      description: 'INTERNAL_ERROR, or the record with status FAILED',
    },
  },
}

/**
 * `POST /v1/sendsms`. Checks the token and the account's rate limit before the body is read. Most sends are plain. Of
 * these, all but the first of each connection take the shorter way of `short-sends.ts` (docs/adr/0022), which accepts by the same
 * rules. Add a new field there too.
 */
export function registerSend(
  app: FastifyInstance,
  deps: SendDeps,
  onUnanswered: (request: FastifyRequest, elapsedMs: number) => void,
): void {
  const { accounts, plans } = deps.rateLimits
  app.route({
    method: 'POST',
    url: SEND_PATH,
    schema: SCHEMA,
    attachValidation: true,
    onRequest: [
      authenticateCustomer(deps),
      limitAccounts({
        name: 'account',
        limiter: accounts,
        limitOf: (account) => account.rateLimit,
        clock: deps.clock,
      }),
    ],
    handler: async (request, reply) => {
      const key = idempotencyKeyOf(request)
      const sms = await validated(request, deps.guard)
      const plan = await authorizedPlan(deps, request, plans, sms)
      const callbackUrl = sms.callbackUrl ?? null
      const outcome = await deps.accepter.accept({
        plan,
        draft: { sender: sms.from, recipient: sms.to, body: sms.body, callbackUrl },
        idempotencyKey:
          key === undefined
            ? null
            : { keyHash: idempotencyKeyHash(key), requestHash: requestHash({ ...sms, callbackUrl }) },
        traceparent: request.headers.traceparent as string | undefined,
      })
      if (outcome.kind === 'unknown') onUnanswered(request, reply.elapsedTime)
      return answer(reply, outcome, plan, deps.baseUrl)
    },
  })
}

function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  return headers['idempotency-key'] as string | undefined
}

/** The validated request. Throws the faults of its body, callbackUrl and key. */
export async function validated(request: FastifyRequest, guard: CallbackChecker): Promise<SendRequest> {
  const key = idempotencyKeyOf(request)
  const { callbackUrl } = (request.body ?? {}) as { callbackUrl?: unknown }
  const faults: Fault[] = [...(request.faults ?? [])]
  if (typeof callbackUrl === 'string') {
    const verdict = await guard.check(callbackUrl)
    if (!verdict.ok) faults.push(fault('callbackUrl', verdict.code, verdict.message))
  }
  if (key !== undefined && !isIdempotencyKey(key)) {
    faults.push(fault('Idempotency-Key', 'INVALID_FORMAT', 'must be 1 to 255 visible ASCII characters'))
  }
  refuseAny(faults)
  return request.body as SendRequest
}

/** The plan that the request is sent with. Throws why it may not be. `limiter`: of plans; null: their limits do not count. */
export async function authorizedPlan(
  { directory, clock, limits }: Pick<SendDeps, 'directory' | 'clock' | 'limits'>,
  request: FastifyRequest,
  limiter: RateSource | null,
  sms: SendRequest,
): Promise<ServicePlan> {
  const snapshot = await directory()
  const plan = planForSending(snapshot, tokenOf(request), sms.servicePlanId)
  if (typeof plan === 'string') throw new AppError(plan)
  const limit = plan.rateLimit
  if (limit !== null && limiter !== null)
    await takeSharedOrRefuse(limiter, { name: 'plan', key: plan.id, limit, nowMs: clock() })
  const refusal = judgeSender(snapshot, plan, sms) ?? judgeRecipient(plan, sms.to)
  if (refusal !== null) throw new AppError(refusal.code, refusal)
  if (recordBytes(sms) > limits.recordBytes)
    throw new AppError('MESSAGE_TOO_LARGE', {
      message: `The texts of the message must have at most ${limits.recordBytes} bytes together`,
    })
  return plan
}

/** The answer to a message that a limit of its plan refuses. */
export function beyondLimit({ code, message, retryAfterMs }: LimitRefusal): AppError {
  const seconds = retryAfterMs === undefined ? null : Math.max(1, Math.ceil(retryAfterMs / 1_000))
  return new AppError(code, { message, ...(seconds && { headers: { 'retry-after': String(seconds) } }) })
}

function answer(reply: FastifyReply, outcome: LimitedOutcome, plan: ServicePlan, baseUrl: string | null) {
  if (outcome.kind === 'key-reused') throw new AppError('IDEMPOTENCY_KEY_REUSED')
  if (outcome.kind === 'unavailable') throw unavailable()
  if (outcome.kind === 'refused') throw beyondLimit(outcome.refusal)
  const { request } = reply
  if (outcome.kind === 'unknown') {
    // A 5xx would say that the request has no effect.
    reply.hijack()
    reply.raw.destroy()
    return reply
  }
  const message = publicMessage(outcome.message, plan)
  request.replayed = outcome.kind === 'replayed'
  nameMessage(reply, message.msgId)
  if (outcome.kind === 'failed') {
    request.errorCode = 'INTERNAL_ERROR'
    return reply.code(500).send(message)
  }
  if (request.replayed) reply.header('idempotent-replayed', 'true')
  return reply
    .code(202)
    .header('location', `${baseUrl ?? ''}/v1/messages/${message.msgId}`)
    .send(message)
}

/**
 * Names the message that a send is answered with. The request that made it takes its id, so that nothing is stored to find
 * one by the other. A repeated send keeps its own.
 */
export function nameMessage(reply: FastifyReply, msgId: string): void {
  const { request } = reply
  request.msgId = msgId
  if (request.replayed) return
  request.id = msgId
  reply.header('x-request-id', msgId)
}

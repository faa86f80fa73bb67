import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ServicePlan } from '../../domain/configuration/configuration.ts'
import { planForReading } from '../../domain/configuration/directory.ts'
import { RateLimiter } from '../../domain/limits/rate-limits.ts'
import type { PreflightQuestion } from '../../domain/messages/preflight.ts'
import { decimal } from '../../domain/routing/rates.ts'
import { AppError } from '../../errors.ts'
import { NoTurnError } from '../../operations/batches.ts'
import { type CheckedPreflight, Preflights } from '../../operations/sends/preflight-sends.ts'
import { isTransient, type Queryable } from '../../store/database.ts'
import { authenticateCustomer, tokenOf } from '../authentication.ts'
import type { HttpLimits } from '../limits.ts'
import { unavailable } from '../outages.ts'
import { asked, limitAccounts } from '../rate-limiting.ts'
import { FAILURE_FIELDS, failures } from '../schemas/error-body.ts'
import { PREFLIGHT } from '../schemas/response-examples.ts'
import { Type } from '../schemas/schema-builder.ts'
import {
  Nullable,
  nullableInteger,
  nullableNumber,
  nullableString,
  oneOf,
  titled,
} from '../schemas/shapes.ts'
import {
  authorizedPlan,
  beyondLimit,
  SEND_PATH,
  type SendDeps,
  type SendRateLimits,
  SendSmsRequest,
  validated,
} from './sendsms.ts'

/** What a send would do. What cannot be determined is null. */

const Text = titled('PreflightText', {
  encoding: oneOf(['GSM7', 'UCS2']),
  segments: Type.Integer({ description: 'As the record counts them' }),
  segmentTexts: Type.Array(Type.String(), { description: 'The text that each segment carries' }),
  ucs2Characters: Type.Array(
    titled('Ucs2Character', {
      character: Type.String(),
      codePoint: Type.String({ description: 'such as U+2019' }),
      position: Type.Integer({ description: 'of the first in the body, in code points from 0' }),
    }),
    { description: 'Of a text in UCS-2: the characters that the GSM 7-bit alphabet lacks, each once' },
  ),
  smartReplacements: Type.Array(
    titled('SmartReplacement', {
      characters: Type.String(),
      replacement: Type.String(),
      position: Type.Integer({ description: 'of the first in the body, in code points from 0' }),
    }),
    {
      description:
        'What smart encoding could replace, if the plan has it. Nothing is replaced if the text then still needs UCS-2',
    },
  ),
})

const Sender = titled('PreflightSender', {
  type: nullableString({ description: 'short-code, e164 or alphanumeric' }),
  allowed: Nullable(Type.Boolean()),
  errorCode: nullableString({ description: 'why it is not allowed' }),
  errorMessage: nullableString(),
})

const Recipient = titled('PreflightRecipient', {
  valid: Type.Boolean(),
  msisdn: nullableString({ description: 'the number as a send has to write it' }),
  country: nullableString({ description: 'ISO 3166-1 alpha-2' }),
  mccmnc: nullableString({ description: 'of the number ranges; a receipt may correct it' }),
  optedOut: Nullable(Type.Boolean({ description: 'a send would be accepted, and fail at once' })),
})

const Route = titled('PreflightRoute', {
  name: Type.String(),
  reason: Type.String({ description: "the rule, or that it is the plan's own route" }),
  available: Type.Boolean({
    description:
      'Whether a carrier of it takes messages now; false: the send would be accepted, and the message would wait',
  }),
})

const Charge = titled('PreflightCharge', {
  price: nullableNumber({ description: 'of all segments, as the record will have it' }),
  ptf: nullableNumber({ description: 'pass-through fee of all segments' }),
  currency: Type.String({ description: 'ISO 4217' }),
})

const Headroom = titled('PreflightHeadroom', {
  messages: nullableInteger({ description: 'that may be sent now; null: there is no rate limit' }),
  limitedBy: nullableString({ description: 'whose rate limit it is: account or plan' }),
})

const CallbackUrl = titled('PreflightCallbackUrl', {
  allowed: Type.Boolean(),
  code: nullableString({ description: 'of the fault' }),
  message: nullableString(),
})

const UnknownField = titled('UnknownField', {
  field: Type.String(),
  suggestion: nullableString({ description: 'the field that may be meant' }),
})

const Refusal = titled('SendRefusal', {
  status: Type.Integer({ description: 'HTTP status of the response to the send' }),
  ...FAILURE_FIELDS,
})

const PreflightSchema = titled('Preflight', {
  refusal: Nullable({ ...Refusal, description: 'What a send would be answered; null: it would be accepted' }),
  text: Nullable({ ...Text, description: 'Null if the plan or the text is not valid' }),
  sender: Sender,
  recipient: Recipient,
  route: Nullable({
    ...Route,
    description: 'Null unless the plan has one, the sender is allowed and the recipient is valid',
  }),
  charge: Nullable({
    ...Charge,
    description: 'Null if the recipient or the text is not valid, or no rate applies',
  }),
  sandbox: Nullable(
    Type.Boolean({
      description:
        'The send would go to the simulator instead of a carrier, and cost nothing. Null if the plan is not valid',
    }),
  ),
  headroom: Nullable({
    ...Headroom,
    description: 'Less what other processes have taken ahead; null if the plan is not valid',
  }),
  callbackUrl: Nullable({ ...CallbackUrl, description: 'Null without one in the request' }),
  unknownFields: Type.Array(UnknownField, { description: 'Fields that a send ignores; at most 50' }),
})

interface PreflightDeps extends Omit<SendDeps, 'limits'> {
  /** For look-ups. */
  readonly db: Queryable
  readonly limits: Pick<HttpLimits, 'preflights' | 'recordBytes'>
  /** What a carrier can do now, on any node. */
  readonly carrierCondition: PreflightQuestion['conditionOf']
}

const SCHEMA = {
  operationId: 'preflightSms',
  summary: 'Tell what a send would do, without sending',
  description:
    'Takes the body of a send. Sends and stores nothing, and does not count against the rate limits of sends. What the send would be refused for is part of the response.',
  tags: ['Messages'],
  headers: Type.Object({
    'idempotency-key': Type.Optional(Type.String({ description: 'Only its form is checked' })),
  }),
  body: SendSmsRequest,
  response: {
    200: { ...PreflightSchema, description: 'What a send would do', examples: [PREFLIGHT] },
    ...failures(400, 401, 403, 413, 415, 429, 500, 503),
  },
}

const KNOWN_FIELDS = Object.keys(SendSmsRequest.properties)

/** `POST /v1/sendsms/preflight`. `rateLimits` are read, and nothing is taken from them. */
export function registerPreflight(app: FastifyInstance, deps: PreflightDeps): void {
  const { directory, clock, limits, carrierCondition: conditionOf } = deps
  const limit = { name: 'preflights', limiter: new RateLimiter(), limitOf: () => limits.preflights, clock }
  const preflights = new Preflights(deps.db)
  app.route({
    method: 'POST',
    url: `${SEND_PATH}/preflight`,
    schema: SCHEMA,
    attachValidation: true,
    onRequest: [authenticateCustomer(deps), limitAccounts(limit)],
    handler: async (request) => {
      const refusal = await refusalOf(() => checkSend(deps, request))
      const fields = fieldsOf(request, refusal)
      const snapshot = await directory()
      const { servicePlanId } = fields
      const plan =
        typeof servicePlanId === 'string' ? planForReading(snapshot, tokenOf(request), servicePlanId) : null
      const faults = refusal?.errors ?? []
      const checked = await preflights
        .answer({ directory: snapshot, plan, fields, faults, known: KNOWN_FIELDS, conditionOf })
        .catch(explainFailure)
      const headroom = plan && (await headroomOf(plan, deps.rateLimits, clock()))
      return {
        refusal: refusal && presentRefusal(refusal),
        ...present(checked),
        sandbox: plan?.sandbox ?? null,
        headroom,
      }
    },
  })
}

/** Throws what the send would be refused with. */
async function checkSend(deps: PreflightDeps, request: FastifyRequest): Promise<void> {
  const sms = await validated(request, deps.guard)
  const plan = await authorizedPlan(deps, request, null, sms)
  const draft = { sender: sms.from, recipient: sms.to, body: sms.body, callbackUrl: null }
  const beyond = await deps.accepter.refusalOf({ plan, draft }).catch(explainFailure)
  if (beyond !== null) throw beyondLimit(beyond)
}

function explainFailure(error: unknown): never {
  throw error instanceof NoTurnError || isTransient(error) ? unavailable() : error
}

/** What a send is refused with by its own checks. A failure of the service is thrown. */
async function refusalOf(check: () => Promise<void>): Promise<AppError | null> {
  try {
    await check()
    return null
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return error
    throw error
  }
}

/** The body, unless nothing can be told of it: then the request is refused as a send is. */
function fieldsOf({ body }: FastifyRequest, refusal: AppError | null): Readonly<Record<string, unknown>> {
  if (refusal !== null && (typeof body !== 'object' || body === null || Array.isArray(body))) throw refusal
  return body as Record<string, unknown>
}

/** How many messages the tighter limit lets through now. */
async function headroomOf(plan: ServicePlan, { accounts, plans }: SendRateLimits, nowMs: number) {
  const { account } = plan
  const ofAccount = account.rateLimit && {
    messages: await asked(accounts.left(account.id, account.rateLimit, nowMs)),
    limitedBy: 'account' as const,
  }
  const ofPlan = plan.rateLimit && {
    messages: await asked(plans.left(plan.id, plan.rateLimit, nowMs)),
    limitedBy: 'plan' as const,
  }
  if (ofAccount !== null && ofPlan !== null) return ofPlan.messages <= ofAccount.messages ? ofPlan : ofAccount
  return ofAccount ?? ofPlan ?? { messages: null, limitedBy: null }
}

function presentRefusal({ status, code, message, errors }: AppError) {
  return { status, errorCode: code, errorMessage: message, ...(errors && { errors }) }
}

function present({ text, sender, recipient, isOptedOut, ...rest }: CheckedPreflight) {
  const refusal = sender.refusal && new AppError(sender.refusal.code, sender.refusal)
  const { route, charge, callbackUrl, unknownFields } = rest
  return {
    text: text && { ...text, segments: text.segments.length, segmentTexts: text.segments },
    sender: {
      type: sender.type,
      allowed: sender.isAllowed,
      errorCode: refusal?.code ?? null,
      errorMessage: refusal?.message ?? null,
    },
    recipient: {
      valid: recipient.isValid,
      msisdn: recipient.msisdn,
      country: recipient.country,
      mccmnc: recipient.mccmnc,
      optedOut: isOptedOut,
    },
    route: route && { name: route.name, reason: route.reason, available: route.isAvailable },
    charge: charge && { price: decimal(charge.price), ptf: decimal(charge.ptf), currency: charge.currency },
    callbackUrl: callbackUrl && {
      allowed: callbackUrl.isAllowed,
      code: callbackUrl.fault?.code ?? null,
      message: callbackUrl.fault?.message ?? null,
    },
    unknownFields,
  }
}

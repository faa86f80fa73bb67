import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { SendsmsUser, Token } from '../../domain/configuration/configuration.ts'
import { subscriberOf } from '../../domain/ip-addresses.ts'
import type { LimitRefusal } from '../../domain/limits/plan-limits.ts'
import type { SenderRefusal, SendRequest } from '../../domain/messages/send-requests.ts'
import { type CarrierCondition, candidateCarriers } from '../../domain/routing/routing.ts'
import { longestDlrUrl, storedDlrUrl } from '../../domain/webhooks/dlr-urls.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import type { LimitedOutcome } from '../../operations/sends/accept-within-limits.ts'
import { CgiSendsmsLogins } from '../cgi-sendsms-logins.ts'
import {
  type CgiSendsmsParameters,
  type CgiSendsmsRequest,
  cgiSendsmsParameters,
  readCgiSendsms,
  rejected,
} from '../cgi-sendsms-requests.ts'
import { failureOf } from '../error-responses.ts'
import { takeSharedOrRefuse } from '../rate-limiting.ts'
import { authorizedPlan, beyondLimit, nameMessage, type SendDeps } from './sendsms.ts'

export interface CgiSendsmsDeps extends SendDeps {
  readonly random: (bytes: number) => Uint8Array
  /** What a carrier can do now, on any node. */
  readonly carrierCondition: (carrierId: number, routeId: number) => CarrierCondition
}

/** Kannel's path. */
export const CGI_SENDSMS_PATH = '/cgi-bin/sendsms'

/** Kannel's answers, which applications look at. */
const ACCEPTED = '0: Accepted for delivery'
const QUEUED = '3: Queued for later delivery'
const NOT_ROUTABLE = 'Not routable. Do not try again.'
const TRY_AGAIN = 'Temporal failure, try again later.'
const NOT_SENT = 'Sending failed.'

/**
 * `GET` and `POST /cgi-bin/sendsms`, the interface of Kannel, so that an application moves by changing one URL. Each
 * recipient is one send, accepted as those of `POST /v1/sendsms` are. docs/sendsms.md has the parameters and the answers.
 */
export function registerCgiSendsms(
  app: FastifyInstance,
  deps: CgiSendsmsDeps,
  onUnanswered: (request: FastifyRequest, elapsedMs: number) => void,
): void {
  const logins = new CgiSendsmsLogins(deps.random(32))
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    scope.route({
      method: ['GET', 'POST'],
      url: CGI_SENDSMS_PATH,
      schema: { hide: true },
      // A HEAD would send as well.
      exposeHeadRoute: false,
      errorHandler: answerInText,
      handler: async (request, reply) => {
        const parameters = cgiSendsmsParameters(request)
        const user = await userOf(deps, logins, request, parameters)
        const outcomes = await sendAll(deps, request, user, readCgiSendsms(parameters, user))
        if (outcomes.some(({ outcome }) => outcome.kind === 'unknown')) {
          onUnanswered(request, reply.elapsedTime)
          reply.hijack()
          reply.raw.destroy()
          return reply
        }
        return answer(reply, outcomes)
      },
    })
  })
}

async function userOf(
  { directory, clock }: CgiSendsmsDeps,
  logins: CgiSendsmsLogins,
  request: FastifyRequest,
  parameters: CgiSendsmsParameters,
): Promise<SendsmsUser> {
  const given = (name: string, short: string) => (parameters.get(name) ?? parameters.get(short))?.toString()
  const username = given('username', 'user') ?? ''
  const password = given('password', 'pass') ?? ''
  const user = (await directory()).contents.sendsmsUsers.get(username)
  const login = { username, password, address: subscriberOf(request.ip), nowMs: clock() }
  if (!(await logins.isRight(user, login)) || user === undefined)
    throw new AppError('FORBIDDEN', { message: 'Authorization failed for sendsms' })
  request.token = tokenFor(user)
  return user
}

/** What the user may do, as the token of a program that sends with this plan only. */
function tokenFor({ username, plan }: SendsmsUser): Token {
  return {
    id: 0,
    account: plan.account,
    name: username,
    planIds: new Set([plan.id]),
    scopes: new Set(['send']),
    expiresAtMs: null,
  }
}

interface Sent {
  readonly to: string
  readonly outcome: LimitedOutcome
  /** No carrier of its route takes messages now. */
  readonly isHeld: boolean
}

/** Accepts all messages of the request, or throws before the first. */
async function sendAll(
  deps: CgiSendsmsDeps,
  request: FastifyRequest,
  { plan: { id, servicePlanId, account, rateLimit }, username }: SendsmsUser,
  { from, recipients, body, dlr, validitySeconds }: CgiSendsmsRequest,
): Promise<Sent[]> {
  const drafts: SendRequest[] = recipients.map(({ address: to, written }) => ({
    servicePlanId,
    channel: 'SMS',
    from: from.address,
    to,
    body,
    ...(dlr && {
      callbackUrl: storedDlrUrl(dlr.url, dlr.mask, { to: written, from: from.written, username }),
    }),
  }))
  await judgeDlrUrl(deps, dlr?.url, drafts[0]!.callbackUrl)
  // All or none: a refused request must not use up what would let its repetition pass.
  const take = { nowMs: deps.clock(), count: drafts.length }
  if (account.rateLimit !== null)
    await takeSharedOrRefuse(deps.rateLimits.accounts, {
      ...take,
      name: 'account',
      key: account.id,
      limit: account.rateLimit,
    })
  if (rateLimit !== null)
    await takeSharedOrRefuse(deps.rateLimits.plans, { ...take, name: 'plan', key: id, limit: rateLimit })
  const snapshot = await deps.directory()
  const checked = []
  for (const sms of drafts) checked.push({ sms, plan: await authorizedPlan(deps, request, null, sms) })
  return await Promise.all(
    checked.map(async ({ sms: { from: sender, to, callbackUrl = null }, plan }) => {
      const draft = { sender, recipient: to, body, callbackUrl }
      const outcome = await deps.accepter.accept({ plan, draft, validitySeconds, idempotencyKey: null })
      const route = snapshot.routeFor(plan, sender, to)?.route
      const open = route && candidateCarriers(route, (id) => deps.carrierCondition(id, route.id))
      return { to, outcome, isHeld: open?.length === 0 }
    }),
  )
}

/** The URL as it was given, whose host must have no escapes, and the longest that can become of it. */
async function judgeDlrUrl({ guard }: CgiSendsmsDeps, given: string | undefined, stored: string | undefined) {
  if (given === undefined || stored === undefined) return
  for (const url of [given, longestDlrUrl(stored)]) {
    const verdict = await guard.check(url, { allowsHttp: true })
    if (!verdict.ok) throw rejected(`DLR-URL field misformed (${verdict.message})`)
  }
}

function answer(reply: FastifyReply, sent: readonly Sent[]) {
  const failed = sent.filter(({ outcome }) => outcome.kind !== 'queued')
  const [first] = sent
  if (sent.length === 1 && first?.outcome.kind === 'queued') nameMessage(reply, first.outcome.message.msgId)
  // Kannel answers for several receivers before it knows.
  const text = sent.length === 1 && first!.isHeld ? QUEUED : ACCEPTED
  if (failed.length === 0) return inText(reply.code(202), text)
  const { outcome } = failed[0]!
  if (outcome.kind === 'refused' && failed.length === sent.length) throw beyondLimit(outcome.refusal)
  reply.request.errorCode = outcome.kind === 'refused' ? outcome.refusal.code : 'INTERNAL_ERROR'
  if (failed.length === sent.length) return inText(reply.code(503), TRY_AGAIN)
  const numbers = failed.map(({ to }) => to).join(' ')
  return inText(reply.code(500), `${NOT_SENT} Failed receivers are: ${numbers}`)
}

/**
 * `lasting`: what Kannel answers when its configuration lets nothing through. The type names what a plan may be refused for, so
 * that none is forgotten.
 */
const REFUSALS: Readonly<
  Record<SenderRefusal['code'] | LimitRefusal['code'], 'lasting' | 'passing'> &
    Partial<Record<ErrorCode, 'lasting' | 'passing'>>
> = {
  SENDER_NOT_AUTHORIZED: 'lasting',
  SENDER_PENDING_APPROVAL: 'lasting',
  SENDER_STATUS_UNKNOWN: 'lasting',
  COUNTRY_NOT_ALLOWED: 'lasting',
  SERVICE_PLAN_NOT_FOUND: 'lasting',
  SERVICE_PLAN_INACTIVE: 'lasting',
  SERVICE_PLAN_INCOMPLETE: 'lasting',
  RATE_LIMITED: 'passing',
  CAP_REACHED: 'passing',
  COUNTRY_PAUSED: 'passing',
  SERVICE_UNAVAILABLE: 'passing',
}

const TEXTS: Partial<Readonly<Record<ErrorCode, string>>> = {
  INTERNAL_ERROR: NOT_SENT,
  UNSUPPORTED_MEDIA_TYPE: 'Unsupported content-type, rejected',
}

function answerInText(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { code, status, message } = failureOf(error, request, reply)
  if (REFUSALS[code] === 'lasting') return inText(reply.code(403), `${NOT_ROUTABLE} ${message}.`)
  if (REFUSALS[code] === 'passing') return inText(reply.code(503), TRY_AGAIN)
  return inText(reply.code(status), TEXTS[code] ?? message)
}

/** Kannel calls its answers HTML. */
function inText(reply: FastifyReply, text: string) {
  return reply.type('text/html').send(text)
}

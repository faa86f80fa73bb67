import { SharedSlots } from '../collections/shared-room.ts'
import { testAlarmBody } from '../domain/alarms.ts'
import {
  canSign,
  type RateLimit,
  type ServicePlan,
  type SigningAccount,
} from '../domain/configuration/configuration.ts'
import { type EventType, testEvent } from '../domain/events.ts'
import { messageId } from '../domain/identifiers.ts'
import { RateLimiter, refusalHeaders } from '../domain/limits/rate-limits.ts'
import type { SecretKeys } from '../domain/secrets.ts'
import {
  type CallbackChecker,
  openCallbackUrl,
  originOf,
  withoutCredentials,
} from '../domain/webhooks/callback-url.ts'
import type { Webhook } from '../domain/webhooks/requests.ts'
import { AppError, conflict, invalidField } from '../errors.ts'

/** Alarms and events that never happened are sent at once and without retries. Nothing is stored of them. */

/** The result of the POST. */
interface PostOutcome {
  readonly ok: boolean
  readonly status: number | null
  readonly error: string | null
  readonly latencyMs: number
  readonly responseHead: string
}

interface TestAnswer {
  readonly delivered: boolean
  readonly responseStatus: number | null
  readonly latencyMs: number
  /** Name of the error; null when it was delivered. */
  readonly error: string | null
  /** First 1 KiB of the answer; null if there was none. */
  readonly responseHead: string | null
}

function answerOf({ ok, status, latencyMs, error, responseHead }: PostOutcome): TestAnswer {
  return {
    delivered: ok,
    responseStatus: status,
    latencyMs,
    error,
    responseHead: responseHead === '' ? null : responseHead,
  }
}

/**
 * Alarms: of all operators on this process, so no more than 16 are in flight, since an attempt ends within 15 s. Events: of
 * an account.
 */
const LIMIT: RateLimit = { perSecond: 1, burst: 1 }

function tooMany(name: string, waitMs: number): AppError {
  return new AppError('RATE_LIMITED', { headers: refusalHeaders(name, LIMIT, waitMs) })
}

interface TestAlarmsDeps {
  /** ALARM_WEBHOOK_URL. */
  readonly url: string
  /** Signs and sends. Never rejects, and ends within 15 s. */
  readonly post: (webhook: Webhook) => Promise<PostOutcome>
  /** BASE_URL. */
  readonly installation: string | null
  readonly clock: () => number
  /** Returns a UUID. */
  readonly newId: () => string
}

interface TestAlarmAnswer extends TestAnswer {
  readonly alarmId: string
  /** Scheme, host and port: the path may hold a token. */
  readonly destination: string
}

export class TestAlarms {
  readonly #deps: TestAlarmsDeps
  readonly #limiter = new RateLimiter<string>()

  constructor(deps: TestAlarmsDeps) {
    this.#deps = deps
  }

  /** @throws AppError RATE_LIMITED */
  async send(): Promise<TestAlarmAnswer> {
    const { url, post, installation, clock, newId } = this.#deps
    const timestampMs = clock()
    const waitMs = this.#limiter.take('', LIMIT, timestampMs)
    if (waitMs > 0) throw tooMany('test-alarms', waitMs)
    const alarmId = newId()
    const body = testAlarmBody(alarmId, new Date(timestampMs), installation)
    const eventId = `${alarmId}-raised`
    const outcome = await post({ url, eventId, attempt: 1, sequence: 1, body, timestampMs, isTest: true })
    return { alarmId, destination: originOf(url) ?? '', ...answerOf(outcome) }
  }
}

export interface TestEventsDeps {
  /** Judges the URL again when dialling. Never rejects. */
  readonly post: (account: SigningAccount, webhook: Webhook) => Promise<PostOutcome>
  readonly guard: CallbackChecker
  readonly secretKey: SecretKeys
  readonly clock: () => number
  readonly random: (bytes: number) => Uint8Array
}

interface TestEventAnswer extends TestAnswer {
  readonly eventId: string
  /** Where it went, without credentials; for a configured URL also without its query, which may hold tokens. */
  readonly url: string
}

/** For all accounts on this node. An account whose receivers hang has at most half of them. */
const MAX_UNDER_WAY = 8

/** Signed test events. They go past the queue, so breakers, pauses and schedules do not apply. */
export class TestEvents {
  readonly #deps: TestEventsDeps
  readonly #limiter = new RateLimiter()
  readonly #slots = new SharedSlots(MAX_UNDER_WAY)

  constructor(deps: TestEventsDeps) {
    this.#deps = deps
  }

  /**
   * Sends to `url`, or by default to the plan's URL for events of this type. Throws VALIDATION_ERROR for a URL that the guard
   * refuses, CONFLICT if there is no URL or the account's secrets cannot be decrypted, and RATE_LIMITED.
   */
  async send(plan: ServicePlan, type: EventType, url: string | null): Promise<TestEventAnswer> {
    const { post, clock, random } = this.#deps
    const { account } = plan
    if (!canSign(account)) throw conflict("the account's webhook secrets or headers cannot be decrypted")
    this.#takeTurn(account.id)
    try {
      const to = await this.#urlOf(plan, type, url)
      const nowMs = clock()
      const msgId = messageId(nowMs, random(9), 0)
      const event = testEvent(type, plan, { msgId, nowMs })
      const outcome = await post(account, { ...event, url: to })
      const shown = withoutCredentials(to)
      return { eventId: event.eventId, url: url === null ? withoutQuery(shown) : shown, ...answerOf(outcome) }
    } finally {
      this.#slots.release(account.id)
    }
  }

  async #urlOf(plan: ServicePlan, type: EventType, url: string | null): Promise<string> {
    const { guard, secretKey } = this.#deps
    if (url !== null) {
      const verdict = await guard.check(url)
      if (!verdict.ok) throw invalidField('url', verdict.code, verdict.message)
      return url
    }
    const inbound = type === 'inboundMessage'
    const stored = inbound ? plan.inboundUrl : plan.account.defaultDlrUrl
    if (stored !== null) return openCallbackUrl(secretKey, stored)
    const none = inbound ? 'the service plan has no inbound URL' : 'the account has no default DLR URL'
    throw conflict(`${none}; give the url to test`)
  }

  #takeTurn(accountId: number): void {
    if (!this.#slots.take(accountId)) throw tooMany('test-events', 1_000)
    const waitMs = this.#limiter.take(accountId, LIMIT, this.#deps.clock())
    if (waitMs <= 0) return
    this.#slots.release(accountId)
    throw tooMany('test-events', waitMs)
  }
}

function withoutQuery(url: string): string {
  return url.replace(/\?.*$/s, '')
}

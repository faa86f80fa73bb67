import { SharedSlots } from '../collections/shared-room.ts'
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
import { type CallbackChecker, openCallbackUrl, withoutCredentials } from '../domain/webhooks/callback-url.ts'
import type { Webhook } from '../domain/webhooks/requests.ts'
import { AppError, conflict, invalidField } from '../errors.ts'

/** The result of the POST. */
interface PostOutcome {
  readonly ok: boolean
  readonly status: number | null
  readonly error: string | null
  readonly latencyMs: number
  readonly responseHead: string
}

export interface TestEventsDeps {
  /** Judges the URL again when dialling. Never rejects. */
  readonly post: (account: SigningAccount, webhook: Webhook) => Promise<PostOutcome>
  readonly guard: CallbackChecker
  readonly secretKey: SecretKeys
  readonly clock: () => number
  readonly random: (bytes: number) => Uint8Array
}

export interface TestEventAnswer {
  readonly eventId: string
  /** Where it went, without credentials; for a configured URL also without its query, which may hold tokens. */
  readonly url: string
  readonly delivered: boolean
  readonly responseStatus: number | null
  readonly latencyMs: number
  /** Name of the error; null when the event was delivered. */
  readonly error: string | null
  /** First 1 KiB of the answer; null if there was none. */
  readonly responseHead: string | null
}

/** Per account. */
const LIMIT: RateLimit = { perSecond: 1, burst: 1 }
/** For all accounts on this node. An account whose receivers hang has at most half of them. */
const MAX_UNDER_WAY = 8

/**
 * Sends signed test events at once, apart from the queue. Breakers, pauses and schedules do not apply, and nothing is stored.
 */
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
      return {
        eventId: event.eventId,
        url: url === null ? withoutQuery(withoutCredentials(to)) : withoutCredentials(to),
        delivered: outcome.ok,
        responseStatus: outcome.status,
        latencyMs: outcome.latencyMs,
        error: outcome.error,
        responseHead: outcome.responseHead === '' ? null : outcome.responseHead,
      }
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
    const refused = (waitMs: number) =>
      new AppError('RATE_LIMITED', { headers: refusalHeaders('test-events', LIMIT, waitMs) })
    if (!this.#slots.take(accountId)) throw refused(1_000)
    const waitMs = this.#limiter.take(accountId, LIMIT, this.#deps.clock())
    if (waitMs <= 0) return
    this.#slots.release(accountId)
    throw refused(waitMs)
  }
}

function withoutQuery(url: string): string {
  return url.replace(/\?.*$/s, '')
}

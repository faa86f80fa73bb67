import { testAlarmBody } from '../domain/alarms.ts'
import type { RateLimit } from '../domain/configuration/configuration.ts'
import { RateLimiter, refusalHeaders } from '../domain/limits/rate-limits.ts'
import { originOf } from '../domain/webhooks/callback-url.ts'
import type { Webhook } from '../domain/webhooks/requests.ts'
import { AppError } from '../errors.ts'

export interface TestAlarmsDeps {
  /** ALARM_WEBHOOK_URL. */
  readonly url: string
  /** Signs and sends. Never rejects, and ends within 15 s. */
  readonly post: (webhook: Webhook) => Promise<{
    readonly ok: boolean
    readonly status: number | null
    readonly error: string | null
    readonly latencyMs: number
    readonly responseHead: string
  }>
  /** BASE_URL. */
  readonly installation: string | null
  readonly nowMs: () => number
  /** Returns a UUID. */
  readonly newId: () => string
}

export interface TestAlarmAnswer {
  readonly alarmId: string
  /** Scheme, host and port: the path may hold a token. */
  readonly destination: string
  readonly delivered: boolean
  readonly responseStatus: number | null
  readonly latencyMs: number
  /** Name of the error; null when the alarm was delivered. */
  readonly error: string | null
  /** First 1 KiB of the answer; null if there was none. */
  readonly responseHead: string | null
}

/** For all operators on this process: no more than 16 are in flight, since an attempt ends within 15 s. */
const LIMIT: RateLimit = { perSecond: 1, burst: 1 }

/** Sends alarms that never happened, at once and without retries. Nothing is stored of them. */
export class TestAlarms {
  readonly #deps: TestAlarmsDeps
  readonly #limiter = new RateLimiter<string>()

  constructor(deps: TestAlarmsDeps) {
    this.#deps = deps
  }

  /** @throws AppError RATE_LIMITED */
  async send(): Promise<TestAlarmAnswer> {
    const { url, post, installation, nowMs, newId } = this.#deps
    const timestampMs = nowMs()
    const waitMs = this.#limiter.take('', LIMIT, timestampMs)
    if (waitMs > 0)
      throw new AppError('RATE_LIMITED', { headers: refusalHeaders('test-alarms', LIMIT, waitMs) })
    const alarmId = newId()
    const body = testAlarmBody(alarmId, new Date(timestampMs), installation)
    const eventId = `${alarmId}-raised`
    const outcome = await post({ url, eventId, attempt: 1, sequence: 1, body, timestampMs, isTest: true })
    return {
      alarmId,
      destination: originOf(url) ?? '',
      delivered: outcome.ok,
      responseStatus: outcome.status,
      latencyMs: outcome.latencyMs,
      error: outcome.error,
      responseHead: outcome.responseHead === '' ? null : outcome.responseHead,
    }
  }
}

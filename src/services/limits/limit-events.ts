import { canSign, type SigningAccount } from '../../domain/configuration/configuration.ts'
import {
  describeLimitEvent,
  type LimitEvent,
  limitEventBody,
  type StoredLimitEvent,
} from '../../domain/limits/plan-limits.ts'
import { orUnreadable, type SecretKeys } from '../../domain/secrets.ts'
import { openCallbackUrl } from '../../domain/webhooks/callback-url.ts'
import type { Webhook } from '../../domain/webhooks/requests.ts'
import { ATTEMPT_DELAYS_MS } from '../../domain/webhooks/retries.ts'
import { insertLimitEvents, limitEventTaken, takeDueLimitEvents } from '../../store/limit-events.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

export interface LimitEventsOptions extends NodeParts {
  readonly secretKey: SecretKeys
  /** POSTs to a plan's inbound URL. Never rejects. */
  readonly post: (account: SigningAccount, webhook: Webhook) => Promise<{ readonly ok: boolean }>
  readonly intervalMs?: number | undefined
}

const INTERVAL_MS = 5_000
/** Taken at once by a process, and of one plan, whose receiver may hang. */
const MAX_BATCH = 20
const MAX_OF_PLAN = 2
/** The waits of other webhooks. The first attempt has none. */
const WAITS_MS = ATTEMPT_DELAYS_MS.slice(1)

/**
 * Stores each event of the limits of plans once, whichever processes notice it, logs it, and pushes it to the inbound URL of
 * plans that ask for it. Due ones wait in the database, and any process takes them.
 */
export class LimitEvents {
  readonly #options: LimitEventsOptions
  readonly #task: PeriodicTask

  constructor(options: LimitEventsOptions) {
    this.#options = options
    const { intervalMs = INTERVAL_MS, log } = options
    this.#task = new PeriodicTask(log, 'events of limits not pushed', intervalMs, () => this.runOnce())
  }

  /** Without plans that ask for events, nothing runs. */
  adopt(): void {
    const isAsked = this.#options.directory().contents.plans.some(({ limitEvents }) => limitEvents)
    if (isAsked) this.#task.start()
    else void this.#task.stop()
  }

  stop(): Promise<void> {
    return this.#task.stop()
  }

  async add(events: readonly LimitEvent[]): Promise<void> {
    const { db, directory, log } = this.#options
    for (const event of await insertLimitEvents(db, events)) {
      const { servicePlanId } = directory().planById(event.planId) ?? {}
      log.warn(
        { servicePlanId, limit: describeLimitEvent(event.contents) },
        'limit of a service plan reached',
      )
    }
    this.#task.wake()
  }

  /** Pushes some of what is due. Returns 0 if more may be, as the milliseconds until the next run. */
  async runOnce(): Promise<0 | undefined> {
    const due = await takeDueLimitEvents(this.#options.db, WAITS_MS, {
      limit: MAX_BATCH,
      limitOfPlan: MAX_OF_PLAN,
    })
    await Promise.all(due.map((event) => this.#push(event)))
    return due.length > 0 ? 0 : undefined
  }

  async #push(event: StoredLimitEvent & { readonly attempt: number }): Promise<void> {
    const { db, directory, clock, post, secretKey } = this.#options
    const plan = directory().planById(event.planId)
    if (plan === undefined || plan.inboundUrl === null || !canSign(plan.account)) return
    const { account, inboundUrl } = plan
    const url = orUnreadable(() => openCallbackUrl(secretKey, inboundUrl))
    if (url === 'unreadable') return
    const { ok } = await post(account, {
      url,
      eventId: `limit-${event.id}`,
      attempt: event.attempt,
      sequence: 0,
      body: JSON.stringify(limitEventBody(event, plan)),
      timestampMs: clock(),
      isTest: false,
    })
    if (ok) await limitEventTaken(db, event.id)
  }
}

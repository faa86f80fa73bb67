import { openCallbackUrl } from '../domain/callback-credentials.ts'
import type { ServicePlan } from '../domain/configuration.ts'
import { deliveryReceipt } from '../domain/delivery-receipts.ts'
import type { Directory } from '../domain/directory.ts'
import { toInboundWebhook } from '../domain/inbound-webhooks.ts'
import { nextAttempt } from '../domain/webhook-schedule.ts'
import { signWebhook } from '../domain/webhook-signatures.ts'
import { Batcher, writeInHalves } from '../operations/batches.ts'
import type { WebhookDispatcher } from '../outbound/dispatcher.ts'
import { type DeliveryOutcome, postWebhook } from '../outbound/webhook-post.ts'
import type { Database } from '../store/database.ts'
import type { EventHolder } from '../store/submissions.ts'
import {
  type AttemptRow,
  holdDueEvents,
  type ReturnedEvent,
  recordAttempts,
  returnEvents,
  type WebhookEvent,
} from '../store/webhook-events.ts'
import type { NodeLease } from './node-lease.ts'
import { WebhookChains } from './webhook-chains.ts'

export interface WebhookDelivererOptions {
  readonly db: Database
  readonly directory: () => Directory
  readonly lease: NodeLease
  readonly dispatcher: WebhookDispatcher
  /** Opens callback URLs that carry credentials. */
  readonly secretKey: Uint8Array
  readonly onError: (message: string, error: unknown) => void
  readonly pollMs?: number
}

const POLL_MS = 250
/** Events in memory, some 1 KiB each; those beyond stay in the database. */
const MAX_HELD = 20_000
/** Requests under way to one destination (scheme, host, port). */
export const MAX_PER_DESTINATION = 64
const CROWDED_DELAY_MS = 2_000
/** Pause before an event that cannot be put together here is tried again: its plan is not known yet, or a defect. */
const UNREADY_DELAY_MS = 5_000
/** Events taken from the database at once; fewer than the least are not worth the statement. */
const MAX_CLAIM = 1_000
const MIN_CLAIM = 100
const RECORD_RETRY_MS = 500
const MAX_ATTEMPT_BATCH = 500

interface Delivery {
  readonly event: WebhookEvent
  readonly plan: ServicePlan
  readonly url: string
}

interface Destination {
  readonly waiting: WebhookEvent[]
  underWay: number
}

/** Delivers webhook events, in order for each message, and hands what became of each attempt to the database. */
export class WebhookDeliverer {
  readonly #options: WebhookDelivererOptions
  readonly #chains = new WebhookChains()
  readonly #destinations = new Map<string, Destination>()
  readonly #attempts: Batcher<AttemptRow, true>
  readonly #returns: Batcher<ReturnedEvent, true>
  readonly #abort = new AbortController()
  #recording = true
  #timer: NodeJS.Timeout | null = null
  #claiming: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(options: WebhookDelivererOptions) {
    this.#options = options
    const { db } = options
    const limits = { maxBatch: MAX_ATTEMPT_BATCH, maxInFlight: 1 }
    this.#attempts = new Batcher({
      ...limits,
      write: (rows) => this.#write(rows, (attempts) => recordAttempts(db, attempts)),
    })
    this.#returns = new Batcher({
      ...limits,
      write: (rows) => this.#write(rows, (events) => returnEvents(db, events)),
    })
  }

  /** Events in memory. */
  get held(): number {
    return this.#chains.size
  }

  /** Whether events written now are delivered from memory by this node, or found in the database later. */
  holder(): EventHolder {
    const { lease } = this.#options
    const holds = !this.#stopped && this.#recording && this.held < MAX_HELD && lease.buckets.length > 0
    return { holder: holds ? lease.nodeId : null, buckets: lease.buckets }
  }

  /** Takes events that the database says this node holds. */
  enqueue(events: readonly WebhookEvent[]): void {
    for (const event of events) {
      const next = this.#chains.add(event, performance.now())
      if (next === 'start') this.#assign(event)
      else if (next === 'refuse') this.#giveBack([event], UNREADY_DELAY_MS)
    }
  }

  start(): void {
    this.#schedule()
  }

  /** Takes events that are due from the database, as far as there is room. */
  async runOnce(): Promise<void> {
    const { db, lease } = this.#options
    const { buckets, nodeId } = lease
    const limit = Math.min(MAX_HELD - this.held, MAX_CLAIM)
    if (limit < MIN_CLAIM || buckets.length === 0 || !this.#recording) return
    const events = await holdDueEvents(db, { nodeId, buckets, limit })
    for (const event of events) this.#chains.forget(event.msgId)
    this.enqueue(events)
  }

  /** Whether events of the message are in memory. */
  holds(msgId: string): boolean {
    return this.#chains.has(msgId)
  }

  /** Drops what is not under way: after a lost lease it is another node's, or will be read again. */
  forget(): void {
    for (const destination of this.#destinations.values())
      for (const event of destination.waiting.splice(0)) this.#chains.take(event.msgId)
  }

  /** Gives events back that the table says are here, but are not. */
  disown(events: readonly Omit<ReturnedEvent, 'delay_ms'>[]): void {
    for (const event of events) void this.#returns.add({ ...event, delay_ms: 0 })
  }

  /** Ends what is under way, within `timeoutMs`, and gives everything else back. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#claiming
    for (const destination of this.#destinations.values())
      for (const event of destination.waiting.splice(0)) this.#release(event.msgId)
    const deadlineMs = performance.now() + timeoutMs
    while (this.held > 0 && performance.now() < deadlineMs)
      await new Promise((resolve) => setTimeout(resolve, 20))
    this.#abort.abort()
    while (this.held > 0 && performance.now() < deadlineMs + 1_000)
      await new Promise((resolve) => setTimeout(resolve, 20))
  }

  /** Puts the first event of its message where its receiver's turn comes. */
  #assign(event: WebhookEvent): void {
    const plan = this.#options.directory().planById(event.planId)
    if (plan === undefined) {
      // Made by a node that knew of a change before this one.
      this.#release(event.msgId, UNREADY_DELAY_MS)
      return
    }
    const url = this.#urlOf(event, plan)
    if (url === null) {
      void this.#conclude(event, 'abandoned', { error: 'NO_URL', attemptedAtMs: Date.now() })
      return
    }
    const { origin } = new URL(url)
    const destination = this.#destinations.get(origin) ?? { waiting: [], underWay: 0 }
    this.#destinations.set(origin, destination)
    if (this.#stopped) this.#release(event.msgId)
    else if (destination.underWay < MAX_PER_DESTINATION)
      void this.#deliver({ event, plan, url }, origin, destination)
    // A destination may fill what is free, so a slow one leaves half of the memory to the others.
    else if (destination.waiting.length < MAX_HELD - this.held) destination.waiting.push(event)
    else this.#release(event.msgId, CROWDED_DELAY_MS)
  }

  /** Never rejects. */
  async #deliver(delivery: Delivery, origin: string, destination: Destination): Promise<void> {
    const { event } = delivery
    destination.underWay += 1
    const attemptedAtMs = Date.now()
    const outcome = await this.#post(delivery).catch((error) => {
      this.#options.onError('webhook event not put together', error)
      return null
    })
    destination.underWay -= 1
    // Their URL may have changed since they came here, so more than one may leave.
    while (destination.underWay < MAX_PER_DESTINATION && destination.waiting.length > 0)
      this.#assign(destination.waiting.shift()!)
    if (destination.underWay === 0) this.#destinations.delete(origin)
    if (outcome === null || outcome.error === 'ABORTED') {
      this.#release(event.msgId, outcome === null ? UNREADY_DELAY_MS : 0)
      return
    }
    const decision = decide(event, outcome)
    await this.#conclude(event, decision.outcome, { ...outcome, attemptedAtMs, delayMs: decision.delayMs })
  }

  async #post({ event, plan, url }: Delivery): Promise<DeliveryOutcome> {
    const { dispatcher } = this.#options
    const body = JSON.stringify(
      event.body.direction === 'MT'
        ? deliveryReceipt(event.body.message, plan)
        : toInboundWebhook(event.body.inbound, plan),
    )
    const signature = signWebhook(
      { id: `${event.msgId}-${event.seq}`, timestampMs: Date.now(), body },
      plan.account.webhookSecrets,
    )
    const headers = { 'content-type': 'application/json', 'user-agent': 'Aldis', ...signature }
    const { webhookHeaders: accountHeaders } = plan.account
    return await postWebhook(dispatcher, { url, body, headers, accountHeaders, signal: this.#abort.signal })
  }

  /** Writes the attempt down, then lets the message's next event follow. */
  async #conclude(
    event: WebhookEvent,
    outcome: AttemptRow['outcome'],
    made: Partial<Omit<DeliveryOutcome, 'error'>> & {
      attemptedAtMs: number
      error: string | null
      delayMs?: number
    },
  ): Promise<void> {
    await this.#attempts.add({
      plan_id: event.planId,
      msg_id: event.msgId,
      seq: event.seq,
      holder: event.holder,
      attempt: event.attempt + 1,
      attempted_at: new Date(made.attemptedAtMs).toISOString(),
      latency_ms: made.latencyMs ?? 0,
      response_status: made.status ?? null,
      error: made.error,
      response_head: made.responseHead === '' ? null : (made.responseHead ?? null),
      outcome,
      delay_ms: made.delayMs ?? 0,
    })
    if (outcome === 'delivered' || outcome === 'abandoned') {
      const next = this.#chains.advance(event.msgId)
      if (next !== null) this.#assign(next)
      return
    }
    this.#giveBack(this.#chains.postpone(event.msgId, performance.now()).slice(1), made.delayMs ?? 0)
  }

  /** Gives a message's events back to the database, none of them attempted. */
  #release(msgId: string, delayMs = 0): void {
    this.#giveBack(this.#chains.postpone(msgId, performance.now()), delayMs)
  }

  #giveBack(events: readonly WebhookEvent[], delayMs: number): void {
    for (const { msgId, seq, holder } of events)
      void this.#returns.add({ msg_id: msgId, seq, holder, delay_ms: delayMs })
  }

  /** Keeps trying: what is not written down would be done again, or by nobody. Ends only with the node. */
  async #write<Row>(
    rows: readonly Row[],
    write: (rows: readonly Row[]) => Promise<void>,
  ): Promise<readonly true[]> {
    for (;;) {
      try {
        const all = async (part: readonly Row[]) => {
          await write(part)
          return part.map((): true => true)
        }
        await writeInHalves(rows, all, (_row, error) => {
          this.#options.onError('webhook outcome refused by the database', error)
          return true
        })
        this.#recording = true
        break
      } catch (error) {
        this.#recording = false
        this.#options.onError('webhook outcomes not recorded yet', error)
        if (this.#abort.signal.aborted) break
        await new Promise((resolve) => setTimeout(resolve, RECORD_RETRY_MS))
      }
    }
    return rows.map(() => true)
  }

  #urlOf(event: WebhookEvent, plan: ServicePlan): string | null {
    const stored =
      event.body.direction === 'MO'
        ? plan.inboundUrl
        : (event.body.message.callbackUrl ?? plan.account.defaultDlrUrl)
    if (stored == null) return null
    try {
      return openCallbackUrl(this.#options.secretKey, stored)
    } catch (error) {
      this.#options.onError('callback URL cannot be opened', error)
      return null
    }
  }

  #schedule(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#claiming = this.runOnce()
        .catch((error) => this.#options.onError('due webhook events not read', error))
        .then(() => this.#schedule())
    }, this.#options.pollMs ?? POLL_MS)
  }
}

/** 2xx ends the event, 410 parks it, everything else is tried again until the schedule is over. */
function decide(
  event: WebhookEvent,
  outcome: DeliveryOutcome,
): { outcome: AttemptRow['outcome']; delayMs: number } {
  if (outcome.kind === 'success') return { outcome: 'delivered', delayMs: 0 }
  if (outcome.gone) return { outcome: 'abandoned', delayMs: 0 }
  const next = nextAttempt(event.attempt + 1, { random: Math.random(), retryAfterMs: outcome.retryAfterMs })
  return next === 'exhausted'
    ? { outcome: 'abandoned', delayMs: 0 }
    : { outcome: 'again', delayMs: next.delayMs }
}

import { BoundedMap } from '../../collections/bounded-map.ts'
import { canSign, type ServicePlan, type SigningAccount } from '../../domain/configuration/configuration.ts'
import { eventBody } from '../../domain/events.ts'
import { eventId } from '../../domain/identifiers.ts'
import type { SecretKeys } from '../../domain/secrets.ts'
import {
  DeliveryScheduler,
  type InFlightLimits,
  type Scheduled,
} from '../../domain/webhooks/delivery-scheduler.ts'
import type { Webhook } from '../../domain/webhooks/requests.ts'
import { afterAttempt, CROWDED_MS, isOwnUrlGone, SCHEDULE_MS } from '../../domain/webhooks/retries.ts'
import { type Endpoint, type WebhookTarget, webhookTarget } from '../../domain/webhooks/targets.ts'
import type { BatchMeter, OnWritten } from '../../operations/batches.ts'
import { type DeliveryOutcome, UNANSWERED } from '../../outbound/webhook-post.ts'
import type { WebhookSender } from '../../outbound/webhook-sender.ts'
import type { AttemptRow, RequeuedEvent, WebhookEvent } from '../../store/event-deliveries.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { eventTakenFact } from '../messages/journal-items.ts'
import type { MessagesInProgress } from '../messages/messages-in-progress.ts'
import type { NodeLease } from '../node/node-lease.ts'
import type { Destinations } from './destinations.ts'
import { DueEvents } from './due-events.ts'
import { EventMemory } from './event-memory.ts'
import { MessageOrder } from './message-order.ts'
import { attemptRow, OutcomeWriter } from './outcome-writer.ts'

export interface DelivererOptions extends Pick<NodeParts, 'db' | 'directory' | 'log' | 'clock'> {
  readonly lease: NodeLease
  readonly sender: Pick<WebhookSender, 'post' | 'abort'>
  readonly destinations: Destinations
  readonly inProgress: Pick<MessagesInProgress, 'eventTaken' | 'project' | 'away'>
  /** Decrypts callback URLs that carry credentials. */
  readonly secretKey: SecretKeys
  readonly limits?: InFlightLimits
  /** Messages with events in memory. */
  readonly maxHeld?: number | undefined
  readonly onAttempt?: (event: WebhookEvent, outcome: DeliveryOutcome) => void
  readonly onBatch?: BatchMeter
  readonly onWritten?: OnWritten | undefined
}

/**
 * Pause before the retry of an event whose plan this node does not know yet. It is also the first pause after an event could
 * not be built, or after the thread that was sending it died; that pause doubles each time.
 */
const UNREADY_DELAY_MS = 5_000
/** Also the pause before an event is retried whose URL, or the secrets of its account, cannot be decrypted. */
const MOST_UNREADY_DELAY_MS = 600_000
const LOG_UNREADABLE_EVERY_MS = 60_000
/** Events whose failures are counted. The thread has at most 1,024 events when it dies. */
const MAX_UNSENT = 10_000
/** How long deliveries that were aborted at the end have to be recorded. */
const RECORDING_MS = 1_000

interface Delivery extends Scheduled<Delivery>, WebhookTarget {
  readonly event: WebhookEvent
  readonly plan: ServicePlan
  readonly account: SigningAccount
  /** The event is sent to find out whether its destination has recovered. */
  readonly probes: boolean
}

/** Delivers webhook events, in order for each message, and records the outcome of each attempt. */
export class Deliverer {
  readonly #options: DelivererOptions
  readonly #order: MessageOrder
  readonly #scheduler: DeliveryScheduler<Delivery>
  readonly #outcomes: OutcomeWriter
  readonly #memory: EventMemory
  /** How often an event was not sent, because of a defect or because the thread that had it died; by event id. */
  readonly #unsent = new BoundedMap<string, number>(MAX_UNSENT)
  /** Takes events from the database. */
  readonly due: DueEvents
  #loggedUnreadableAtMs = Number.NEGATIVE_INFINITY
  #stopped = false
  readonly #unfollow: () => void

  constructor(options: DelivererOptions) {
    this.#options = options
    const { destinations, maxHeld } = options
    this.#scheduler = new DeliveryScheduler(options.limits)
    this.#memory = new EventMemory({ scheduler: this.#scheduler, destinations, maxHeld })
    this.#order = new MessageOrder(this.#memory.room)
    this.#outcomes = new OutcomeWriter(options)
    this.due = new DueEvents({
      ...options,
      memory: this.#memory,
      outcomes: this.#outcomes,
      isInMemory: (msgId, sequence) => this.#order.hasEvent(msgId, sequence),
      parkTroubled: () => this.#parkTroubled(),
      enqueue: (events, probed) => this.#enqueueLoaded(events, probed),
    })
    this.#unfollow = options.lease.onChange(() => this.#pump())
  }

  /** Messages with events in memory: one takes a place, however many events it has. */
  get heldMessages(): number {
    return this.#memory.room.taken
  }

  /** Requests in flight. */
  get inFlight(): number {
    return this.#scheduler.inFlight
  }

  /** How many more messages of a plan have room in memory for their events. */
  roomFor(planId: number): number {
    return this.#memory.roomFor(planId)
  }

  /** Takes events that are committed, in the journal or as rows, and are this node's to deliver. */
  enqueue(events: readonly WebhookEvent[]): void {
    for (const event of events) {
      const next = this.#order.add(event, performance.now())
      if (next === 'start') this.#assign(event)
      else if (next === 'refuse') void this.#requeueEvents([event], UNREADY_DELAY_MS)
    }
    this.#pump()
  }

  start(): void {
    this.due.start()
  }

  /** Drops everything. After a lost lease the events are another node's, or will be read again. */
  dropAll(): void {
    this.#scheduler.takeAll()
    this.#order.dropAll()
  }

  /** Waits up to `timeoutMs` for deliveries in flight, and requeues everything else. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopped = true
    this.#unfollow()
    await this.due.stop()
    for (const { event } of this.#scheduler.takeAll()) void this.#requeue(event.msgId, 0)
    await this.due.drain(timeoutMs)
    this.#options.sender.abort()
    this.#outcomes.end()
    await this.due.drain(RECORDING_MS)
  }

  /** Takes events that were read from the database, for this node to hold. `probed`: the endpoint that they are to probe. */
  #enqueueLoaded(events: readonly WebhookEvent[], probed?: Endpoint): void {
    for (const event of events) {
      this.#order.loaded(event.msgId)
      if (this.#order.add(event, performance.now()) === 'start') this.#assign(event, probed)
    }
    this.#pump()
  }

  /** Puts a message's first event into its endpoint, or requeues it. `probed`: it was taken to probe this endpoint. */
  #assign(event: WebhookEvent, probed?: Endpoint): void {
    const { destinations, directory } = this.#options
    const plan = directory().planById(event.planId)
    // The event was made by a node that knew of a change before this one.
    if (plan === undefined) return void this.#requeue(event.msgId, UNREADY_DELAY_MS)
    const { account } = plan
    if (!canSign(account)) return void this.#requeue(event.msgId, MOST_UNREADY_DELAY_MS)
    const target = this.#targetOf(event, plan)
    if (target === 'unreadable') return void this.#requeue(event.msgId, MOST_UNREADY_DELAY_MS)
    const probes = probed !== undefined && probed.destination === target?.destination
    // The URL has changed since the event was parked. Others parked there go elsewhere too, or find out again.
    if (probed !== undefined && !probes) destinations.closeBreaker(probed)
    if (target === null) {
      void this.#keep(event)
      return
    }
    const delivery: Delivery = {
      planId: plan.id,
      event,
      plan,
      account,
      ...target,
      probes,
      next: null,
      previous: null,
    }
    const state = destinations.stateOf(delivery)
    const leftMs = this.#leftMs(event)
    if (this.#stopped) void this.#requeue(event.msgId, 0)
    else if (state === 'paused') void this.#park(delivery, null)
    else if (state === 'open' && !probes && leftMs > 0) void this.#park(delivery, leftMs)
    else if (probes || this.#memory.admits(delivery)) this.#scheduler.add(delivery)
    else void this.#park(delivery, CROWDED_MS)
  }

  async #park(delivery: Delivery, delayMs: number | null): Promise<void> {
    await this.#requeue(delivery.event.msgId, delayMs, delivery.destination)
    this.#memory.parked(delivery)
  }

  /** Starts every delivery that may start, but none while the lease may be over: another node may be delivering the event. */
  #pump(): void {
    if (!this.#options.lease.alive) return
    for (let next = this.#scheduler.next(); next !== null; next = this.#scheduler.next()) this.#deliver(next)
  }

  #deliver(delivery: Delivery): void {
    const { event } = delivery
    if (event.holder !== this.#options.lease.nodeId) {
      // This node asked the database under a lease that was over before the answer came.
      this.#order.drop(event.msgId)
      this.#scheduler.ended(delivery)
      return
    }
    const attemptedAtMs = this.#options.clock()
    let webhook: Webhook
    try {
      webhook = webhookOf(delivery, attemptedAtMs)
    } catch (error) {
      this.#options.log.error({ err: error }, 'webhook event could not be built')
      this.#ended(delivery, null, attemptedAtMs)
      return
    }
    this.#options.sender.post(delivery.account, webhook, (outcome) =>
      this.#ended(delivery, outcome, attemptedAtMs),
    )
  }

  #ended(delivery: Delivery, outcome: DeliveryOutcome | null, attemptedAtMs: number): void {
    const { event } = delivery
    this.#scheduler.ended(delivery)
    const isStillFirst = this.#order.isFirst(event)
    if (outcome === null || outcome.error === 'ABORTED') {
      const isStopping = this.#stopped || !this.#options.lease.alive
      if (isStillFirst) void this.#requeue(event.msgId, isStopping ? 0 : this.#unsentDelayMs(event))
    } else if (isStillFirst) {
      this.#conclude(delivery, outcome, attemptedAtMs)
    } else {
      // The event has left memory meanwhile, and is decided elsewhere. It still shows how its destination is.
      this.#reportToBreaker(delivery, outcome)
    }
    this.#pump()
  }

  /** This very event may have ended the thread, so it must not be retried at once again and again. */
  #unsentDelayMs(event: WebhookEvent): number {
    const id = eventId(event)
    const times = this.#unsent.get(id) ?? 0
    this.#unsent.set(id, times + 1)
    return Math.min(UNREADY_DELAY_MS * 2 ** times, MOST_UNREADY_DELAY_MS)
  }

  /** Acts on the result of an attempt. Usually the message is in memory and all went well. */
  #conclude(delivery: Delivery, outcome: DeliveryOutcome, attemptedAtMs: number): void {
    const { event } = delivery
    const { inProgress, onAttempt } = this.#options
    onAttempt?.(event, outcome)
    const decided = this.#decide(delivery, outcome, this.#reportToBreaker(delivery, outcome))
    const isFirstSuccess =
      event.earlierAttempts + event.failedAttempts === 0 && decided.decision === 'delivered'
    // The next event waits for this COMMIT, also one that is announced before it. Otherwise, if the node died, a receiver could
    // see this one again after it.
    const onCommitted = (isCommitted: boolean) => this.#followUp(event, isCommitted ? 'delivered' : 'lost')
    const isAdded =
      isFirstSuccess &&
      inProgress.eventTaken(event.msgId, eventTakenFact(delivery, outcome, attemptedAtMs), onCommitted)
    if (!isAdded) void this.#record(delivery, attemptRow(delivery, outcome, decided, attemptedAtMs))
  }

  /** Records the attempt, then goes on to the message's next event. */
  async #record(delivery: Delivery, attempt: AttemptRow): Promise<void> {
    await this.#outcomes.record(attempt)
    // Written while its breaker opened, the event may have come too late to be parked with the others.
    const { destinations } = this.#options
    if (attempt.decision === 'again' && destinations.stateOf(delivery) === 'open') destinations.park(delivery)
    if (attempt.decision === 'parked') this.#memory.parked(delivery)
    this.#followUp(delivery.event, attempt.decision)
  }

  /** Reports to the destination's breaker. Returns whether it is in trouble now; then its events in memory are being parked. */
  #reportToBreaker(delivery: Delivery, outcome: DeliveryOutcome): boolean {
    const { destinations } = this.#options
    // The destination answers, and its answer ends the event.
    if (outcome.ok || isOwnUrlGone(outcome, delivery.own)) {
      destinations.recordSuccess(delivery)
      return false
    }
    const isTroubled = destinations.recordFailure(delivery, outcome.error ?? 'HTTP_STATUS', outcome.gone)
    if (isTroubled) this.#parkHeld(delivery)
    return isTroubled
  }

  /** What becomes of the event. */
  #decide(
    delivery: Delivery,
    outcome: DeliveryOutcome,
    isTroubled: boolean,
  ): Pick<AttemptRow, 'decision' | 'delayMs'> {
    const { event, own } = delivery
    const leftMs = this.#leftMs(event)
    if (isTroubled) {
      if (this.#options.destinations.stateOf(delivery) === 'paused')
        return { decision: 'parked', delayMs: null }
      return leftMs > 0 ? { decision: 'parked', delayMs: leftMs } : { decision: 'failed', delayMs: 0 }
    }
    const decided = afterAttempt(event.failedAttempts, outcome, { own, leftMs, random: Math.random() })
    return { decision: decided.kind, delayMs: decided.kind === 'again' ? decided.delayMs : 0 }
  }

  /** Time until the end of its schedule. */
  #leftMs({ beganAtMs }: WebhookEvent): number {
    return beganAtMs + SCHEDULE_MS - this.#options.clock()
  }

  /** `lost`: the attempt was lost with its lane, whose new owner delivers the next events, and perhaps this one before them. */
  #followUp(event: WebhookEvent, decision: AttemptRow['decision'] | 'lost'): void {
    if (!this.#order.isFirst(event)) return
    if (decision === 'lost') this.#order.drop(event.msgId)
    if (decision === 'again' || decision === 'parked') {
      // The first is requeued already, with its attempt, and may even be done.
      void this.#requeueMessage(event.msgId, ([, ...behind]) => this.#requeueEvents(behind, 'behind'))
      return
    }
    const next = this.#order.advance(event.msgId)
    if (next !== null) this.#assign(next)
    this.#pump()
  }

  /** Parks the events in memory that wait for a destination in trouble. */
  #parkHeld(endpoint: Endpoint): void {
    for (const { event, probes } of this.#scheduler.takeFrom(endpoint))
      this.#assign(event, probes ? endpoint : undefined)
  }

  /** Another node, or a person, has put destinations into trouble meanwhile. */
  #parkTroubled(): void {
    const { destinations } = this.#options
    for (const state of ['open', 'paused'] as const)
      for (const endpoint of destinations.inState(state))
        if (this.#scheduler.waiting(endpoint) > 0) this.#parkHeld(endpoint)
  }

  /** There is no URL any more. The event is kept, and can be delivered when there is one. */
  async #keep(event: WebhookEvent): Promise<void> {
    const kept = { decision: 'kept', delayMs: 0 } as const
    await this.#outcomes.record(
      attemptRow({ event, destination: null }, UNANSWERED, kept, this.#options.clock()),
    )
    this.#followUp(event, 'kept')
  }

  /** Requeues a message's events without an attempt. The first is parked if a destination is named. */
  #requeue(msgId: string, delayMs: number | null, destination: string | null = null): Promise<void> {
    return this.#requeueMessage(msgId, async ([first, ...behind]) => {
      if (first === undefined) return
      // Written in this order, because the end of the first makes those behind it due, if they have been requeued.
      void this.#requeueEvents(behind, delayMs)
      await this.#requeueEvents([first], delayMs, destination)
    })
  }

  async #requeueMessage(
    msgId: string,
    write: (events: readonly WebhookEvent[]) => Promise<void>,
  ): Promise<void> {
    const requeued = this.#order.takeOut(msgId)
    await write(requeued.events)
    this.#order.written(requeued, performance.now())
  }

  async #requeueEvents(
    events: readonly WebhookEvent[],
    delayMs: RequeuedEvent['delayMs'],
    destination: string | null = null,
  ): Promise<void> {
    const change = { delayMs, destination }
    await this.#outcomes.requeue(
      events.map(({ planId, msgId, sequence, holder }) => ({ planId, msgId, sequence, holder, ...change })),
    )
  }

  /** `unreadable`: this node cannot decrypt its URL. Another node may, or this one when it has the key. */
  #targetOf(event: WebhookEvent, plan: ServicePlan): WebhookTarget | null | 'unreadable' {
    try {
      return webhookTarget(event.payload, plan, this.#options.secretKey)
    } catch (error) {
      const nowMs = performance.now()
      if (nowMs - this.#loggedUnreadableAtMs >= LOG_UNREADABLE_EVERY_MS) {
        this.#loggedUnreadableAtMs = nowMs
        this.#options.log.error({ err: error, eventId: eventId(event) }, 'webhook URL cannot be decrypted')
      }
      return 'unreadable'
    }
  }
}

function webhookOf({ event, plan, url, isDlrUrl }: Delivery, timestampMs: number): Webhook {
  return {
    url,
    eventId: eventId(event),
    attempt: event.earlierAttempts + event.failedAttempts + 1,
    sequence: event.sequence,
    body: isDlrUrl ? '' : JSON.stringify(eventBody(event.payload, plan)),
    timestampMs,
    isTest: false,
  }
}

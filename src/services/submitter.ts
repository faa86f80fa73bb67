import { canonicalId, idRuleOf } from '../domain/carrier-message-ids.ts'
import type { Carrier, Directory, ServicePlan } from '../domain/directory.ts'
import { fromSubmitStatus } from '../domain/error-codes.ts'
import { createdAtMs, messageId } from '../domain/message-ids.ts'
import { chooseCarrier } from '../domain/routing.ts'
import { nextTryMs } from '../domain/submit-outcomes.ts'
import type { Placement } from '../operations/accept-messages.ts'
import type { ResponsePdu } from '../smpp/pdu.ts'
import { STATUSES } from '../smpp/statuses.ts'
import type { Database } from '../store/database.ts'
import { type Dispatch, holdDueDispatches } from '../store/dispatches.ts'
import type { CarrierLink } from './carrier-link.ts'
import type { CarrierLinks } from './carrier-links.ts'
import { CarrierQueue } from './carrier-queue.ts'
import type { NodeLease } from './node-lease.ts'
import type { Recorder } from './recorder.ts'
import {
  type DispatchChange,
  postponement,
  type SubmitJob,
  type SubmitToken,
  submitJob,
  submitSm,
} from './submit-job.ts'

export interface SubmitterOptions {
  readonly db: Database
  readonly directory: () => Directory
  readonly lease: NodeLease
  readonly links: () => CarrierLinks<SubmitToken>
  readonly recorder: Recorder
  readonly random: (bytes: number) => Uint8Array
  readonly onError: (message: string, error: unknown) => void
  /** How long an ambiguous submit waits for news before it is decided. Default 120 s. */
  readonly ambiguityWaitMs?: number
  readonly pollMs?: number
}

export const AMBIGUITY_WAIT_MS = 120_000
const POLL_MS = 200
/** Messages in memory; those beyond stay in the database, in the order they became due. */
const MAX_HELD = 5_000
/** Outcomes not yet written beyond which nothing more is sent. */
const MAX_BACKLOG = 5_000
/** Pause before a message whose carriers are all down is looked at again. */
const NO_CARRIER_MS = 1_000
/** Messages taken from the database at once; fewer than the least are not worth the statement. */
const MAX_CLAIM = 1_000
const MIN_CLAIM = 100
/** How often messages are looked for whose validity ended while no carrier of theirs was there. */
const EXPIRED_MS = 5_000

/** Sends held messages to their carriers as fast as windows and limits allow, and hands every outcome to the recorder. */
export class Submitter implements Placement {
  readonly #options: SubmitterOptions
  readonly #queues = new Map<number, CarrierQueue>()
  /** Messages in memory or about to be: queued, under way, or promised room by `place` (null). */
  readonly #inMemory = new Map<string, SubmitJob | null>()
  /** Answered 500, and perhaps in the database until the accepter has refused them there. */
  readonly #refused = new Set<string>()
  /** Room for what is being read from the database. */
  #reserved = 0
  #timer: NodeJS.Timeout | null = null
  #claiming: Promise<void> = Promise.resolve()
  #expiredAtMs = Number.NEGATIVE_INFINITY
  #stopped = false

  constructor(options: SubmitterOptions) {
    this.#options = options
  }

  get held(): number {
    return this.#inMemory.size + this.#reserved
  }

  // Placement of accepted messages.

  place(plan: ServicePlan): { msgId: string; holder: number | null } {
    const { lease, random, recorder } = this.#options
    const msgId = messageId(Date.now(), random(9), lease.nextBucket())
    const holds =
      !this.#stopped &&
      this.held < MAX_HELD &&
      lease.buckets.length > 0 &&
      !recorder.failing &&
      this.#canSubmit(plan)
    if (holds) this.#inMemory.set(msgId, null)
    return { msgId, holder: holds ? lease.nodeId : null }
  }

  keep(dispatch: Dispatch): void {
    this.#enqueue(dispatch)
  }

  release(msgId: string): void {
    this.#inMemory.delete(msgId)
  }

  refuse(msgId: string): void {
    this.#refused.add(msgId)
  }

  refused(msgId: string): void {
    this.#refused.delete(msgId)
  }

  start(): void {
    this.#schedule()
  }

  /** Takes what is due from the database into memory, as far as there is room. */
  async runOnce(): Promise<void> {
    const { db, directory, lease, recorder } = this.#options
    const limit = Math.min(MAX_HELD - this.held, MAX_CLAIM)
    const planIds = directory()
      .contents.plans.filter((plan) => this.#canSubmit(plan))
      .map((plan) => plan.id)
    const { buckets, nodeId } = lease
    const expired = performance.now() - this.#expiredAtMs >= EXPIRED_MS
    const wanted = planIds.length > 0 || expired
    if (limit < MIN_CLAIM || !wanted || buckets.length === 0 || recorder.failing) return
    if (expired) this.#expiredAtMs = performance.now()
    this.#reserved = limit
    try {
      const taken = await holdDueDispatches(db, { nodeId, buckets, planIds, expired, limit })
      for (const dispatch of taken) if (!this.#refused.has(dispatch.msgId)) this.#enqueue(dispatch)
    } finally {
      this.#reserved = 0
    }
  }

  /** Whether the message is in memory. */
  holds(msgId: string): boolean {
    return this.#inMemory.has(msgId)
  }

  /** Drops what is not under way: after a lost lease it is another node's, or will be read again. */
  forget(): void {
    for (const queue of this.#queues.values())
      for (const job of queue.jobs.splice(0))
        if (job.progress.end?.kind === 'unfinished') this.#inMemory.delete(job.dispatch.msgId)
  }

  /** Stops taking work, waits for what is under way, gives back what was not sent. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#claiming
    for (const queue of this.#queues.values()) {
      if (queue.timer !== null) clearTimeout(queue.timer)
      // Those with a segment under way follow when it is answered.
      for (const job of queue.jobs.splice(0)) if (job.progress.end?.kind === 'unfinished') this.#giveBack(job)
    }
    const deadlineMs = performance.now() + timeoutMs
    while (this.held > 0 && performance.now() < deadlineMs)
      await new Promise((resolve) => setTimeout(resolve, 20))
  }

  // What the links tell.

  onReady(link: CarrierLink<SubmitToken>): void {
    this.#pump(link.carrier.id)
  }

  onResponse({ job, segment }: SubmitToken, pdu: ResponsePdu, link: CarrierLink<SubmitToken>): void {
    // A generic_nack without a reason is still no acceptance.
    const status = pdu.command === 'generic_nack' ? pdu.status || STATUSES.ESME_RUNKNOWNERR : pdu.status
    const kind = job.progress.answered(segment, status)
    if (kind === 'accepted') this.#queue(job.carrier).throttle.accepted(performance.now())
    if (kind === 'accepted') this.#accepted(job, segment, pdu)
    if (kind === 'throttled') this.#queue(job.carrier).throttle.throttled(performance.now(), performance.now())
    if (kind === 'rebind') link.rebind()
    this.#advance(job)
    this.#pump(job.carrier.id)
  }

  onTimeout({ job }: SubmitToken): void {
    job.progress.lost()
    this.#advance(job)
    this.#pump(job.carrier.id)
  }

  /** The message was postponed as ambiguous; now its fate is known, and a waiting dispatch ends with the settlement. */
  onLateResponse({ job, segment }: SubmitToken, pdu: ResponsePdu): void {
    if (pdu.status !== 0 || pdu.command === 'generic_nack') return
    this.#accepted(job, segment, pdu)
    job.progress.accepted |= 1n << BigInt(segment)
    if (job.progress.accepted !== (1n << BigInt(job.text.pdus.length)) - 1n) return
    // Queued again meanwhile: it need not be sent any more.
    const again = this.#inMemory.get(job.dispatch.msgId)
    if (again?.progress.end?.kind === 'unfinished') this.#queue(again.carrier).remove(again)
    else if (again != null) return
    this.#settle(job.dispatch, 'SENT', { carrier: job.carrier })
  }

  onLost(tokens: SubmitToken[], link: CarrierLink<SubmitToken>): void {
    for (const { job } of tokens) job.progress.lost()
    for (const job of new Set(tokens.map((token) => token.job))) this.#advance(job)
    const queue = this.#queues.get(link.carrier.id)
    if (queue === undefined || this.#options.links().canSubmit(link.carrier.id)) return
    // The carrier is down: its messages go to another of their route, or wait in the database.
    for (const job of queue.jobs.splice(0)) {
      // One with a segment under way on a former link follows when that is answered, or lost.
      if (job.progress.end?.kind === 'unfinished')
        this.#enqueue({ ...job.dispatch, submittedSegments: job.progress.accepted })
    }
  }

  // Sending.

  #canSubmit(plan: ServicePlan): boolean {
    const links = this.#options.links()
    return plan.active && (plan.route?.carriers.some((c) => links.canSubmit(c.carrierId)) ?? false)
  }

  #enqueue(dispatch: Dispatch): void {
    this.#inMemory.set(dispatch.msgId, null)
    const { directory, links } = this.#options
    const plan = directory().planById(dispatch.planId)
    if (dispatch.expiresAt.getTime() <= Date.now()) {
      this.#expire(dispatch)
      return
    }
    // One that may have come through before they opted out is not said to have failed.
    if (dispatch.ambiguous && (plan?.ambiguousSubmits === 'unknown' || dispatch.optedOut)) {
      this.#settle(dispatch, 'UNKNOWN', { errorCode: '103' })
      return
    }
    if (dispatch.optedOut) {
      this.#settle(dispatch, 'FAILED', { errorCode: '307' })
      return
    }
    const routed =
      plan && !this.#stopped ? directory().routeFor(plan, dispatch.sender, dispatch.recipient) : null
    const conditionOf = (id: number) => (links().canSubmit(id) ? 'usable' : 'unbound')
    const choice = routed === null ? null : chooseCarrier(routed, conditionOf, Math.random())
    const carrier = choice === null ? undefined : directory().carrierById(choice.carrierId)
    if (carrier === undefined) {
      this.#postpone(dispatch, { delayMs: this.#stopped ? 0 : NO_CARRIER_MS })
      return
    }
    const job = submitJob(dispatch, carrier, plan)
    this.#inMemory.set(dispatch.msgId, job)
    this.#queue(carrier).jobs.push(job)
    this.#pump(carrier.id)
  }

  #queue(carrier: Carrier): CarrierQueue {
    const queue = this.#queues.get(carrier.id) ?? new CarrierQueue()
    this.#queues.set(carrier.id, queue)
    return queue
  }

  /** Sends as much as window, rate and recorder allow. */
  #pump(carrierId: number): void {
    const queue = this.#queues.get(carrierId)
    const { directory, lease, links, recorder } = this.#options
    if (queue === undefined || queue.timer !== null) return
    queue.limitTo(directory().carrierById(carrierId)?.messagesPerSecond ?? null)
    let sent = 0
    while (sent < queue.jobs.length) {
      const link = links().freest(carrierId)
      if (link === null) break
      if (recorder.failing || recorder.backlog > MAX_BACKLOG || !lease.alive) {
        this.#pumpAfter(queue, carrierId, POLL_MS)
        break
      }
      const waitMs = queue.throttle.waitMs(performance.now())
      if (waitMs > 0) {
        this.#pumpAfter(queue, carrierId, waitMs)
        break
      }
      const job = queue.jobs[sent]!
      if (job.dispatch.expiresAt.getTime() <= Date.now() && job.progress.end?.kind === 'unfinished') {
        queue.jobs.splice(sent, 1)
        this.#expire(job.dispatch)
        continue
      }
      if (!this.#sendNext(job, link)) break
      queue.throttle.sent(performance.now())
      // One that fits no PDU has left the queue already.
      if (job.progress.next === null && queue.jobs[sent] === job) sent += 1
    }
    if (sent > 0) queue.jobs.splice(0, sent)
  }

  #pumpAfter(queue: CarrierQueue, carrierId: number, waitMs: number): void {
    queue.timer = setTimeout(() => {
      queue.timer = null
      this.#pump(carrierId)
    }, waitMs)
  }

  #sendNext(job: SubmitJob, link: CarrierLink<SubmitToken>): boolean {
    const segment = job.progress.next
    if (segment === null) return true
    try {
      if (!link.submit(submitSm(job, segment), { job, segment })) return false
    } catch (error) {
      this.#options.onError('message does not fit a PDU', error)
      job.progress.sent()
      job.progress.answered(segment, STATUSES.ESME_RINVMSGLEN)
      this.#advance(job)
      return true
    }
    job.progress.sent()
    return true
  }

  // Outcomes.

  #accepted({ carrier, dispatch }: SubmitJob, segment: number, pdu: ResponsePdu): void {
    const id = pdu.command === 'submit_sm_resp' ? pdu.message_id : ''
    if (id === '') return
    this.#options.recorder.submitted({
      carrier_id: carrier.id,
      carrier_message_id: canonicalId(id, idRuleOf(carrier), 'submit'),
      msg_id: dispatch.msgId,
      plan_id: dispatch.planId,
      segment,
    })
  }

  /** Draws the consequence when no segment of the message is under way. */
  #advance(job: SubmitJob): void {
    const { end } = job.progress
    if (end === null) return
    if (end.kind === 'unfinished') {
      this.#resume(job)
      return
    }
    // One of a single segment is never in the queue while it is under way.
    if (job.text.pdus.length > 1) this.#queue(job.carrier).remove(job)
    const { carrier, dispatch } = job
    if (end.kind === 'sent') this.#settle(dispatch, 'SENT', { carrier })
    else if (end.kind === 'failed') this.#settle(dispatch, 'FAILED', { carrier, ...end })
    else if (end.kind === 'retry') this.#retry(job, end)
    else {
      const delayMs = this.#options.ambiguityWaitMs ?? AMBIGUITY_WAIT_MS
      this.#postpone(dispatch, { delayMs, ambiguous: true, accepted: job.progress.accepted })
    }
  }

  /** Back to the front of the queue: throttled, or interrupted by a rebind. Its place is kept while it is being sent. */
  #resume(job: SubmitJob): void {
    const { jobs } = this.#queue(job.carrier)
    if (this.#stopped) this.#giveBack(job)
    else if (!jobs.includes(job)) jobs.unshift(job)
  }

  #retry(job: SubmitJob, { limited, commandStatus }: { limited: boolean; commandStatus: number }): void {
    const attempt = job.dispatch.attempt + 1
    const ageMs = Date.now() - createdAtMs(job.dispatch.msgId)
    const kind = limited ? 'limited-retry' : 'retry'
    const delayMs = nextTryMs(kind, { attempt, ageMs, jitter: Math.random() })
    if (delayMs !== null) {
      this.#postpone(job.dispatch, { delayMs, attempt, accepted: job.progress.accepted })
      return
    }
    const errorCode = limited ? fromSubmitStatus(commandStatus).errorCode : '501'
    this.#settle(job.dispatch, 'FAILED', { carrier: job.carrier, errorCode, commandStatus })
  }

  #settle(
    dispatch: Dispatch,
    status: 'SENT' | 'FAILED' | 'UNKNOWN',
    how: { carrier?: Carrier; errorCode?: string; commandStatus?: number } = {},
  ): void {
    this.#inMemory.delete(dispatch.msgId)
    const { carrier, errorCode = '000', commandStatus } = how
    this.#options.recorder.settle({
      plan_id: dispatch.planId,
      msg_id: dispatch.msgId,
      status,
      carrier_id: carrier?.id ?? null,
      error_code: errorCode,
      carrier_code: commandStatus === undefined ? null : `0x${commandStatus.toString(16).padStart(8, '0')}`,
      route_id: null,
      route_reason: null,
      segments: null,
      mccmnc: null,
      price: null,
      ptf: null,
      currency: null,
      attempt: null,
    })
  }

  #giveBack(job: SubmitJob): void {
    this.#postpone(job.dispatch, { delayMs: 0, accepted: job.progress.accepted })
  }

  #postpone(dispatch: Dispatch, change: DispatchChange): void {
    this.#inMemory.delete(dispatch.msgId)
    this.#options.recorder.postpone(postponement(dispatch, change))
  }

  /** Validity is over: FAILED, unless an attempt of it may have come through. */
  #expire(dispatch: Dispatch): void {
    if (dispatch.ambiguous) this.#settle(dispatch, 'UNKNOWN', { errorCode: '103' })
    else this.#settle(dispatch, 'FAILED', { errorCode: '501' })
  }

  #schedule(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#claiming = this.runOnce()
        .catch((error) => this.#options.onError('due messages not read', error))
        .then(() => this.#schedule())
    }, this.#options.pollMs ?? POLL_MS)
  }
}

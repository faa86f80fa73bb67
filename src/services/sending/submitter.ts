import type { HeldGroup } from '../../domain/backlog.ts'
import { nextTryMs, RebindCounts, resubmitDelayMs } from '../../domain/carriers/retries.ts'
import { submitResultOf } from '../../domain/carriers/statuses.ts'
import type { SubmitRefusal } from '../../domain/carriers/submission-progress.ts'
import type { Carrier, ServicePlan } from '../../domain/configuration/configuration.ts'
import {
  type Dispatch,
  dispatchOf,
  type MessageInProgress,
} from '../../domain/journal/messages-in-progress.ts'
import type { CarrierCondition, LinkCondition, Routed } from '../../domain/routing/routing.ts'
import type { Log } from '../../log.ts'
import type { Placement } from '../../operations/sends/accept-messages.ts'
import type { ResponsePdu } from '../../smpp/pdu.ts'
import { STATUSES } from '../../smpp/statuses.ts'
import type { CarrierLink, SubmitEvents } from '../links/carrier-link.ts'
import type { CarrierLinks } from '../links/carrier-links.ts'
import type { MessagesInProgress } from '../messages/messages-in-progress.ts'
import type { Recorder } from '../messages/recorder.ts'
import type { QualityWatch } from '../quality/quality-watch.ts'
import { CarrierChoice } from './carrier-choice.ts'
import type { CarrierConditions } from './carrier-conditions.ts'
import { type PumpDeps, pump } from './carrier-pump.ts'
import { CarrierQueue } from './carrier-queue.ts'
import { DueDispatches, type DueDispatchesOptions } from './due-dispatches.ts'
import { HeldMessages, type HeldSelection } from './held-messages.ts'
import { type PlacementOptions, placeNew } from './placement.ts'
import { attemptOf, type Ending, endAfterRefusal, endBeforeSubmit, restOf } from './submit-facts.ts'
import type { OnSubmit, SubmitJob, SubmitToken } from './submit-job.ts'
import { SubmitRecorder } from './submit-recorder.ts'

export interface SubmitterOptions
  extends Pick<PlacementOptions, 'directory' | 'lease' | 'clock' | 'random'>,
    Pick<DueDispatchesOptions, 'db' | 'webhookRoom'> {
  readonly inProgress: MessagesInProgress
  readonly recorder: Recorder
  readonly log: Log
  readonly links: CarrierLinks<SubmitToken>
  readonly conditions: CarrierConditions
  readonly quality: Pick<QualityWatch, 'outOfUse'>
  /** How long a message waits for news after its first attempt without an answer; longer after each later one. */
  readonly ambiguityWaitMs: number
  readonly onSubmit: OnSubmit
}

export const AMBIGUITY_WAIT_MS = 120_000
/** Pause before a message whose carriers are all down is looked at again. */
const NO_CARRIER_MS = 1_000

/** Sends held messages to their carriers as fast as windows and limits allow, and hands every outcome to the recorder. */
export class Submitter implements SubmitEvents<SubmitToken> {
  readonly #options: SubmitterOptions
  readonly #queues = new Map<number, CarrierQueue>()
  readonly #held = new HeldMessages(
    (carrierId) => this.#pump(carrierId),
    (planId) => this.#options.directory().planById(planId)?.sandbox === true,
  )
  readonly #due: DueDispatches
  readonly #choice: CarrierChoice
  readonly #submits: SubmitRecorder
  readonly #pumpDeps: PumpDeps
  /** Places messages that are being accepted. */
  readonly placement: Placement
  /** The queue of a carrier; undefined: no message has been for it. */
  readonly queueOf = (carrierId: number): CarrierQueue | undefined => this.#queues.get(carrierId)
  readonly #rebinds = new RebindCounts()
  #stopped = false

  constructor(options: SubmitterOptions) {
    this.#options = options
    const { conditions, directory, inProgress, lease, links, log, clock, quality, random, recorder } = options
    const held = this.#held
    const choice = new CarrierChoice({ conditions, directory, links, quality })
    const submits = new SubmitRecorder({ conditions, directory, held, inProgress, clock, recorder })
    this.#choice = choice
    this.#submits = submits
    const isOpen = () => this.#due.isOpen
    const mayBegin = (carrierId: number) =>
      held.countedPdus(carrierId) < Math.min(links.places(carrierId), this.#queues.get(carrierId)?.burst ?? 0)
    this.placement = {
      place: placeNew({ choice, directory, held, isOpen, lease, mayBegin, clock, random }),
      enqueue: (msgId) => this.#enqueueNew(msgId),
      release: (msgId) => held.drop(msgId),
    }
    const parts = { held, inProgress, lease, log, recorder }
    this.#pumpDeps = {
      ...parts,
      links,
      clock,
      reconsider: (job) => this.#enqueue(restOf(job)),
      requeue: (job, delayMs) => submits.requeueJob(job, { delayMs }),
      unsendable: (job) => this.#advance(job),
    }
    this.#due = new DueDispatches({
      ...parts,
      db: options.db,
      directory,
      webhookRoom: options.webhookRoom,
      isRouteOpen: (route) => choice.isOpen(route),
      carriers: () => conditions.carriersByNode(),
      enqueue: (message) => this.#enqueueLoaded(message),
    })
  }

  get held(): number {
    return this.#held.size
  }

  /** The messages in memory, or those that are selected, and why they wait. */
  backlog(selected?: HeldSelection): HeldGroup[] {
    return this.#held.groups((job) => this.#queue(job.carrier).causeOf(job), selected)
  }

  start(): void {
    this.#due.start()
  }

  /** These messages are in their records or are another node's, so they are not submitted from here. */
  left(msgIds: readonly string[]): void {
    for (const msgId of msgIds) {
      const job = this.#held.jobOf(msgId)
      if (job !== null) this.#queue(job.carrier).remove(job)
      // A message with a PDU in flight stays until that is answered or lost.
      if (!job?.progress.isInFlight) this.#held.drop(msgId)
    }
  }

  /** Another node has come, or this process has run a statement that may have queued messages. */
  stir(): void {
    this.#due.stir()
  }

  /** Messages that were handed to carriers of this node are waiting. */
  takeHanded(): void {
    this.#due.wake()
  }

  /** What this node's sessions can do. */
  linkCondition(carrierId: number): LinkCondition {
    const links = this.#options.links
    if (this.#stopped || !links.canSubmit(carrierId)) return 'unbound'
    if (links.isDoubtful(carrierId)) return 'silent'
    return this.#queues.get(carrierId)?.isCongested ? 'throttled' : 'usable'
  }

  /** Whether the carrier can be used in the route now, on any node. */
  conditionOf(carrierId: number, routeId: number): CarrierCondition {
    return this.#choice.conditionOf(carrierId, routeId)
  }

  /** The lease was lost. Requeues messages that are not in flight, for another node or this one to take. */
  requeueAll(): void {
    for (const queue of this.#queues.values()) this.#submits.requeueIdle(queue.drain())
  }

  /** Stops taking messages, waits for those in flight, and requeues those that were not sent. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopped = true
    await this.#due.stop()
    for (const queue of this.#queues.values()) this.#submits.requeueIdle(queue.stop())
    await this.#due.drain(timeoutMs)
  }

  // Events from links and operators.

  /** The configuration has changed. Messages waiting for a carrier that must not be used any more go to another. */
  adopt(): void {
    this.#due.adopt()
    for (const carrierId of this.#queues.keys()) {
      if (this.#options.links.canSubmit(carrierId)) this.#pump(carrierId)
      else this.#rehome(carrierId)
    }
  }

  onReady(link: CarrierLink<SubmitToken>): void {
    this.#pump(link.carrier.id)
  }

  onResponse(token: SubmitToken, pdu: ResponsePdu, link: CarrierLink<SubmitToken>, latencyMs: number): void {
    const { job, index, sentAtMs } = token
    // A generic_nack without a reason is still no acceptance.
    const status = pdu.command === 'generic_nack' ? pdu.status || STATUSES.ESME_RUNKNOWNERR : pdu.status
    const outcome = job.progress.answered(index, status)
    this.#options.onSubmit(token, submitResultOf(outcome), latencyMs, status)
    const { backOffs, throttle } = this.#queue(job.carrier)
    if (outcome === 'accepted') {
      throttle.accepted(performance.now())
      // Usually empty. A look-up would first add the recipient to V8's table of unique texts.
      if (backOffs.size > 0) backOffs.delete(job.dispatch.recipient)
      // Recorded before the segments of the new segmentation, whose receipts count from then on.
      if (job.startedOver)
        this.#submits.record(job.dispatch, [
          { kind: 'started-over', atMs: this.#options.clock(), segmentation: job.segmentation },
        ])
      this.#submits.accepted(token, pdu, latencyMs)
    }
    if (outcome === 'throttled') throttle.throttled(performance.now(), sentAtMs)
    if (outcome === 'rebind' && !this.#rebindIfLinksFault(job, link)) job.progress.foundAtFault(index, status)
    this.#advance(job)
    this.#pump(job.carrier.id)
  }

  /**
   * Binds the link anew if it is at fault, and returns whether it is. A message that always gets this answer must not keep the
   * link from others.
   */
  #rebindIfLinksFault({ dispatch }: SubmitJob, link: CarrierLink<SubmitToken>): boolean {
    return this.#rebinds.count(dispatch.msgId, link.session) && link.rebind()
  }

  onTimeout(token: SubmitToken): void {
    this.#options.onSubmit(token, 'noAnswer', null, null)
    token.job.progress.unanswered()
    this.#advance(token.job)
    this.#pump(token.job.carrier.id)
  }

  /** The message was requeued as ambiguous. Now its fate is known, and settling it also ends a waiting dispatch. */
  onLateResponse(token: SubmitToken, pdu: ResponsePdu): void {
    if (pdu.status !== 0 || pdu.command === 'generic_nack') return
    const { job, index, sentAtMs } = token
    this.#submits.accepted(token, pdu, performance.now() - sentAtMs)
    job.progress.acceptedEarlier(index)
    const again = this.#held.jobOf(job.dispatch.msgId)
    if (again !== null && again !== job && again.segmentation === job.segmentation)
      again.progress.acceptedEarlier(index)
    if (!job.progress.isComplete && !again?.progress.isComplete) {
      const { dispatch, segmentation } = job
      const [atMs, pduBits] = [this.#options.clock(), 1n << BigInt(index)]
      this.#submits.record(dispatch, [{ kind: 'pdus-accepted', atMs, pduBits, segmentation }])
      return
    }
    // A queued resubmission need not be sent any more. One in flight is answered itself, unless this job is complete.
    if (again?.progress.isIdle) this.#queue(again.carrier).remove(again)
    else if (again !== null && !job.progress.isComplete) return
    const attempt = attemptOf(job, this.#options.clock(), 'accepted', { reason: 'answered late' })
    this.#settle(job.dispatch, job, { status: 'SENT', attempt })
  }

  onLost(tokens: SubmitToken[], link: CarrierLink<SubmitToken>): void {
    for (const token of tokens) {
      this.#options.onSubmit(token, 'noAnswer', null, null)
      token.job.progress.unanswered()
    }
    for (const job of new Set(tokens.map((token) => token.job))) this.#advance(job)
    if (!this.#options.links.canSubmit(link.carrier.id)) this.#rehome(link.carrier.id)
  }

  /** The carrier cannot be used. Its messages go to another carrier of their route, or wait in the database. */
  #rehome(carrierId: number): void {
    for (const job of this.#queues.get(carrierId)?.drain() ?? []) {
      // A message with a PDU in flight follows when that is answered or lost.
      if (job.progress.isIdle) this.#enqueue(restOf(job))
    }
  }

  // Sending.

  /** Queues a message that was just accepted. */
  #enqueueNew(msgId: string): void {
    this.#held.committed(msgId)
    const message = this.#options.inProgress.get(msgId)
    const dispatch = message === undefined ? null : dispatchOf(message)
    if (dispatch === null) this.#held.drop(msgId)
    else this.#enqueue(dispatch, true)
  }

  /** Queues a message that was loaded from its record. */
  #enqueueLoaded(message: MessageInProgress): void {
    const dispatch = dispatchOf(message)
    if (dispatch !== null) this.#enqueue(dispatch)
  }

  /** `isNew`: the message was just accepted, so others of its sender may be waiting before it. */
  #enqueue(dispatch: Dispatch, isNew = false): void {
    const { msgId, planId, sender, recipient } = dispatch
    // Its lane was lost, so the message is another node's.
    if (!this.#isInMemory(msgId)) {
      this.#held.drop(msgId)
      return
    }
    this.#held.add(dispatch)
    const directory = this.#options.directory()
    const plan = directory.planById(planId)
    const routed = plan ? directory.routeFor(plan, sender, recipient) : null
    const now = { policy: plan?.ambiguousSubmits, isRouted: routed !== null, nowMs: this.#options.clock() }
    const ending = endBeforeSubmit(dispatch, now)
    if (ending !== null) this.#settle(dispatch, null, ending)
    else if (plan && routed && !this.#stopped) this.#queueRouted(dispatch, { plan, routed, isNew })
    else
      this.#submits.requeue(dispatch, {
        delayMs: this.#stopped ? 0 : NO_CARRIER_MS,
        routeId: routed?.route.id ?? null,
      })
  }

  #queueRouted(
    dispatch: Dispatch,
    { plan, routed, isNew }: { plan: ServicePlan; routed: Routed; isNew: boolean },
  ): void {
    const { route } = routed
    const choice = this.#choice.choose(dispatch, routed)
    if (choice !== null && !choice.isHere) {
      this.#submits.requeue(dispatch, { delayMs: 0, routeId: route.id, chosenCarrierId: choice.carrierId })
      return
    }
    const job = choice === null ? null : this.#choice.jobFor(dispatch, plan, route, choice)
    if (job === null) this.#submits.requeue(dispatch, { delayMs: NO_CARRIER_MS, routeId: route.id })
    else this.#queueJob(job, isNew)
  }

  #queueJob(job: SubmitJob, isNew: boolean): void {
    const queue = this.#queue(job.carrier)
    this.#held.setJob(job)
    if (job.progress.isComplete) {
      this.#settle(job.dispatch, job, { status: 'SENT' })
      return
    }
    const delayMs = isNew ? (queue.senderRateLimit?.delayMs(job.dispatch, performance.now()) ?? null) : null
    if (delayMs !== null) {
      this.#submits.requeueJob(job, { delayMs })
      return
    }
    queue.push(job, this.#held.isBegun(job.dispatch.msgId))
    this.#pump(job.carrier.id)
  }

  #queue(carrier: Carrier): CarrierQueue {
    const known = this.#queues.get(carrier.id)
    if (known !== undefined) return known
    const queue = new CarrierQueue(() => this.#pump(carrier.id))
    this.#queues.set(carrier.id, queue)
    queue.adopt(carrier)
    return queue
  }

  #pump(carrierId: number): void {
    const queue = this.#queues.get(carrierId)
    if (queue !== undefined) pump(queue, carrierId, this.#pumpDeps)
  }

  // Outcomes.

  /** Acts on the end of a job's attempt, once none of its PDUs is in flight. */
  #advance(job: SubmitJob): void {
    const { end } = job.progress
    if (end === null) return
    const { ambiguityWaitMs, clock } = this.#options
    if (end.kind === 'unfinished') {
      this.#resume(job)
      return
    }
    this.#queue(job.carrier).remove(job)
    if (end.kind === 'sent') {
      this.#settle(job.dispatch, job, { status: 'SENT', attempt: attemptOf(job, clock(), 'accepted') })
    } else if (end.kind === 'refused') {
      this.#refused(job, end.refusal)
    } else {
      const { failedAttempts } = job.dispatch
      const delayMs = resubmitDelayMs(ambiguityWaitMs, failedAttempts)
      const change = { delayMs, failedAttempts: failedAttempts + 1, ambiguous: true }
      this.#submits.requeueJob(job, change, attemptOf(job, clock(), 'no-answer'))
    }
  }

  /** Puts the job back at the front of the queue. It was throttled, or interrupted by a rebind. */
  #resume(job: SubmitJob): void {
    if (this.#stopped) this.#submits.requeueJob(job, { delayMs: 0 })
    else if (this.#isInMemory(job.dispatch.msgId) && this.#options.links.canSubmit(job.carrier.id))
      this.#queue(job.carrier).resume(job)
    else {
      this.#queue(job.carrier).remove(job)
      this.#enqueue(restOf(job))
    }
  }

  #refused(job: SubmitJob, refusal: SubmitRefusal): void {
    const { commandStatus, outcome } = refusal
    const failedAttempts = job.dispatch.failedAttempts + 1
    const nowMs = this.#options.clock()
    const leftMs = job.dispatch.expiresAtMs - nowMs
    const delayMs = nextTryMs(outcome, { failedAttempts, leftMs, random: Math.random() })
    // The recipient's queue is full, so more messages for the same recipient would be refused too.
    if (commandStatus === STATUSES.ESME_RMSGQFUL && delayMs !== null)
      this.#queue(job.carrier).backOffs.set(job.dispatch.recipient, performance.now() + delayMs)
    if (delayMs === null) this.#settle(job.dispatch, job, endAfterRefusal(job, refusal, nowMs))
    else
      this.#submits.requeueJob(job, { delayMs, failedAttempts }, attemptOf(job, nowMs, 'retry', { refusal }))
  }

  #settle(dispatch: Dispatch, job: SubmitJob | null, ending: Ending): void {
    this.#rebinds.delete(dispatch.msgId)
    this.#submits.settle(dispatch, job, ending)
  }

  #isInMemory(msgId: string): boolean {
    return this.#options.inProgress.get(msgId) !== undefined
  }
}

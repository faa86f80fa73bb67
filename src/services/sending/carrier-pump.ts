import { STATUSES } from '../../smpp/statuses.ts'
import type { CarrierLink } from '../links/carrier-link.ts'
import type { CarrierLinks } from '../links/carrier-links.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import type { MessagesInProgress } from '../messages/messages-in-progress.ts'
import type { Recorder } from '../messages/recorder.ts'
import type { NodeLease } from '../node/node-lease.ts'
import type { CarrierQueue } from './carrier-queue.ts'
import type { HeldMessages } from './held-messages.ts'
import { type SubmitJob, type SubmitToken, submitSm } from './submit-job.ts'

/** What sending depends on, and what happens to jobs that leave their queue unsent. */
export interface PumpDeps extends Pick<NodeParts, 'log' | 'clock'> {
  readonly lease: Pick<NodeLease, 'alive'>
  readonly links: CarrierLinks<SubmitToken>
  readonly recorder: Pick<Recorder, 'backlog' | 'isStalled'>
  readonly inProgress: Pick<MessagesInProgress, 'addBegun' | 'hurry'>
  readonly held: Pick<HeldMessages, 'countBegun' | 'countedPdus' | 'committed' | 'jobOf'>
  /** Its validity has ended. */
  readonly reconsider: (job: SubmitJob) => void
  readonly requeue: (job: SubmitJob, delayMs: number) => void
  /** No PDU can carry a segment of it. */
  readonly unsendable: (job: SubmitJob) => void
}

/** Pause while outcomes cannot be written, or the lease may be over. */
const HOLD_MS = 200
/** With more unwritten outcomes than this, nothing more is sent, or read to be sent. */
export const MAX_BACKLOG = 5_000

/** Sends as much as window, rate limits and recorder allow. */
export function pump(queue: CarrierQueue, carrierId: number, deps: PumpDeps): void {
  sendAll(queue, carrierId, deps)
  // Nothing is in flight: the whole window waits for this COMMIT.
  if (queue.beginning > 0 && deps.links.inFlight(carrierId) === 0) deps.inProgress.hurry()
}

function sendAll(queue: CarrierQueue, carrierId: number, deps: PumpDeps): void {
  const { held, lease, links, recorder } = deps
  const rateLimits = links.rateLimits(carrierId)
  if (rateLimits === null || queue.isPaused) return
  queue.adopt(rateLimits)
  for (;;) {
    const begun = queue.next()
    const job = begun ?? queue.head()
    if (job === null) return
    const index = job.progress.next
    if (index === null) {
      queue.remove(job)
      continue
    }
    const link = links.freest(carrierId)
    if (link === null) return
    const nowMs = performance.now()
    const isHeldUp = recorder.isStalled || recorder.backlog > MAX_BACKLOG || !lease.alive
    // What begins waits for its COMMIT first, and for the rate limit only then.
    const waitMs = isHeldUp ? HOLD_MS : begun === null ? 0 : queue.throttle.waitMs(nowMs)
    if (waitMs > 0) {
      queue.pauseFor(waitMs)
      return
    }
    if (job.progress.isIdle && job.dispatch.expiresAtMs <= deps.clock()) {
      queue.remove(job)
      deps.reconsider(job)
    } else if (backsOff(queue, job, nowMs)) {
      queue.remove(job)
      deps.requeue(job, queue.backOffs.leftMs(job.dispatch.recipient, nowMs))
    } else if (begun === null) {
      if (held.countedPdus(carrierId) >= links.places(carrierId) || queue.hasEnoughBegun) return
      admit(queue, job, nowMs, deps)
    } else if (!sendNext(queue, { job, index, sentAtMs: nowMs }, link, deps)) return
  }
}

/** Whether the carrier has no room for the recipient. A message that was tried before has already waited. */
function backsOff({ backOffs }: CarrierQueue, { dispatch, startedAtMs }: SubmitJob, nowMs: number): boolean {
  return (
    startedAtMs === null && dispatch.failedAttempts === 0 && backOffs.leftMs(dispatch.recipient, nowMs) > 0
  )
}

/** Lets the head of the queue begin, unless its sender has to wait. */
function admit(queue: CarrierQueue, job: SubmitJob, nowMs: number, deps: PumpDeps): void {
  const admission = queue.senderRateLimit?.admit(job, nowMs)
  if (admission === undefined || admission.kind === 'go') {
    begin(queue, job, nowMs, deps)
    return
  }
  queue.stepAside(job)
  if (admission.kind === 'requeue') deps.requeue(job, admission.delayMs)
}

/**
 * Lets the head of the queue begin. It is sent once its `begun` is committed, so the journal knows of it before a carrier can
 * have it.
 *
 * A place in a window becomes free when the message's outcome is appended to the journal, and the next `begun` is appended
 * behind that outcome. Of a lane that a crash cuts short, the messages that have begun and have no outcome therefore never
 * exceed the windows, however slow the COMMITs are.
 */
function begin(queue: CarrierQueue, job: SubmitJob, nowMs: number, { held, inProgress }: PumpDeps): void {
  const { msgId } = job.dispatch
  queue.begin(job, nowMs)
  held.countBegun(msgId, job.carrier.id, job.text.pdus.length)
  inProgress.addBegun(msgId, (isBegun) => {
    // If its lane was lost, the message is another node's and is not sent from here.
    if (!isBegun || held.jobOf(msgId) !== job) return
    held.committed(msgId)
    queue.beginCommitted(job)
  })
}

/** Returns false when the link has no room. */
function sendNext(
  queue: CarrierQueue,
  token: SubmitToken,
  link: CarrierLink<SubmitToken>,
  deps: PumpDeps,
): boolean {
  const { job, index, sentAtMs } = token
  try {
    if (!link.submit(submitSm(job, index, deps.clock()), token)) return false
  } catch (error) {
    deps.log.error({ err: error }, 'message does not fit a PDU')
    job.progress.unsendable(index, STATUSES.ESME_RINVMSGLEN)
    deps.unsendable(job)
    return true
  }
  job.progress.sent()
  queue.throttle.sent(sentAtMs)
  job.startedAtMs ??= deps.clock()
  return true
}

import { messageId } from '../domain/identifiers.ts'
import type { ChangedMessage } from '../domain/messages-in-progress.ts'
import type { Parts } from '../parts.ts'
import { BindLeases } from '../services/links/bind-leases.ts'
import { CarrierLinks } from '../services/links/carrier-links.ts'
import { foreignReceipts } from '../services/messages/foreign-receipts.ts'
import { IdRules } from '../services/messages/id-rules.ts'
import { laneRecovery } from '../services/messages/lane-recovery.ts'
import { MessagesInProgress } from '../services/messages/messages-in-progress.ts'
import { Recorder } from '../services/messages/recorder.ts'
import { qualityMeters } from '../services/quality/quality-meters.ts'
import { QualityWatch } from '../services/quality/quality-watch.ts'
import { InboundOffers } from '../services/receiving/inbound-offers.ts'
import { Receiver } from '../services/receiving/receiver.ts'
import { Refusals } from '../services/receiving/refusals.ts'
import { SiblingReceipts } from '../services/receiving/sibling-receipts.ts'
import { CarrierConditions } from '../services/sending/carrier-conditions.ts'
import { linkEvents } from '../services/sending/link-events.ts'
import type { SubmitToken } from '../services/sending/submit-job.ts'
import { AMBIGUITY_WAIT_MS, Submitter } from '../services/sending/submitter.ts'
import { Maintenance } from '../services/upkeep/maintenance.ts'
import { serviceMetrics } from '../services/upkeep/metrics.ts'
import { Deliverer } from '../services/webhooks/deliverer.ts'
import { Destinations } from '../services/webhooks/destinations.ts'
import { heldEvents, heldInboundEvents } from '../services/webhooks/message-order.ts'
import { releaseEvents } from '../store/event-deliveries.ts'
import type { Base } from './base.ts'
import { type AppOptions, DRAIN } from './options.ts'

/**
 * From the database to the carriers and the customers' webhooks, and back. Every part is made before the first is started.
 * The lease, by which this node takes work from others, is taken when nothing else can fail.
 */
export function makeMessagePath(options: AppOptions, parts: Parts, base: Base) {
  const { directory, directoryService, lease, reads, registry, sender } = base
  const kept = keepMessages(options, parts, base)
  const { quality, recovery, inProgress, destinations, deliverer } = kept
  const answers = takeAnswers(options, parts, base, kept)
  const { offers, recorder, receipts } = answers
  const { links, binds, conditions, submitter } = submitMessages(options, parts, base, kept, answers)
  lease.onChange(() => sender.renew(lease.nodeId, lease.leftMs))
  lease.onExpired(() => {
    deliverer.dropAll()
    submitter.giveBackAll()
    inProgress.release()
  })
  const upkeep = keepUp(options, parts, base, answers)
  const measured = { submitter, inProgress, recorder, deliverer, destinations, links, quality }
  serviceMetrics(registry, { reads, directory, ...measured })
  const start = async () => {
    // Which carriers are out of use must be known before anything is sent.
    await quality.start()
    await destinations.start()
    // Before the first bind, so that no change is missed.
    const unfollow = directoryService.onChange((changed) => {
      binds.follow(changed)
      submitter.follow()
    })
    parts.add('carrier settings', unfollow)
    // The lease wakes it when it finds a dead node.
    recovery.start()
    // The last step that can fail. From here on this node has an id, and work of others.
    await lease.start()
    offers.start()
    // Own sessions first, then those of other nodes, because a message goes to the better of both.
    await binds.start()
    await conditions.start()
    submitter.start()
    deliverer.start()
    for (const each of upkeep) each.start()
  }
  return { start, inProgress, receipts, submitter, links, quality }
}

export type MessagePath = ReturnType<typeof makeMessagePath>

/** Keeps accepted messages in memory, journal and records, and delivers their events. */
function keepMessages(options: AppOptions, parts: Parts, base: Base) {
  const { appends, clock, counters, db, directory, sender, lease, registry, secretKey } = base
  const { ambiguityWaitMs = AMBIGUITY_WAIT_MS, drainTimeoutMs, log, projectionAgeMs: ageMs } = options
  const { nowMs } = clock
  const { batch: onBatch, webhookAttempt: onAttempt } = counters
  const quality = new QualityWatch({
    ...{ db, directory, log, meters: qualityMeters(registry), clock: options.qualityClock ?? nowMs },
    intervalMs: options.qualityMs,
  })
  parts.add('quality watch', () => quality.stop())
  const recovery = laneRecovery({ db, directory, lease, ambiguityWaitMs, log })
  lease.onTaken(async (buckets) => {
    // This node's own work does not depend on what follows, which may fail.
    recovery.wake()
    const events = await releaseEvents(db)
    log.info({ buckets: buckets.length, events }, 'took over buckets')
  })
  parts.add('lane recovery', () => recovery.stop())
  const inProgress = new MessagesInProgress({ db, appends, directory, nowMs, log, onBatch, ageMs })
  lease.onRegistered((nodeId) => inProgress.register(nodeId))
  parts.add('messages in progress', () => inProgress.stop(drainTimeoutMs * DRAIN.records))
  const destinations = new Destinations({ db, log, probeMs: options.webhookProbeMs })
  parts.add('webhook destinations', () => destinations.stop())
  const deliverer = new Deliverer({
    ...{ db, directory, lease, log, inProgress, sender, destinations, secretKey, onAttempt, onBatch },
    clock: nowMs,
    maxHeld: options.webhooksHeld,
  })
  parts.add('webhook deliverer', () => deliverer.stop(drainTimeoutMs * DRAIN.webhooks))
  const eventHolder = () => deliverer.due.holder()
  const onChanged = (messages: readonly ChangedMessage[]) => {
    deliverer.enqueue(heldEvents(messages, lease.nodeId))
    quality.changed(messages)
  }
  inProgress.heardBy({ eventHolder, onChanged })
  return { quality, recovery, inProgress, destinations, deliverer, onChanged }
}

type Kept = ReturnType<typeof keepMessages>

/** Takes the carriers' answers and receipts, and inbound messages. */
function takeAnswers(
  { drainTimeoutMs, log, worker }: AppOptions,
  parts: Parts,
  { anomalies, clock: { nowMs }, counters, db, directory, lease, random }: Base,
  { inProgress, deliverer, onChanged }: Kept,
) {
  const { batch: onBatch, unowned: onUnowned } = counters
  // Stopped after the recorder, which may still refuse receipts.
  const refusals = new Refusals({ count: counters.refused, log })
  parts.add('refusals', () => refusals.stop())
  const idRules = new IdRules({ db, directory, nowMs, log })
  const { write: writeEvents } = deliverer.due
  const recorder = new Recorder({
    ...{ db, directory, nowMs, log, inProgress, idRules, writeEvents, onChanged, onBatch },
  })
  inProgress.heardBy({
    onProjected: (submissions) => recorder.recorded(submissions),
    onReturned: (outcome) => recorder.record(outcome),
  })
  parts.add('recorder', () => recorder.drain(drainTimeoutMs * DRAIN.outcomes))
  const newOfferId = () => messageId(nowMs(), random(9), 0)
  const offers = new InboundOffers({ db, lease, newOfferId, clock: () => performance.now(), log })
  parts.add('inbound offers', () => offers.stop())
  const ask = worker?.siblings.receipts
  const receipts = new SiblingReceipts({ inProgress: inProgress.receipts, recorder, ask })
  const receiver = new Receiver({
    ...{ db, directory, lease, nowMs, random, log, recorder, receipts, offers, refusals },
    ...{ writeEvents, onBatch, onUnowned },
    onAnomaly: anomalies.note,
    onReceived: (received) => deliverer.enqueue(heldInboundEvents(received, lease.nodeId)),
  })
  return { recorder, idRules, offers, receipts, receiver }
}

type Answers = ReturnType<typeof takeAnswers>

/** Submits messages to the carriers. */
function submitMessages(
  options: AppOptions,
  parts: Parts,
  { anomalies, clock: { nowMs }, db, directory, lease, random }: Base,
  { deliverer, inProgress, quality }: Kept,
  { recorder, receiver }: Answers,
) {
  const { ambiguityWaitMs = AMBIGUITY_WAIT_MS, drainTimeoutMs, linkTimings, log } = options
  const timings = { unbindTimeoutMs: drainTimeoutMs * DRAIN.unbinds, ...linkTimings }
  const links = new CarrierLinks<SubmitToken>({ timings, log })
  const binds = new BindLeases({ db, lease, directory, links, log })
  parts.add('binds', () => binds.stop())
  parts.add('carrier links', () => links.stop())
  const conditions = new CarrierConditions({ db, lease, directory, log })
  const submitter = new Submitter({
    ...{ directory, lease, nowMs, random, log, ambiguityWaitMs },
    ...{ inProgress, recorder, quality, links, conditions },
    webhookRoom: (planId) => deliverer.roomFor(planId),
  })
  conditions.watch(submitter)
  links.heardBy(linkEvents({ submitter, receiver, quality, inProgress, onAnomaly: anomalies.note }))
  inProgress.heardBy({ onLeft: (msgIds) => submitter.left(msgIds) })
  parts.add('submitter', () => submitter.stop(drainTimeoutMs * DRAIN.submits))
  parts.add('carrier conditions', () => conditions.stop())
  return { links, binds, conditions, submitter }
}

/** Periodic jobs. */
function keepUp(
  { log, retentionDays }: AppOptions,
  parts: Parts,
  { clock: { nowMs }, counters, db, directory, lease }: Base,
  { idRules, receiver, recorder }: Answers,
) {
  const foreign = foreignReceipts({ db, lease, nowMs, recorder, log })
  parts.add('receipts over other nodes', () => foreign.stop())
  const maintenance = new Maintenance({
    ...{ db, directory, nowMs, log, retentionDays },
    newMessageId: () => receiver.newMessageId(),
    applyReceipts: (rows) => recorder.applyParked(rows),
    readReceipts: () => idRules.readParked(),
    onUnowned: counters.unowned,
  })
  parts.add('maintenance', () => maintenance.stop())
  return [foreign, maintenance]
}

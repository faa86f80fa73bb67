import { LANE_LIMITS } from '../domain/delivery-lanes.ts'
import { messageId } from '../domain/message-ids.ts'
import type { ChangedMessage } from '../domain/messages-in-progress.ts'
import { WebhookDispatcher } from '../outbound/dispatcher.ts'
import type { Parts } from '../parts.ts'
import { ForeignReceipts } from '../services/messages/foreign-receipts.ts'
import { IdRules } from '../services/messages/id-rules.ts'
import { LaneRecovery } from '../services/messages/lane-recovery.ts'
import { MessagesInProgress } from '../services/messages/messages-in-progress.ts'
import { Recorder } from '../services/messages/recorder.ts'
import type { NodeLease } from '../services/node/node-lease.ts'
import { qualityMeters } from '../services/quality/quality-meters.ts'
import { QualityWatch } from '../services/quality/quality-watch.ts'
import { InboundOffers } from '../services/receiving/inbound-offers.ts'
import { Receiver } from '../services/receiving/receiver.ts'
import { SiblingReceipts } from '../services/receiving/sibling-receipts.ts'
import { carrierTraffic } from '../services/sending/carrier-traffic.ts'
import { AMBIGUITY_WAIT_MS } from '../services/sending/submitter.ts'
import { Holdings } from '../services/upkeep/holdings.ts'
import { Maintenance } from '../services/upkeep/maintenance.ts'
import { heldEvents, heldInboundEvents } from '../services/webhooks/held-events.ts'
import { WebhookDeliverer } from '../services/webhooks/webhook-deliverer.ts'
import { WebhookDestinations } from '../services/webhooks/webhook-destinations.ts'
import type { Base } from './base.ts'
import { nodeLease } from './lease.ts'
import { type AppOptions, DRAIN } from './options.ts'

/**
 * From the database to the carriers and the customers' webhooks, and back. Every part is made before the first is started,
 * and the lease, by which this node takes work from others, is taken when nothing else can fail.
 */
export function makeMessagePath(options: AppOptions, parts: Parts, base: Base) {
  const { directory, db, random } = base
  const { log } = options
  const { nowMs } = base.clock
  const quality = qualityWatch(options, base)
  parts.add('quality watch', () => quality.stop())
  const kept = keepMessages(options, parts, base, quality)
  const { lease, recovery, inProgress, deliverer, destinations, recorder, idRules, dispatcher } = kept
  const shared = { db, directory, nowMs, lease, random, log, onBatch: base.counters.batch }
  const offers = inboundOffers(options, base, lease)
  parts.add('inbound offers', () => offers.stop())
  const receipts = new SiblingReceipts({
    inProgress: inProgress.receipts,
    recorder,
    ask: options.worker?.siblings.receipts,
  })
  const receiver = new Receiver({
    ...shared,
    recorder,
    receipts,
    offers,
    eventHolder: () => deliverer.holder(),
    onUnowned: base.counters.unowned,
    onAnomaly: base.anomalies.note,
    onReceived: (received) => deliverer.enqueue(heldInboundEvents(received, lease.nodeId)),
  })
  const { submitter, links, binds, conditions, follow } = carrierTraffic({
    ...shared,
    inProgress,
    recorder,
    receiver,
    quality,
    ambiguityWaitMs: options.ambiguityWaitMs ?? AMBIGUITY_WAIT_MS,
    onAnomaly: base.anomalies.note,
    timings: { unbindTimeoutMs: options.drainTimeoutMs * DRAIN.unbinds, ...options.linkTimings },
  })
  parts.add('binds', () => binds.stop())
  parts.add('carrier links', () => links.stop())
  inProgress.onLeft((msgIds) => submitter.left(msgIds))
  const holdings = new Holdings({ ...shared, deliverer, intervalMs: options.holdingsMs })
  parts.add('submitter', () => submitter.stop(options.drainTimeoutMs * DRAIN.submits))
  parts.add('carrier conditions', () => conditions.stop())
  lease.onExpired(() => {
    submitter.giveBackAll()
    inProgress.release((msgId) => deliverer.holds(msgId))
  })
  const services = {
    lease,
    inProgress,
    deliverer,
    destinations,
    recorder,
    receipts,
    receiver,
    submitter,
    links,
    quality,
  }
  const start = async () => {
    await quality.start()
    await destinations.start()
    parts.add('carrier settings', base.directoryService.onChange(follow))
    recovery.start()
    await lease.start()
    inProgress.start()
    await binds.start()
    await conditions.start()
    submitter.start()
    deliverer.start()
    startUpkeep(options, parts, base, { lease, holdings, recorder, receiver, idRules })
  }
  return { ...services, dispatcher, start }
}

export type MessagePath = ReturnType<typeof makeMessagePath>

/** What a message is, in memory, journal and records, and who is told of its changes. */
function keepMessages(options: AppOptions, parts: Parts, base: Base, quality: QualityWatch) {
  const { db, directory, secretKey } = base
  const { log } = options
  const { nowMs } = base.clock
  const dispatcher = webhookDispatcher(options, base)
  parts.add('webhook sockets', () => dispatcher.close())
  const lease: NodeLease = nodeLease(options, base, {
    onRegistered: (nodeId) => inProgress.register(nodeId),
    onDead: () => recovery.wake(),
  })
  parts.add('lease', () => lease.stop())
  const recovery = laneRecovery(options, base, lease)
  parts.add('lane recovery', () => recovery.stop())
  const inProgress = new MessagesInProgress({
    db,
    directory,
    nowMs,
    eventHolder: () => eventHolder(),
    onChanged: (messages) => onChanged(messages),
    onProjected: (submissions) => recorder.recorded(submissions),
    onReturned: (outcome) => recorder.returned(outcome),
    log,
    onBatch: base.counters.batch,
    ageMs: options.projectionAgeMs,
  })
  parts.add('messages in progress', () => inProgress.stop(options.drainTimeoutMs * DRAIN.records))

  const shared = { db, directory, nowMs, lease, log, onBatch: base.counters.batch }
  const destinations = webhookDestinations(options, base)
  parts.add('webhook destinations', () => destinations.stop())
  const deliverer = new WebhookDeliverer({
    ...shared,
    inProgress,
    dispatcher,
    destinations,
    secretKey,
    clock: nowMs,
    onAttempt: base.counters.webhookAttempt,
    maxHeld: options.webhooksHeld,
  })
  parts.add('webhook deliverer', () => deliverer.stop(options.drainTimeoutMs * DRAIN.webhooks))
  const eventHolder = () => deliverer.holder()
  const idRules = learningIdRules(options, base)
  const onChanged = (messages: readonly ChangedMessage[]) => {
    deliverer.enqueue(heldEvents(messages, lease.nodeId))
    quality.changed(messages)
  }
  const recorder: Recorder = new Recorder({ ...shared, inProgress, idRules, eventHolder, onChanged })
  parts.add('recorder', () => recorder.drain(options.drainTimeoutMs * DRAIN.outcomes))
  lease.onExpired(() => deliverer.forget())
  return { lease, recovery, inProgress, deliverer, destinations, recorder, idRules, dispatcher }
}

function qualityWatch(options: AppOptions, { clock, db, directory, registry }: Base): QualityWatch {
  return new QualityWatch({
    db,
    directory,
    meters: qualityMeters(registry),
    clock: options.qualityClock ?? clock.nowMs,
    log: options.log,
    intervalMs: options.qualityMs,
  })
}

function inboundOffers({ log }: AppOptions, { clock, db, random }: Base, lease: NodeLease): InboundOffers {
  const newOfferId = () => messageId(clock.nowMs(), random(9), 0)
  return new InboundOffers({ db, lease, newOfferId, clock: () => performance.now(), log })
}

function laneRecovery({ ambiguityWaitMs, log }: AppOptions, base: Base, lease: NodeLease): LaneRecovery {
  const { db, directory } = base
  return new LaneRecovery({
    db,
    directory,
    log,
    nodeId: () => lease.nodeId,
    ambiguityWaitMs: ambiguityWaitMs ?? AMBIGUITY_WAIT_MS,
  })
}

function learningIdRules({ log }: AppOptions, { clock, db, directory }: Base): IdRules {
  return new IdRules({
    db,
    directory,
    nowMs: clock.nowMs,
    log,
  })
}

function webhookDispatcher(options: AppOptions, { guard }: Base): WebhookDispatcher {
  return new WebhookDispatcher(guard, {
    caPem: options.webhookCaPem,
    maxSocketsPerOrigin: LANE_LIMITS.perDestination,
    totalTimeoutMs: options.webhookTimeoutMs,
  })
}

function webhookDestinations(options: AppOptions, { db }: Base): WebhookDestinations {
  return new WebhookDestinations({
    db,
    log: options.log,
    probeMs: options.webhookProbeMs,
  })
}

interface Upkept {
  readonly lease: NodeLease
  readonly holdings: Holdings
  readonly recorder: Recorder
  readonly receiver: Receiver
  readonly idRules: IdRules
}

/** What goes round at intervals. */
function startUpkeep(
  options: AppOptions,
  parts: Parts,
  { clock, counters, db, directory }: Base,
  { lease, holdings, recorder, receiver, idRules }: Upkept,
): void {
  const { log } = options
  const foreign = new ForeignReceipts({
    db,
    isAlone: () => lease.isAlone,
    nowMs: clock.nowMs,
    onParked: (id) => recorder.parked(id),
    log,
  })
  foreign.start()
  parts.add('receipts over other nodes', () => foreign.stop())
  holdings.start()
  parts.add('holdings', () => holdings.stop())
  const maintenance = new Maintenance({
    db,
    directory,
    newMessageId: () => receiver.newMessageId(),
    retentionDays: options.retentionDays,
    nowMs: clock.nowMs,
    applyReceipts: (rows) => recorder.applyParked(rows),
    readReceipts: () => idRules.readParked(),
    log,
    onUnowned: counters.unowned,
  })
  maintenance.start()
  parts.add('maintenance', () => maintenance.stop())
}

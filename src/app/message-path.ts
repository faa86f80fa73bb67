import { messageId } from '../domain/identifiers.ts'
import { hasDuty } from '../domain/nodes.ts'
import { laneRecovery } from '../services/journal/lane-recovery.ts'
import { BindLeases } from '../services/links/bind-leases.ts'
import { CarrierLinks } from '../services/links/carrier-links.ts'
import { IdRules } from '../services/messages/id-rules.ts'
import type { MessagesListeners } from '../services/messages/journal-items.ts'
import { MessagesInProgress } from '../services/messages/messages-in-progress.ts'
import { Recorder } from '../services/messages/recorder.ts'
import { NodeLease } from '../services/node/node-lease.ts'
import { NodeReports } from '../services/node/node-reports.ts'
import { qualityMeters } from '../services/quality/quality-meters.ts'
import { QualityWatch } from '../services/quality/quality-watch.ts'
import { foreignReceipts } from '../services/receiving/foreign-receipts.ts'
import { InboundOffers } from '../services/receiving/inbound-offers.ts'
import { receiptsByAddress } from '../services/receiving/receipts-by-address.ts'
import { Receiver } from '../services/receiving/receiver.ts'
import { RefusedPdus } from '../services/receiving/refused-pdus.ts'
import { SiblingReceipts } from '../services/receiving/sibling-receipts.ts'
import { Sandbox } from '../services/sandbox/sandbox.ts'
import { CarrierConditions } from '../services/sending/carrier-conditions.ts'
import type { SubmitToken } from '../services/sending/submit-job.ts'
import { AMBIGUITY_WAIT_MS, Submitter } from '../services/sending/submitter.ts'
import { StatisticsWriter } from '../services/statistics/statistics-writer.ts'
import { BacklogWatch } from '../services/upkeep/backlog-watch.ts'
import { Maintenance } from '../services/upkeep/maintenance.ts'
import { backlogMetrics } from '../services/upkeep/metrics/backlog.ts'
import { messagePathMetrics } from '../services/upkeep/metrics/message-path.ts'
import { Deliverer } from '../services/webhooks/deliverer.ts'
import { Destinations } from '../services/webhooks/destinations.ts'
import { heldEvents, heldInboundEvents } from '../services/webhooks/held-events.ts'
import { releaseEvents } from '../store/event-deliveries.ts'
import { makeAlarms } from './alarms.ts'
import { nodeReport } from './node-report.ts'
import { type AppOptions, DRAIN } from './options.ts'
import type { Platform } from './platform.ts'
import type { ShutdownStack } from './shutdown.ts'

/**
 * From the database to the carriers and the customers' webhooks, and back. Every part is made before the first is started.
 * The lease, by which this node takes work from others, is taken when nothing else can fail.
 */
export function makeMessagePath(options: AppOptions, shutdown: ShutdownStack, platform: Platform) {
  const { databases, directory, directoryService, registry, sender } = platform
  const kept = keepMessages(options, shutdown, platform)
  const { lease, reports, quality, recovery, inProgress, destinations, deliverer, statistics } = kept
  const answers = takeAnswers(options, shutdown, platform, kept)
  const { offers, recorder, siblings } = answers
  const submitting = submitMessages(options, shutdown, platform, kept, answers)
  const { sandbox, links, binds, conditions, submitter } = submitting
  const reported = { links, submitter, inProgress, deliverer }
  reports.setSource(nodeReport(options, reported, platform.clock.now))
  lease.onChange(() => sender.renew(lease.nodeId, lease.leftMs))
  const stir = () => {
    destinations.stir()
    submitter.stir()
    deliverer.due.stir()
  }
  platform.ownWrites.onWrite(stir)
  lease.onNodes(stir)
  lease.onExpired(() => {
    deliverer.dropAll()
    submitter.requeueAll()
    inProgress.release()
  })
  const conditionOf = (carrierId: number, routeId: number) => submitter.conditionOf(carrierId, routeId)
  const held = () => submitter.backlog()
  const { reads } = databases
  const backlog = new BacklogWatch({ reads, directory, held, conditionOf, clock: platform.clock.now })
  backlogMetrics(registry, backlog)
  const watched = { lease, reports, quality, backlog }
  const { readAlarms, watch, testAlarms } = makeAlarms(options, shutdown, platform, watched)
  const upkeep = [...keepUp(options, shutdown, platform, kept, answers), ...(watch === null ? [] : [watch])]
  const measured = { submitter, inProgress, recorder, deliverer, destinations, links, quality }
  messagePathMetrics(registry, { reads, directory, ...measured })
  const start = async () => {
    // Which carriers are out of use must be known before anything is sent.
    await quality.start()
    statistics.start()
    await destinations.start()
    // Before the first bind, so that no change is missed.
    const unfollow = directoryService.onChange((changed) => {
      binds.adopt(changed)
      submitter.adopt()
      sandbox.adopt()
    })
    shutdown.add('carrier settings', unfollow)
    // The lease wakes it when it finds a dead node.
    recovery.start()
    // The last step that can fail. From here on this node has an id and may have the work of dead nodes.
    await lease.start()
    // For the lane of an earlier process with this node's name.
    recovery.wake()
    offers.start()
    if (hasDuty(options.nodeRole ?? 'all', 'api')) await sandbox.start(() => binds.adopt(directory()))
    // Own sessions first, then those of other nodes, because a message goes to the better of both.
    await binds.start()
    await conditions.start()
    submitter.start()
    deliverer.start()
    for (const each of upkeep) each.start()
    reports.start()
  }
  return {
    start,
    lease,
    reports,
    inProgress,
    siblings,
    submitter,
    sandbox,
    links,
    quality,
    statistics,
    backlog,
    readAlarms,
    testAlarms,
  }
}

export type MessagePath = ReturnType<typeof makeMessagePath>

/** Keeps accepted messages in memory, journal and records, and delivers their events. */
function keepMessages(options: AppOptions, shutdown: ShutdownStack, platform: Platform) {
  const { counters, databases, parts, sender, registry, secretKey, traces } = platform
  const { ambiguityWaitMs = AMBIGUITY_WAIT_MS, drainTimeoutMs, log } = options
  const { db, clock } = parts
  const { batch: onBatch } = counters
  const lease = nodeLease(options, shutdown, platform)
  const reports = new NodeReports({ db, lease, log })
  shutdown.add('node reports', () => reports.stop())
  const quality = new QualityWatch({
    ...parts,
    meters: qualityMeters(registry),
    clock: options.qualityClock ?? clock,
    intervalMs: options.qualityMs,
  })
  shutdown.add('quality watch', () => quality.stop())
  const statistics = new StatisticsWriter({ db, clock, log, intervalMs: options.statisticsMs })
  shutdown.add('statistics', () => statistics.stop())
  const recovery = laneRecovery({ ...parts, lease, ambiguityWaitMs })
  lease.onTaken(async (buckets) => {
    // This node's own work does not depend on what follows, which may fail.
    recovery.wake()
    const events = await releaseEvents(db)
    log.info({ buckets: buckets.length, events }, 'took over buckets')
  })
  shutdown.add('lane recovery', () => recovery.stop())
  const onWritten = traces?.written
  const inProgress = new MessagesInProgress({ ...parts, appends: databases.appends, onBatch, onWritten })
  lease.onBeat((nodeId) => inProgress.register(nodeId))
  shutdown.add('messages in progress', () => inProgress.stop(drainTimeoutMs * DRAIN.records))
  const isAlone = () => lease.isAlone
  const destinations = new Destinations({ db, log, isAlone, probeMs: options.webhookProbeMs })
  shutdown.add('webhook destinations', () => destinations.stop())
  const deliverer = new Deliverer({
    ...parts,
    lease,
    inProgress,
    sender,
    destinations,
    secretKey,
    onAttempt: (event, outcome) => {
      counters.webhookAttempt(outcome)
      if (outcome.ok) statistics.delivered(event)
      if (traces?.samples(event.msgId)) traces.attempted(event, outcome)
    },
    onBatch,
    onWritten,
    maxHeld: options.webhooksHeld,
  })
  shutdown.add('webhook deliverer', () => deliverer.stop(drainTimeoutMs * DRAIN.webhooks))
  const onChanged: MessagesListeners['onChanged'] = (messages, holder) => {
    deliverer.enqueue(heldEvents(messages, holder))
    quality.changed(messages)
  }
  const onState: MessagesListeners['onState'] = (change) => {
    statistics.changed(change)
    if (traces?.samples(change.message.msgId)) traces.changed(change)
  }
  inProgress.heardBy({ eventHolder: () => deliverer.due.holder(), onChanged, onState })
  return {
    lease,
    reports,
    quality,
    recovery,
    inProgress,
    destinations,
    deliverer,
    onChanged,
    onState,
    statistics,
  }
}

type Kept = ReturnType<typeof keepMessages>

/** This node's place among the nodes of the database, which it takes at the end of the start. */
function nodeLease(
  { heartbeatMs, leaseMs, log, nodeName: name, nodeRole: role, onBarred }: AppOptions,
  shutdown: ShutdownStack,
  { clock, databases: { beats } }: Platform,
): NodeLease {
  const lease = new NodeLease({
    db: beats,
    name,
    role,
    clock,
    log,
    heartbeatMs,
    leaseMs,
    onBarred: (why) => {
      if (why === null) log.fatal('another node has taken the place of this one')
      else log.fatal({ err: why }, 'this node cannot work with the database any more')
      onBarred?.(why)
    },
  })
  lease.onExpired(() => log.warn('the lease of this node has ended; it registers again'))
  let wasFarOff = false
  lease.onChange(() => {
    if (clock.isFarOff && !wasFarOff)
      log.error(
        { aheadMs: clock.aheadMs },
        'the clock of this node is wrong; the time of the database is used',
      )
    wasFarOff = clock.isFarOff
  })
  shutdown.add('lease', () => lease.stop())
  return lease
}

/** Takes the carriers' answers and receipts, and inbound messages. */
function takeAnswers(
  { drainTimeoutMs, log, worker }: AppOptions,
  shutdown: ShutdownStack,
  { anomalies, counters, parts, random, traces }: Platform,
  { lease, inProgress, deliverer, onChanged, onState, statistics }: Kept,
) {
  const { batch: onBatch, unowned: onUnowned } = counters
  // Stopped after the recorder, which may still refuse receipts.
  const refusedPdus = new RefusedPdus({ count: counters.refused, log })
  shutdown.add('refused PDUs', () => refusedPdus.stop())
  const idRules = new IdRules({ ...parts, isAlone: () => lease.isAlone })
  const { write: writeEvents } = deliverer.due
  const recorder = new Recorder({ ...parts, inProgress, idRules, writeEvents, onChanged, onState, onBatch })
  inProgress.heardBy({
    onProjected: (submissions) => recorder.lookUpParked(submissions),
    onOutcomeLost: (outcome) => recorder.addOutcome(outcome),
  })
  shutdown.add('recorder', () => recorder.drain(drainTimeoutMs * DRAIN.outcomes))
  const newOfferId = () => messageId(parts.clock(), random(9), 0)
  const offers = new InboundOffers({ ...parts, lease, newOfferId, clock: () => performance.now() })
  shutdown.add('inbound offers', () => offers.stop())
  const ask = worker?.siblings.receipts
  const siblings = new SiblingReceipts({ receiptsHere: inProgress.receipts, recorder, ask })
  const receiver = new Receiver({
    ...parts,
    lease,
    random,
    inProgress,
    recorder,
    siblings,
    offers,
    refusedPdus,
    writeEvents,
    onBatch,
    onUnowned,
    onOwned: (received) => {
      statistics.inbound(received)
      if (traces?.samples(received.inbound.msgId)) traces.received(received)
    },
    onAnomaly: anomalies.note,
    onReceived: (received, holder) => deliverer.enqueue(heldInboundEvents(received, holder)),
  })
  return { recorder, idRules, offers, siblings, receiver }
}

type Answers = ReturnType<typeof takeAnswers>

/** Submits messages to the carriers. */
function submitMessages(
  options: AppOptions,
  shutdown: ShutdownStack,
  { anomalies, parts, random, traces }: Platform,
  { lease, deliverer, inProgress, quality }: Kept,
  { recorder, receiver }: Answers,
) {
  const { ambiguityWaitMs = AMBIGUITY_WAIT_MS, drainTimeoutMs, linkTimings } = options
  const timings = { unbindTimeoutMs: drainTimeoutMs * DRAIN.unbinds, ...linkTimings }
  const sandbox = new Sandbox(parts)
  const links = new CarrierLinks<SubmitToken>({ ...parts, timings, located: sandbox.located })
  // The simulator ends after its links, which unbind first.
  shutdown.add('sandbox', () => sandbox.stop())
  const binds = new BindLeases({ ...parts, lease, links })
  shutdown.add('binds', () => binds.stop())
  shutdown.add('carrier links', () => links.stop())
  const conditions = new CarrierConditions({ ...parts, lease })
  const submitter = new Submitter({
    ...parts,
    lease,
    random,
    ambiguityWaitMs,
    inProgress,
    recorder,
    quality,
    links,
    conditions,
    webhookRoom: (planId) => deliverer.roomFor(planId),
    onSubmit: (token, result, latencyMs, commandStatus) => {
      const { carrier, dispatch, route } = token.job
      quality.submitted({ carrierId: carrier.id, routeId: route.id, result, latencyMs })
      if (traces?.samples(dispatch.msgId)) traces.submitted(token, result, commandStatus)
    },
  })
  conditions.setSource(submitter)
  links.heardBy({ submitter, receiver, onAnomaly: anomalies.note })
  inProgress.heardBy({ onLeft: (msgIds) => submitter.left(msgIds) })
  shutdown.add('submitter', () => submitter.stop(drainTimeoutMs * DRAIN.submits))
  shutdown.add('carrier conditions', () => conditions.stop())
  return { sandbox, links, binds, conditions, submitter }
}

/** Periodic jobs. */
function keepUp(
  { retentionDays, auditRetentionDays, linkTimings }: AppOptions,
  shutdown: ShutdownStack,
  { clock, counters, parts }: Platform,
  { deliverer, inProgress, lease, onChanged, onState, statistics }: Kept,
  { idRules, receiver, recorder }: Answers,
) {
  const foreign = foreignReceipts({ ...parts, lease, recorder })
  shutdown.add('receipts over other nodes', () => foreign.stop())
  const byAddress = receiptsByAddress({
    ...parts,
    writeEvents: deliverer.due.write,
    onChanged,
    onState,
    responseTimeoutMs: linkTimings?.responseTimeoutMs,
  })
  shutdown.add('receipts of messages in doubt', () => byAddress.stop())
  const maintenance = new Maintenance({
    ...parts,
    retentionDays,
    auditRetentionDays,
    isClockCertain: () => clock.isCertain,
    newMessageId: () => receiver.newMessageId(),
    applyReceipts: (rows) => recorder.applyParked(rows),
    translateReceipts: () => idRules.translateParked(),
    onUnowned: counters.unowned,
    onOwned: (received) => statistics.inbound(received),
    // If one of several database servers (Citus) is down, the next sweep leaves its plans out.
    onSweepFailed: () => inProgress.away.probeFindsNew(),
    onState,
  })
  shutdown.add('maintenance', () => maintenance.stop())
  return [foreign, byAddress, maintenance]
}

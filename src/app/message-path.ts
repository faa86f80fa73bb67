import { LANE_LIMITS } from '../domain/delivery-lanes.ts'
import { messageId } from '../domain/message-ids.ts'
import { WebhookDispatcher } from '../outbound/dispatcher.ts'
import type { Parts } from '../parts.ts'
import { carrierTraffic } from '../services/carrier-traffic.ts'
import { heldEvents, heldInboundEvents } from '../services/held-events.ts'
import { Holdings } from '../services/holdings.ts'
import { IdRules } from '../services/id-rules.ts'
import { InboundOffers } from '../services/inbound-offers.ts'
import { Maintenance } from '../services/maintenance.ts'
import type { NodeLease } from '../services/node-lease.ts'
import { qualityMeters } from '../services/quality-meters.ts'
import { QualityWatch } from '../services/quality-watch.ts'
import { Receiver } from '../services/receiver.ts'
import { Recorder } from '../services/recorder.ts'
import { AMBIGUITY_WAIT_MS } from '../services/submitter.ts'
import { WebhookDeliverer } from '../services/webhook-deliverer.ts'
import { WebhookDestinations } from '../services/webhook-destinations.ts'
import type { Base } from './base.ts'
import { nodeLease } from './lease.ts'
import { type AppOptions, DRAIN } from './options.ts'

/**
 * From the database to the carriers and the customers' webhooks, and back. Every part is made before the first is started,
 * and the lease, by which this node takes work from others, is taken when nothing else can fail.
 */
export function makeMessagePath(options: AppOptions, parts: Parts, base: Base) {
  const { db, directory, secretKey, onError, random } = base
  const quality = qualityWatch(options, base)
  parts.add('quality watch', () => quality.stop())
  const dispatcher = webhookDispatcher(options, base)
  parts.add('webhook sockets', () => dispatcher.close())
  const lease = nodeLease(options, base)
  parts.add('lease', () => lease.stop())

  const shared = { db, directory, lease, random, onError, onBatch: base.counters.batch }
  const destinations = webhookDestinations(options, base)
  parts.add('webhook destinations', () => destinations.stop())
  const deliverer = new WebhookDeliverer({
    ...shared,
    dispatcher,
    destinations,
    secretKey,
    onAttempt: base.counters.webhookAttempt,
    maxHeld: options.webhooksHeld,
  })
  parts.add('webhook deliverer', () => deliverer.stop(options.drainTimeoutMs * DRAIN.webhooks))
  const eventHolder = () => deliverer.holder()
  const idRules = learningIdRules(options, base)
  const recorder = new Recorder({
    ...shared,
    idRules,
    eventHolder,
    onChanged: (messages) => {
      deliverer.enqueue(heldEvents(messages, lease.nodeId))
      quality.changed(messages)
    },
  })
  parts.add('recorder', () => recorder.drain(options.drainTimeoutMs * DRAIN.outcomes))
  const offers = inboundOffers(base, lease)
  parts.add('inbound offers', () => offers.stop())
  const receiver = new Receiver({
    ...shared,
    recorder,
    offers,
    eventHolder,
    onUnowned: base.onUnowned,
    onAnomaly: base.anomalies.note,
    onReceived: (received) => deliverer.enqueue(heldInboundEvents(received, lease.nodeId)),
  })
  const { submitter, links, binds, conditions, follow } = carrierTraffic({
    ...shared,
    recorder,
    receiver,
    quality,
    ambiguityWaitMs: options.ambiguityWaitMs ?? AMBIGUITY_WAIT_MS,
    onAnomaly: base.anomalies.note,
    timings: { unbindTimeoutMs: options.drainTimeoutMs * DRAIN.unbinds, ...options.linkTimings },
    log: (message, details, level) => options.log[level](details, message),
  })
  parts.add('binds', () => binds.stop())
  parts.add('carrier links', () => links.stop())
  const holdings = new Holdings({ ...shared, submitter, recorder, deliverer, intervalMs: options.holdingsMs })
  parts.add('messages taken without an answer', () => holdings.giveUp())
  parts.add('submitter', () => submitter.stop(options.drainTimeoutMs * DRAIN.submits))
  parts.add('carrier conditions', () => conditions.stop())
  lease.onExpired(() => {
    deliverer.forget()
    submitter.giveBackAll()
    holdings.leaseEnded(lease.nodeId)
  })
  const services = { lease, deliverer, destinations, recorder, receiver, submitter, links, quality }
  const start = async () => {
    await quality.start()
    await destinations.start()
    parts.add('carrier settings', base.directoryService.onChange(follow))
    await lease.start()
    await binds.start()
    await conditions.start()
    submitter.start()
    deliverer.start()
    startUpkeep(options, parts, base, { holdings, recorder, receiver, idRules })
  }
  return { ...services, dispatcher, start }
}

export type MessagePath = ReturnType<typeof makeMessagePath>

function qualityWatch(options: AppOptions, { db, directory, registry, onError }: Base): QualityWatch {
  return new QualityWatch({
    db,
    directory,
    meters: qualityMeters(registry),
    clock: options.qualityClock ?? Date.now,
    log: (message, details) => options.log.warn(details, message),
    onError,
    intervalMs: options.qualityMs,
  })
}

function inboundOffers({ db, random, onError }: Base, lease: NodeLease): InboundOffers {
  const newOfferId = () => messageId(Date.now(), random(9), 0)
  return new InboundOffers({ db, lease, newOfferId, clock: () => performance.now(), onError })
}

function learningIdRules({ log }: AppOptions, { db, directory }: Base): IdRules {
  return new IdRules({
    db,
    directory,
    nowMs: Date.now,
    onLearned: ({ name }, rule) => log.info({ carrier: name, idRule: rule }, 'id rule learned from receipts'),
  })
}

function webhookDispatcher(options: AppOptions, { guard }: Base): WebhookDispatcher {
  return new WebhookDispatcher(guard, {
    caPem: options.webhookCaPem,
    maxSocketsPerOrigin: LANE_LIMITS.perDestination,
    totalTimeoutMs: options.webhookTimeoutMs,
  })
}

function webhookDestinations(options: AppOptions, { db, onError }: Base): WebhookDestinations {
  return new WebhookDestinations({
    db,
    onError,
    onChange: (change, details) => options.log.warn(details, `webhook breaker ${change}`),
    probeMs: options.webhookProbeMs,
  })
}

interface Upkept {
  readonly holdings: Holdings
  readonly recorder: Recorder
  readonly receiver: Receiver
  readonly idRules: IdRules
}

/** What goes round at intervals. */
function startUpkeep(
  options: AppOptions,
  parts: Parts,
  { db, directory, onError, onUnowned }: Base,
  { holdings, recorder, receiver, idRules }: Upkept,
): void {
  holdings.start()
  parts.add('holdings', () => holdings.stop())
  const maintenance = new Maintenance({
    db,
    directory,
    newMessageId: () => receiver.newMessageId(),
    retentionDays: options.retentionDays,
    nowMs: Date.now,
    applyReceipts: (rows) => recorder.applyParked(rows),
    readReceipts: () => idRules.readParked(),
    onError: (job, error) => onError(`maintenance failed: ${job}`, error),
    onUnowned,
  })
  maintenance.start()
  parts.add('maintenance', () => maintenance.stop())
}

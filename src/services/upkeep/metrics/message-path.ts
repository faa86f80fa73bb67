import { Counter, Gauge, type Registry } from 'prom-client'
import type { Carrier } from '../../../domain/configuration/configuration.ts'
import type { Directory } from '../../../domain/configuration/directory.ts'
import { Histogram } from '../../../histogram.ts'
import { BATCHES, type BatchMeter } from '../../../operations/batches.ts'
import type { DeliveryOutcome } from '../../../outbound/webhook-post.ts'
import type { WebhookSender } from '../../../outbound/webhook-sender.ts'
import type { Database } from '../../../store/database.ts'
import { countParkedReceipts } from '../../../store/parked-receipts.ts'
import type { CarrierLinks } from '../../links/carrier-links.ts'
import type { MessagesInProgress } from '../../messages/messages-in-progress.ts'
import type { Recorder } from '../../messages/recorder.ts'
import type { QualityWatch } from '../../quality/quality-watch.ts'
import type { SubmitToken } from '../../sending/submit-job.ts'
import type { Submitter } from '../../sending/submitter.ts'
import type { Deliverer } from '../../webhooks/deliverer.ts'
import type { Destinations } from '../../webhooks/destinations.ts'
import { readForScrape } from './database.ts'

const DESTINATION_STATES = ['open', 'paused', 'recovering'] as const
/** Up to the largest batch there is, a journal entry of 1,000 facts. */
const BATCH_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]
/** Up to the time limit of an attempt. */
const WEBHOOK_LATENCY_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
/** Counting more would cost more than it tells. */
const MOST_COUNTED = 10_000

export interface MeasuredParts {
  /** The pool for look-ups. */
  readonly reads: Database
  readonly submitter: Submitter
  readonly inProgress: MessagesInProgress
  readonly recorder: Recorder
  readonly deliverer: Deliverer
  readonly destinations: Destinations
  readonly links: CarrierLinks<SubmitToken>
  readonly quality: QualityWatch
  readonly directory: () => Directory
}

type ByCarrier = ReadonlyMap<string, number>

export interface PathCounters {
  anomaly(kind: string, carrier: Carrier): void
  refused(kind: string, reason: string, carrier: Carrier): void
  unowned(count: number): void
  webhookAttempt(outcome: Pick<DeliveryOutcome, 'ok' | 'latencyMs'>): void
  readonly batch: BatchMeter
}

/** What happens on the message path, counted. Labels: carriers of the configuration, and kinds from closed lists. */
export function pathCounters(registry: Registry): PathCounters {
  const anomalies = new Counter({
    name: 'aldis_smpp_anomalies_total',
    help: 'what carriers sent that SMPP does not allow, or that nobody asked for',
    labelNames: ['carrier', 'kind'] as const,
    registers: [registry],
  })
  const refused = new Counter({
    name: 'aldis_deliver_sm_refused_total',
    help: 'receipts and inbound messages that carriers were asked to offer again (ESME_RX_T_APPN)',
    labelNames: ['carrier', 'kind', 'reason'] as const,
    registers: [registry],
  })
  const unowned = new Counter({
    name: 'aldis_inbound_unowned_total',
    help: 'inbound messages to numbers that nobody owns; they are kept for the operator',
    registers: [registry],
  })
  const attempts = new Counter({
    name: 'aldis_webhook_attempts_total',
    help: 'attempts to deliver a webhook event: answered 2xx, or not',
    labelNames: ['outcome'] as const,
    registers: [registry],
  })
  // The labels are hashed once instead of for every attempt.
  const [delivered, failed] = [attempts.labels('delivered'), attempts.labels('failed')]
  const webhookLatency = new Histogram<never>({
    name: 'aldis_webhook_latency_seconds',
    help: 'attempts to deliver a webhook event, from the request to its answer or its failure',
    buckets: WEBHOOK_LATENCY_BOUNDS,
    registry,
  }).labels({})
  const batches = new Histogram<'batch'>({
    name: 'aldis_batch_size',
    help: 'how many items are written by one statement',
    buckets: BATCH_BOUNDS,
    registry,
  })
  const sizes = new Map(BATCHES.map((batch) => [batch, batches.labels({ batch })]))
  return {
    batch: (batch, size) => sizes.get(batch)?.observe(size),
    webhookAttempt: ({ ok, latencyMs }) => {
      const counted = ok ? delivered : failed
      counted.inc()
      webhookLatency.observe(latencyMs / 1_000)
    },
    anomaly: (kind, carrier) => anomalies.inc({ carrier: carrier.name, kind }),
    refused: (kind, reason, carrier) => refused.inc({ carrier: carrier.name, kind, reason }),
    unowned: (count) => unowned.inc(count),
  }
}

/** Counts spans by what became of them. */
export function spanCounter(registry: Registry): (outcome: 'exported' | 'dropped', spans: number) => void {
  const counter = new Counter({
    name: 'aldis_trace_spans_total',
    help: 'spans of traces: taken by the collector, or dropped because it did not take them in time',
    labelNames: ['outcome'] as const,
    registers: [registry],
  })
  return (outcome, spans) => counter.inc({ outcome }, spans)
}

/** Gauges of what this node holds, read when they are scraped. No label names a phone number, a message or a tenant. */
export function messagePathMetrics(registry: Registry, parts: MeasuredParts): void {
  const gauge = gaugesIn(registry)
  const { reads, inProgress, submitter, recorder, deliverer, destinations, directory } = parts
  gauge('aldis_receipts_parked', `receipts without a submission, ${MOST_COUNTED} at most`, async () => {
    const count = await readForScrape(countParkedReceipts(reads, MOST_COUNTED))
    return count ?? Number.NaN
  })
  gauge('aldis_messages_held', 'messages in memory, to be submitted or in flight', () => submitter.held)
  gauge(
    'aldis_messages_in_progress',
    'messages in memory and journal: without a record, or taken out of it',
    () => inProgress.size,
  )
  gauge(
    'aldis_record_backlog',
    'what was learned of messages and is not yet in journal or tables',
    () => recorder.backlog + inProgress.pending,
  )
  const heldHelp = 'messages with webhook events in memory, waiting or in flight'
  gauge('aldis_webhook_events_held', heldHelp, () => deliverer.heldMessages)
  gauge(
    'aldis_webhook_requests_in_flight',
    'webhook requests whose answer is awaited',
    () => deliverer.inFlight,
  )
  new Gauge({
    name: 'aldis_webhook_destinations',
    help: 'destinations of a plan in trouble, of all nodes: open, paused or recovering',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      for (const state of DESTINATION_STATES) this.set({ state }, destinations.count(state))
    },
  })
  gauge(
    'aldis_secrets_unreadable',
    'accounts, carriers and URLs out of service because a secret of theirs cannot be decrypted',
    () => directory().unreadable.length,
  )
  carrierMetrics(registry, parts)
}

function carrierMetrics(registry: Registry, { links, quality, directory }: MeasuredParts): void {
  /** One value for each carrier. It is 0 if `read` does not name the carrier; there is no series while `read` returns null. */
  const carrierGauge = (name: string, help: string, read: () => ByCarrier | Promise<ByCarrier | null>) =>
    new Gauge({
      name,
      help,
      labelNames: ['carrier'] as const,
      registers: [registry],
      async collect() {
        this.reset()
        const values = await read()
        if (values === null) return
        for (const { name: carrier } of directory().contents.carriers)
          this.set({ carrier }, values.get(carrier) ?? 0)
      },
    })
  new Gauge({
    name: 'aldis_carrier_bound',
    help: '1 when the carrier has a bound link on this node; no series for a stopped carrier',
    labelNames: ['carrier'] as const,
    registers: [registry],
    collect() {
      this.reset()
      for (const { id, name, state } of directory().contents.carriers) {
        if (state === 'stopped') continue
        const isBound = links.status(id).some((link) => link.boundSince !== null)
        this.set({ carrier: name }, isBound ? 1 : 0)
      }
    },
  })
  const ofLinks = (read: (carrierId: number) => number): ByCarrier =>
    new Map(directory().contents.carriers.map(({ id, name }) => [name, read(id)]))
  carrierGauge('aldis_submits_unanswered', 'submits whose response is awaited, on this node', () =>
    ofLinks((id) => links.inFlight(id)),
  )
  carrierGauge('aldis_submit_windows', 'how many submits may be unanswered at once, on this node', () =>
    ofLinks((id) => links.places(id)),
  )
  carrierGauge(
    'aldis_carrier_out_of_use',
    'routes in which the carrier is out of use by their quality floor',
    () => quality.outOfUseRoutes(),
  )
  carrierGauge(
    'aldis_receipts_missing',
    'messages sent in the hour before the last 10 minutes that have no final receipt, of all nodes',
    async () => {
      const rows = await readForScrape(quality.missingReceipts())
      return rows && new Map(rows.map(({ carrier, missing }) => [carrier, missing]))
    },
  )
}

/** How busy the thread that sends webhooks is. Node's own figures are those of the main thread. */
export function webhookThreadMetrics(registry: Registry, sender: Pick<WebhookSender, 'measure'>): void {
  const gauge = gaugesIn(registry)
  const since = 'of the thread that sends webhooks, since the last scrape'
  gauge(
    'aldis_webhook_thread_lag_p99_seconds',
    `event loop lag ${since}`,
    async () => (await sender.measure()).lagP99,
  )
  gauge(
    'aldis_webhook_thread_utilization',
    `busy share ${since}`,
    async () => (await sender.measure()).utilization,
  )
}

/** Makes gauges that are read when they are scraped. */
function gaugesIn(registry: Registry) {
  return (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(await read())
      },
    })
}

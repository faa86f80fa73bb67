import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Carrier, Directory } from '../domain/directory.ts'
import {
  FINAL_RESULTS,
  type FinalResult,
  RECEIPT_LATENCY_BOUNDS_MS,
  SUBMIT_LATENCY_BOUNDS_MS,
  SUBMIT_RESULTS,
  type SubmitResult,
} from '../domain/quality.ts'
import type { Database } from '../store/database.ts'
import { countParkedReceipts } from '../store/receipts.ts'
import type { CarrierLinks } from './carrier-links.ts'
import type { QualityMeters, QualityWatch } from './quality-watch.ts'
import type { Recorder } from './recorder.ts'
import type { SubmitToken } from './submit-job.ts'
import type { Submitter } from './submitter.ts'
import type { WebhookDeliverer } from './webhook-deliverer.ts'

/** Counting more would cost more than it tells. */
const MOST_COUNTED = 10_000

export interface MeasuredServices {
  readonly db: Database
  readonly submitter: Submitter
  readonly recorder: Recorder
  readonly deliverer: WebhookDeliverer
  readonly links: CarrierLinks<SubmitToken>
  readonly quality: QualityWatch
  readonly directory: () => Directory
}

export interface EventCounters {
  anomaly(kind: string, carrier: Carrier): void
  unowned(count: number): void
}

/** Counters of what should not happen. Labels: carriers of the configuration, and kinds from a closed list. */
export function eventCounters(registry: Registry): EventCounters {
  const anomalies = new Counter({
    name: 'aldis_smpp_anomalies_total',
    help: 'what carriers sent that SMPP does not allow, or that nobody asked for',
    labelNames: ['carrier', 'kind'] as const,
    registers: [registry],
  })
  const unowned = new Counter({
    name: 'aldis_inbound_unowned_total',
    help: 'inbound messages to numbers that nobody owns; they are kept for the operator',
    registers: [registry],
  })
  return {
    anomaly: (kind, carrier) => anomalies.inc({ carrier: carrier.name, kind }),
    unowned: (count) => unowned.inc(count),
  }
}

/** Series of one carrier, looked up once and not for every message. */
interface CarrierSeries {
  readonly submits: Readonly<Record<SubmitResult, { inc(): void }>>
  readonly receipts: Readonly<Record<FinalResult, { inc(): void }>>
  readonly submitLatency: { observe(seconds: number): void }
  readonly receiptLatency: { observe(seconds: number): void }
}

/** How each carrier does, seen by this node. Labels: carriers of the configuration, and results from a closed list. */
export function qualityMeters(registry: Registry): QualityMeters {
  const common = { labelNames: ['carrier', 'result'] as const, registers: [registry] }
  const submits = new Counter({
    name: 'aldis_submits_total',
    help: 'submit_sm by what came of them',
    ...common,
  })
  const receipts = new Counter({
    name: 'aldis_final_receipts_total',
    help: 'messages by their status after SENT',
    ...common,
  })
  const latency = (name: string, help: string, boundsMs: readonly number[]) =>
    new Histogram({
      name,
      help,
      labelNames: ['carrier'] as const,
      buckets: boundsMs.map((ms) => ms / 1_000),
      registers: [registry],
    })
  const submitLatency = latency(
    'aldis_submit_latency_seconds',
    'from submit_sm to its response',
    SUBMIT_LATENCY_BOUNDS_MS,
  )
  const receiptLatency = latency(
    'aldis_receipt_latency_seconds',
    'from SENT to the status that followed',
    RECEIPT_LATENCY_BOUNDS_MS,
  )
  // A counter is there from 0 on, so that its first increase shows.
  const fromNone = (counter: Counter<'carrier' | 'result'>, labels: { carrier: string; result: string }) => {
    counter.inc(labels, 0)
    return counter.labels(labels)
  }
  const known = new Map<string, CarrierSeries>()
  const seriesOf = (carrier: string): CarrierSeries => {
    let series = known.get(carrier)
    if (series === undefined) {
      series = {
        submits: byResult(SUBMIT_RESULTS, (result) => fromNone(submits, { carrier, result })),
        receipts: byResult(FINAL_RESULTS, (result) => fromNone(receipts, { carrier, result })),
        submitLatency: submitLatency.labels({ carrier }),
        receiptLatency: receiptLatency.labels({ carrier }),
      }
      known.set(carrier, series)
    }
    return series
  }
  return {
    submitted(carrier, result, latencyMs) {
      const series = seriesOf(carrier)
      series.submits[result].inc()
      if (latencyMs !== null) series.submitLatency.observe(latencyMs / 1_000)
    },
    finished(carrier, result, latencyMs) {
      const series = seriesOf(carrier)
      series.receipts[result].inc()
      series.receiptLatency.observe(latencyMs / 1_000)
    },
  }
}

function byResult<Result extends string, Value>(
  results: readonly Result[],
  make: (result: Result) => Value,
): Record<Result, Value> {
  return Object.fromEntries(results.map((result) => [result, make(result)])) as Record<Result, Value>
}

/** Gauges of what this node holds, read when they are scraped. No label names a number, a message or a tenant. */
export function serviceMetrics(registry: Registry, services: MeasuredServices): void {
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(await read())
      },
    })
  const { db, submitter, recorder, deliverer, links, quality, directory } = services
  gauge('aldis_receipts_parked', `receipts without a submission, ${MOST_COUNTED} at most`, () =>
    countParkedReceipts(db, MOST_COUNTED).catch(() => Number.NaN),
  )
  gauge('aldis_messages_held', 'messages in memory, to be submitted or under way', () => submitter.held)
  gauge('aldis_record_backlog', 'carrier outcomes not yet written to the database', () => recorder.backlog)
  gauge('aldis_webhook_events_held', 'webhook events in memory, waiting or under way', () => deliverer.held)
  gauge('aldis_submits_unanswered', 'submits whose response is awaited', () => links.unanswered)
  new Gauge({
    name: 'aldis_carrier_bound',
    help: '1 when the carrier has a bound link on this node',
    labelNames: ['carrier'] as const,
    registers: [registry],
    collect() {
      this.reset()
      for (const carrier of directory().contents.carriers) {
        const bound = links.status(carrier.id).some((link) => link.boundSince !== null)
        this.set({ carrier: carrier.name }, bound ? 1 : 0)
      }
    },
  })
  new Gauge({
    name: 'aldis_carrier_out_of_use',
    help: 'routes in which the carrier is out of use by their quality floor',
    labelNames: ['carrier'] as const,
    registers: [registry],
    collect() {
      this.reset()
      const routes = quality.outOfUseRoutes()
      for (const { name } of directory().contents.carriers) this.set({ carrier: name }, routes.get(name) ?? 0)
    },
  })
}

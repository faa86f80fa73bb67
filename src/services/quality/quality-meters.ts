import { Counter, type Registry } from 'prom-client'
import {
  FINAL_RESULTS,
  type FinalResult,
  RECEIPT_LATENCY_BOUNDS_MS,
  SUBMIT_LATENCY_BOUNDS_MS,
} from '../../domain/carriers/quality.ts'
import { SUBMIT_RESULTS, type SubmitResult } from '../../domain/carriers/statuses.ts'
import { Histogram } from '../../histogram.ts'
import type { QualityMeters } from './quality-watch.ts'

/** The series of one carrier, looked up once instead of for every message. */
interface CarrierSeries {
  readonly submits: Readonly<Record<SubmitResult, { inc(): void }>>
  readonly receipts: Readonly<Record<FinalResult, { inc(): void }>>
  readonly submitLatency: { observe(seconds: number): void }
  readonly receiptLatency: { observe(seconds: number): void }
}

/** Results of each carrier, as seen by this node. Labels: carriers of the configuration, and results from a closed list. */
export function qualityMeters(registry: Registry): QualityMeters {
  const counts: (() => void)[] = []
  const common = {
    labelNames: ['carrier', 'result'] as const,
    registers: [registry],
    collect() {
      for (const flush of counts) flush()
    },
  }
  const counter = (name: string, help: string) => new Counter({ name, help, ...common })
  const submits = counter('aldis_submits_total', 'submit_sm by what came of them')
  const receipts = counter('aldis_final_receipts_total', 'messages by their status after SENT')
  const latency = (name: string, help: string, boundsMs: readonly number[]) =>
    new Histogram<'carrier'>({ name, help, buckets: boundsMs.map((ms) => ms / 1_000), registry })
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
  // A counter starts at 0, so that its first increase shows. It is filled when it is scraped, because each `inc` with labels
  // costs 160 ns, and a message has two.
  const fromNone = (counter: Counter<'carrier' | 'result'>, labels: { carrier: string; result: string }) => {
    let pending = 0
    const flush = () => {
      counter.inc(labels, pending)
      pending = 0
    }
    flush()
    counts.push(flush)
    return {
      inc: () => {
        pending += 1
      },
    }
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

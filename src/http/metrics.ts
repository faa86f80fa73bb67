import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { ErrorCode } from '../errors.ts'
import { EventLoopLag } from '../event-loop-lag.ts'
import { DURATION_BOUNDS, Histogram } from '../histogram.ts'
import { sharedAnswer } from './shared-answer.ts'

/** The figures of one process. */
export type Metrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** A send is counted where it is answered: by short-sends.ts in the usual case, otherwise by request-records.ts. */
export interface HttpMetrics {
  readonly registry: Registry
  /** `route` is a pattern of ours or a fixed word, so the number of series is bounded by the code. */
  observe(method: string, route: string, status: number, seconds: number): void
  /** A send was answered. Null: it was accepted. */
  send(errorCode: ErrorCode | null): void
  /** The connection of a send was closed without an answer. */
  unanswered(): void
}

/** Gauges of prom-client that are named like counters. Each has a twin with the label `type`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

const LAG_FIGURES: readonly (readonly [figure: string, read: (lag: EventLoopLag) => number])[] = [
  ['min', (lag) => lag.min],
  ['max', (lag) => lag.max],
  ['mean', (lag) => lag.mean],
  ['stddev', (lag) => lag.stddev],
  ['p50', (lag) => lag.percentile(50)],
  ['p90', (lag) => lag.percentile(90)],
  ['p99', (lag) => lag.percentile(99)],
]
const LAST_FIGURE = 'p99'

/** How often prom-client samples the event loop's lag, which `EventLoopLag` measures for less. */
const NEVER_MS = 24 * 3_600_000

/** The process's own metrics. prom-client watches the event loop and the collector until the process ends: once is enough. */
let ownMetrics: Registry | undefined

/** A registry with the process's own metrics. Every series gets `labels`. */
export function processRegistry(version: string, labels: Readonly<Record<string, string>> = {}): Registry {
  if (ownMetrics === undefined) {
    ownMetrics = new Registry()
    collectDefaultMetrics({ register: ownMetrics, eventLoopMonitoringPrecision: NEVER_MS })
    for (const name of MISNAMED) ownMetrics.removeSingleMetric(name)
    lagMetrics(ownMetrics)
  }
  const register = new Registry()
  register.setDefaultLabels(labels)
  for (const { name } of ownMetrics.getMetricsAsArray())
    register.registerMetric(ownMetrics.getSingleMetric(name)!)
  new Gauge({
    name: 'aldis_build_info',
    help: 'always 1; the version of Aldis and of Node.js that this node runs',
    labelNames: ['version', 'node'] as const,
    registers: [register],
  }).set({ version, node: process.version.slice(1) }, 1)
  return register
}

/** In place of prom-client's gauges of the same names. */
function lagMetrics(registry: Registry): void {
  const lag = new EventLoopLag()
  for (const [figure, read] of LAG_FIGURES) {
    const name = `nodejs_eventloop_lag_${figure}_seconds`
    registry.removeSingleMetric(name)
    new Gauge({
      name,
      help: `The ${figure} of the lag of the event loop since the last scrape.`,
      registers: [registry],
      collect() {
        this.set(read(lag))
        // A scrape reads them in this order.
        if (figure === LAST_FIGURE) lag.reset()
      },
    })
  }
}

/** The figures of several processes in one text. A label tells their series apart; nothing is added up. */
export function mergedMetrics(all: readonly Metrics[]): Promise<string> {
  const kept = all.map((metrics) => metrics.map((metric) => ({ ...metric, aggregator: 'sum' })))
  return metricsText(AggregatorRegistry.aggregate(kept as unknown as object[]))
}

/** What `registry.metrics()` returns. The event loop turns after each metric, which may have series of 1,000 carriers. */
export async function metricsText(registry: Registry): Promise<string> {
  const texts: string[] = []
  for (const { name } of registry.getMetricsAsArray()) {
    texts.push(await registry.getSingleMetricAsString(name))
    await setImmediate()
  }
  return `${texts.join('\n\n')}\n`
}

export function httpMetrics(registry: Registry): HttpMetrics {
  const histogram = new Histogram<'method' | 'route' | 'status'>({
    name: 'aldis_http_request_duration_seconds',
    help: 'HTTP requests by route and status, and how long they took',
    buckets: DURATION_BOUNDS,
    registry,
  })
  const accepted = new Counter({
    name: 'aldis_messages_accepted_total',
    help: 'messages answered 202, repetitions under an Idempotency-Key not counted',
    registers: [registry],
  })
  const refused = new Counter({
    name: 'aldis_messages_refused_total',
    help: 'sends that were refused, by the errorCode of the answer',
    labelNames: ['code'] as const,
    registers: [registry],
  })
  const unanswered = new Counter({
    name: 'aldis_sends_unanswered_total',
    help: 'sends whose connection was closed without an answer, because nobody could say what became of them',
    registers: [registry],
  })
  const series = new Map<string, { observe(seconds: number): void }>()
  return {
    registry,
    observe(method, route, status, seconds) {
      const key = `${method} ${route} ${status}`
      let one = series.get(key)
      if (one === undefined) {
        one = histogram.labels({ method, route, status: String(status) })
        series.set(key, one)
      }
      one.observe(seconds)
    },
    send: (errorCode) => (errorCode === null ? accepted.inc() : refused.inc({ code: errorCode })),
    unanswered: () => unanswered.inc(),
  }
}

/** `/metrics` in the Prometheus text format. */
export function registerMetrics(app: FastifyInstance, scrape: () => Promise<string>): void {
  const askText = sharedAnswer(scrape)
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(await askText())
  })
}

import {
  type Attributes,
  type Link,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { SpanIds } from '../../domain/trace-context.ts'
import type { Log } from '../../log.ts'

/** What the exporter says of a batch; its package has no name for it. */
type ExportResult = Parameters<Parameters<SpanExporter['export']>[1]>[0]
const FAILED: ExportResult['code'] = 1

/** Where spans are exported to, as OTLP over HTTP. */
export interface Collector {
  /** The whole URL. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string
  /** How long finished spans wait for others, unless there are MAX_BATCH of them. Default 5 s. */
  readonly flushMs?: number
  /** For a batch, with its retries. Default 5 s. */
  readonly timeoutMs?: number
}

export interface SpanQueueOptions {
  readonly collector: Collector
  readonly nodeName: string
  readonly version: string
  readonly log: Log
  readonly count: (outcome: 'exported' | 'dropped', spans: number) => void
}

/** Something that has happened. */
export interface FinishedSpan {
  readonly name: string
  readonly kind: keyof typeof SpanKind
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Attributes
  readonly failed?: boolean
  /** Absent: random ones, in the trace of the parent if there is one. */
  readonly ids?: SpanIds
  readonly parent?: SpanIds
  readonly links?: readonly SpanIds[]
}

/** Spans in memory, waiting or being exported. With more than this, new ones are dropped. */
const MOST_PENDING = 2_048
const MAX_BATCH = 512
const FLUSH_MS = 5_000
const TIMEOUT_MS = 5_000
/** A batch whose answer never ends is given up after this many times TIMEOUT_MS. */
const LATE = 2
/** How long the last spans may take when this node stops. */
const STOP_MS = 2_000

/**
 * Hands spans to OpenTelemetry's batch processor and exporter. Neither blocks nor fails: what a collector does not take in time
 * is dropped and counted.
 */
export class SpanQueue {
  readonly #options: SpanQueueOptions
  readonly #provider: TracerProvider
  readonly #tracer: Tracer
  readonly #ids = new GivenIds()
  #pending = 0
  #failing = false

  constructor(options: SpanQueueOptions) {
    this.#options = options
    const { collector, nodeName, version } = options
    const { flushMs: scheduledDelayMillis = FLUSH_MS } = collector
    const exporter = this.#counted(collector)
    const batching = { scheduledDelayMillis, maxQueueSize: MOST_PENDING, maxExportBatchSize: MAX_BATCH }
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({
        'service.name': collector.serviceName,
        'service.version': version,
        'service.instance.id': nodeName,
      }),
      idGenerator: this.#ids,
      spanProcessors: [new BatchSpanProcessor({ exporter, ...batching })],
    })
    this.#tracer = this.#provider.getTracer('aldis', version)
  }

  /** Never throws: the message goes on whatever becomes of its span. */
  add(span: FinishedSpan): void {
    if (this.#pending >= MOST_PENDING) {
      this.#options.count('dropped', 1)
      return
    }
    this.#pending += 1
    try {
      this.#record(span)
    } catch (error) {
      this.#ended(1, error as Error)
    }
  }

  #record(finished: FinishedSpan): void {
    const { name, kind, startMs: startTime, attributes, parent, links = [] } = finished
    this.#ids.given = finished.ids
    const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, sampled(parent))
    const options = { kind: SpanKind[kind], startTime, attributes, links: links.map(linkTo) }
    const span = this.#tracer.startSpan(name, options, context)
    if (finished.failed) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(Math.max(startTime, finished.endMs))
  }

  /** Exports what is left, within STOP_MS. */
  async stop(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, STOP_MS)
    await Promise.race([this.#provider.shutdown().catch(() => undefined), late])
    clearTimeout(timer)
  }

  /** The exporter of OpenTelemetry, which retries what the collector may take later. */
  #counted({ url, headers, timeoutMs: timeoutMillis = TIMEOUT_MS }: Collector): SpanExporter {
    const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis })
    return {
      export: (spans, done) => {
        let isOver = false
        const end = (result: ExportResult) => {
          if (isOver) return
          isOver = true
          clearTimeout(late)
          this.#ended(spans.length, result.error)
          done(result)
        }
        // The exporter's own limit begins anew with each octet of the answer.
        const late = setTimeout(end, LATE * timeoutMillis, { code: FAILED, error: new Error('late') }).unref()
        exporter.export(spans, end)
      },
      shutdown: () => exporter.shutdown(),
    }
  }

  /** Logs the first failure and the first success after it. What a collector says comes with a code, which is logged instead. */
  #ended(spans: number, error: Error | undefined): void {
    const { count, log } = this.#options
    this.#pending -= spans
    count(error === undefined ? 'exported' : 'dropped', spans)
    const isFailing = error !== undefined
    if (isFailing && !this.#failing)
      log.warn({ reason: (error as NodeJS.ErrnoException).code ?? error.message }, 'traces are not exported')
    if (!isFailing && this.#failing) log.warn({}, 'traces are exported again')
    this.#failing = isFailing
  }
}

/** Random ids, except for a span that comes with its own. */
class GivenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator()
  given: SpanIds | undefined

  generateTraceId(): string {
    return this.given?.traceId ?? this.#random.generateTraceId()
  }

  generateSpanId(): string {
    return this.given?.spanId ?? this.#random.generateSpanId()
  }
}

function sampled({ traceId, spanId }: SpanIds) {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
}

function linkTo(ids: SpanIds): Link {
  return { context: sampled(ids) }
}

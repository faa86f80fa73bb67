/** An OpenTelemetry collector as far as Aldis sees one: OTLP over HTTP, on a real socket, with the manners it is told to have. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from './eventually.ts'

/** A span as OTLP/JSON has it, with its attributes as an object. */
export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly failed: boolean
  /** `service.instance.id` of its resource. */
  readonly node: string
}

export type CollectorAnswer = (response: ServerResponse) => void

export interface OtlpCollector {
  /** `http://127.0.0.1:port/v1/traces`. */
  readonly url: string
  readonly port: number
  /** Of requests that were answered with a success. */
  readonly spans: readonly CollectedSpan[]
  /** Bodies as they came, of all requests. */
  readonly bodies: readonly string[]
  readonly requests: readonly Pick<IncomingMessage, 'url' | 'headers'>[]
  /** From now on; null: takes the spans. */
  answerWith(answer: CollectorAnswer | null): void
  /** Waits until there are such spans. */
  until(fits: (spans: readonly CollectedSpan[]) => boolean): Promise<void>
  close(): Promise<void>
}

export async function startOtlpCollector(port = 0): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = []
  const bodies: string[] = []
  const requests: IncomingMessage[] = []
  let answer: CollectorAnswer | null = null
  const server = createServer(async (request, response) => {
    requests.push(request)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    bodies.push(body)
    if (answer !== null) return answer(response)
    spans.push(...spansOf(JSON.parse(body)))
    response.setHeader('content-type', 'application/json').end('{}')
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}/v1/traces`,
    port: address.port,
    spans,
    bodies,
    requests,
    answerWith(next) {
      answer = next
    },
    until: async (fits) => void (await eventually(() => fits(spans))),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface KeyValue {
  readonly key: string
  readonly value: Readonly<Record<string, string | number | boolean>>
}

interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] }
    // biome-ignore lint/suspicious/noExplicitAny: a span as JSON has it
    readonly scopeSpans: readonly { readonly spans: readonly any[] }[]
  }[]
}

function spansOf({ resourceSpans }: Request): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map(({ startTimeUnixNano, endTimeUnixNano, attributes, links, status, ...span }) => ({
        ...span,
        startMs: Number(startTimeUnixNano) / 1e6,
        endMs: Number(endTimeUnixNano) / 1e6,
        attributes: attributesOf(attributes),
        links: links ?? [],
        failed: status?.code === 2,
        node: String(attributesOf(resource.attributes)['service.instance.id']),
      })),
    ),
  )
}

function attributesOf(pairs: readonly KeyValue[]): CollectedSpan['attributes'] {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]!]))
}

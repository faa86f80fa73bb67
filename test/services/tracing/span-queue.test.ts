import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SpanQueue } from '../../../src/services/tracing/span-queue.ts'
import { eventually } from '../../support/eventually.ts'
import { type CollectorAnswer, type OtlpCollector, startOtlpCollector } from '../../support/otlp-collector.ts'
import { freePort } from '../../support/process.ts'

/** More than fit. */
const MANY = 3_000
const MOST_PENDING = 2_048
const TIMEOUT_MS = 150
const AT_MS = Date.UTC(2026, 0, 1)

let counts: { exported: number; dropped: number }
let logs: string[]
const opened: { close(): Promise<unknown> }[] = []

beforeEach(() => {
  counts = { exported: 0, dropped: 0 }
  logs = []
})

afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

function queueTo(port: number, times = { flushMs: 5, timeoutMs: TIMEOUT_MS }): SpanQueue {
  return new SpanQueue({
    collector: {
      url: `http://127.0.0.1:${port}/v1/traces`,
      headers: { authorization: 'CANARY' },
      serviceName: 'sms',
      ...times,
    },
    nodeName: 'node-a',
    version: '1.2.3',
    log: pino({ level: 'warn' }, { write: (line: string) => logs.push(line) }),
    count: (outcome, spans) => {
      counts[outcome] += spans
    },
  })
}

function add(queue: SpanQueue, spans: number): void {
  for (let index = 0; index < spans; index += 1)
    queue.add({ name: 'accept', kind: 'SERVER', startMs: AT_MS, endMs: AT_MS - 1, attributes: { index } })
}

async function collectorAt(port: number): Promise<OtlpCollector> {
  const collector = await startOtlpCollector(port)
  opened.push(collector)
  return collector
}

/** Takes connections, and reads or answers nothing. */
async function blackHole(port: number): Promise<Server> {
  const sockets: Socket[] = []
  const server = createServer((socket) => void sockets.push(socket.on('error', () => undefined)))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  opened.push({
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(resolve))
    },
  })
  return server
}

const whole =
  (status: number, body: string): CollectorAnswer =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'text/plain' }).end(body)

const MANNERS: Record<string, CollectorAnswer | null> = {
  'that is not there': null,
  'that takes connections and is silent': null,
  'that refuses': whole(400, 'CANARY'),
  'that fails': whole(500, 'CANARY'),
  'that is overloaded': (response) => void response.writeHead(503, { 'retry-after': '3600' }).end(),
  'that answers later than it may': () => undefined,
  'that answers without an end': (response) => {
    const drip = setInterval(() => response.write('x'), TIMEOUT_MS / 10)
    response.on('close', () => clearInterval(drip))
  },
  'that redirects': (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  'that closes': (response) => void response.socket!.destroy(),
}

test.each(Object.entries(MANNERS))(
  'a collector %s: spans are dropped until it is back',
  async (manner, answer) => {
    const port = await freePort()
    if (manner.includes('silent')) await blackHole(port)
    else if (answer !== null) (await collectorAt(port)).answerWith(answer)
    const queue = queueTo(port)
    add(queue, MANY)
    expect(counts).toEqual({ exported: 0, dropped: MANY - MOST_PENDING })
    await eventually(() => counts.dropped === MANY)
    for (const one of opened.splice(0)) await one.close()
    const collector = await collectorAt(port)
    let added = MANY
    await eventually(() => {
      add(queue, 1)
      added += 1
      return counts.exported > 0
    })
    await eventually(() => counts.exported + counts.dropped === added)
    await queue.stop()
    // On a busy machine an answer comes later than it may: the collector has those spans, which count as dropped.
    const taken = new Set(collector.spans.map(({ spanId }) => spanId)).size
    expect(taken).toBeGreaterThanOrEqual(counts.exported)
    expect(taken).toBeLessThanOrEqual(added - MANY)
    const messages = logs.map((line) => JSON.parse(line).msg)
    expect(messages.length).toBeGreaterThanOrEqual(2)
    expect(messages).toEqual(
      messages.map((_, index) => (index % 2 === 0 ? 'traces are not exported' : 'traces are exported again')),
    )
    expect(logs.join()).not.toContain('CANARY')
  },
)

test.each([
  ['garbage', whole(200, '{]\0')],
  ['an answer of 5 MB, begun with 200', whole(200, 'x'.repeat(5_000_000))],
])('an answer that is %s costs nothing', async (_, answer) => {
  const port = await freePort()
  const collector = await collectorAt(port)
  collector.answerWith(answer)
  const queue = queueTo(port)
  add(queue, 10)
  await eventually(() => counts.exported + counts.dropped === 10)
  collector.answerWith(null)
  add(queue, 10)
  await eventually(() => counts.exported >= 10)
  await queue.stop()
})

test('the last spans are exported when the node stops, and a silent collector does not keep it', async () => {
  const port = await freePort()
  const collector = await collectorAt(port)
  const never = { flushMs: 3_600_000, timeoutMs: 3_600_000 }
  const queue = queueTo(port, never)
  add(queue, 600)
  await queue.stop()
  expect(collector.spans.length).toBe(600)
  expect(collector.spans[0]).toMatchObject({ node: 'node-a', startMs: AT_MS, endMs: AT_MS })
  const silent = await freePort()
  await blackHole(silent)
  const other = queueTo(silent, never)
  add(other, MANY)
  await other.stop()
})

import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { configuration, serveParent, tellParent } from './parent.ts'
import { type Percentiles, percentiles } from './percentiles.ts'

/**
 * The webhook receiver: answers 200 and counts what came for each message. One that hangs takes requests, counts nothing
 * and answers nothing, until it is told to.
 */

export interface ReceiverConfig {
  readonly tls: { readonly certPem: string; readonly keyPem: string } | null
  readonly hangs?: boolean
}

export interface ReceiverReport {
  /** Messages whose SENT and DELIVERED both arrived. */
  readonly completed: number
  /** Webhooks that came again, that came before an earlier one of their message, or with another status. */
  readonly repeated: number
  readonly disordered: number
  readonly unexpected: number
  /** Webhooks counted, and when the first and the last of them came: Unix milliseconds, 0 when none did. */
  readonly webhooks: number
  readonly firstAtMs: number
  readonly lastAtMs: number
}

export interface ReceiverTimings {
  /** From the change (updatedAt) to the arrival. */
  readonly webhookDelayMs: Percentiles
  /** From the creation (the millisecond in msgId) to the arrival of DELIVERED. */
  readonly deliveredMs: Percentiles
}

const SENT = 1
const DELIVERED = 2
const COMPLETE = SENT | DELIVERED
const NEWS_INTERVAL_MS = 5

const config = configuration<ReceiverConfig>()
let hangs = config.hangs ?? false
const received = new Map<string, number>()
let completed = 0
let told = 0
let repeated = 0
let disordered = 0
let unexpected = 0
let webhooks = 0
let firstAtMs = 0
let lastAtMs = 0
let webhookDelays: number[] = []
let deliveries: number[] = []

function field(text: string, name: string): string {
  const start = text.indexOf(name) + name.length
  return start < name.length ? '' : text.slice(start, text.indexOf('"', start))
}

function count(text: string): void {
  const msgId = field(text, '"msgId":"')
  const status = field(text, '"status":"')
  const bit = status === 'SENT' ? SENT : status === 'DELIVERED' ? DELIVERED : 0
  if (bit === 0) {
    unexpected += 1
    return
  }
  const before = received.get(msgId) ?? 0
  if ((before & bit) !== 0) {
    repeated += 1
    return
  }
  if (bit === SENT && before !== 0) disordered += 1
  received.set(msgId, before | bit)
  if ((before | bit) === COMPLETE) completed += 1
  const nowMs = performance.timeOrigin + performance.now()
  webhooks += 1
  if (firstAtMs === 0) firstAtMs = nowMs
  lastAtMs = nowMs
  webhookDelays.push(nowMs - Date.parse(field(text, '"updatedAt":"')))
  if (bit === DELIVERED) deliveries.push(nowMs - Number.parseInt(msgId.slice(0, 8) + msgId.slice(9, 13), 16))
}

const onRequest: http.RequestListener = (request, response) => {
  let text = ''
  request.setEncoding('latin1')
  request.on('data', (chunk: string) => {
    text += chunk
  })
  request.on('end', () => {
    if (hangs) return
    count(text)
    response.writeHead(200, { 'content-length': '0' })
    response.end()
  })
}

const server =
  config.tls === null
    ? http.createServer(onRequest)
    : https.createServer({ cert: config.tls.certPem, key: config.tls.keyPem }, onRequest)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

const newsTimer = setInterval(() => {
  if (completed === told) return
  told = completed
  tellParent(completed)
}, NEWS_INTERVAL_MS)

serveParent(
  { port: (server.address() as AddressInfo).port },
  {
    /** Starts a new series of timings. */
    reset() {
      webhookDelays = []
      deliveries = []
    },
    timings: (): ReceiverTimings => ({
      webhookDelayMs: percentiles(webhookDelays),
      deliveredMs: percentiles(deliveries),
    }),
    /** The webhook delays since the last reset, or since they were last taken. */
    takeDelays: () => webhookDelays.splice(0),
    /** Whoever hangs on goes on hanging; what comes from now on is answered. */
    answer() {
      hangs = false
    },
    report: (): ReceiverReport => {
      return { completed, repeated, disordered, unexpected, webhooks, firstAtMs, lastAtMs }
    },
    /** Every msgId, and whether both its webhooks have come. */
    arrivals: () => [...received].map(([msgId, bits]): [string, boolean] => [msgId, bits === COMPLETE]),
  },
  async () => {
    clearInterval(newsTimer)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  },
)

import { writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { serveParent, tellParent } from '../parent.ts'
import { ledgerLine, nowUs } from './ledgers.ts'
import { numberIn } from './requests.ts'

/**
 * The webhook receiver without a C compiler, over TLS, and for the webhook part, whose receivers hang and report the delays of
 * webhooks. Commands and ledger are those of receiver.c; its argument is a ReceiverConfig.
 *
 * A hanging receiver takes requests without counting or answering them, until it is told to answer.
 */

export interface ReceiverConfig {
  readonly tls: { readonly certPem: string; readonly keyPem: string } | null
  readonly hangs?: boolean
}

interface Arrivals {
  sent: number
  delivered: number
  sentUs: number
  deliveredUs: number
  msgId: string | null
}

type Status = 'sent' | 'delivered'

const NEWS_INTERVAL_MS = 10
/** Types of Kannel's delivery reports: accepted by the carrier, delivered. */
const KANNEL_STATUSES: Readonly<Record<string, Status>> = { '8': 'sent', '1': 'delivered' }
const ALDIS_STATUSES: Readonly<Record<string, Status>> = { SENT: 'sent', DELIVERED: 'delivered' }

const config = JSON.parse(process.argv[2] ?? '{"tls":null}') as ReceiverConfig
let hangs = config.hangs ?? false
const received = new Map<number, Arrivals>()
let completed = 0
let told = 0
let repeated = 0
let disordered = 0
let unexpected = 0
let webhooks = 0
let connections = 0
let firstAtMs = 0
let lastAtMs = 0
let webhookDelays: number[] = []

function field(text: string, name: string): string {
  const start = text.indexOf(name) + name.length
  return start < name.length ? '' : text.slice(start, text.indexOf('"', start))
}

function count(number: number, status: Status, msgId: string | null): boolean {
  let arrivals = received.get(number)
  if (arrivals === undefined) {
    arrivals = { sent: 0, delivered: 0, sentUs: 0, deliveredUs: 0, msgId }
    received.set(number, arrivals)
  }
  if (arrivals.msgId !== msgId) unexpected += 1
  arrivals[status] += 1
  if (arrivals[status] > 1) {
    repeated += 1
    return false
  }
  const atUs = nowUs()
  arrivals[`${status}Us`] = atUs
  webhooks += 1
  lastAtMs = atUs / 1_000
  if (webhooks === 1) firstAtMs = lastAtMs
  if (status === 'sent' && arrivals.delivered > 0) disordered += 1
  if (arrivals.sent > 0 && arrivals.delivered > 0) completed += 1
  return true
}

function takeAldis(text: string): void {
  const number = numberIn(text)
  const status = ALDIS_STATUSES[field(text, '"status":"')]
  const msgId = field(text, '"msgId":"')
  if (number === null || status === undefined || msgId === '') {
    unexpected += 1
    return
  }
  if (!count(number, status, msgId)) return
  const nowMs = performance.timeOrigin + performance.now()
  webhookDelays.push(nowMs - Date.parse(field(text, '"updatedAt":"')))
}

function takeKannel(url: string): void {
  const [, number, type = ''] = /\?n=(\d{8})&s=(\d+)$/.exec(url) ?? []
  const status = KANNEL_STATUSES[type]
  if (number === undefined || status === undefined) unexpected += 1
  else count(Number(number), status, null)
}

const onRequest: http.RequestListener = (request, response) => {
  let text = ''
  request.setEncoding('latin1')
  request.on('data', (chunk: string) => {
    text += chunk
  })
  request.on('end', () => {
    if (hangs) return
    if (request.method === 'GET') takeKannel(request.url ?? '')
    else takeAldis(text)
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '0' })
    response.end()
  })
}

const server =
  config.tls === null
    ? http.createServer(onRequest)
    : https.createServer({ cert: config.tls.certPem, key: config.tls.keyPem }, onRequest)
server.on('connection', () => {
  connections += 1
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

const newsTimer = setInterval(() => {
  if (completed === told) return
  told = completed
  tellParent(completed)
}, NEWS_INTERVAL_MS)

serveParent(
  { port: (server.address() as AddressInfo).port },
  {
    /** First attempts since the last call: milliseconds from the change (updatedAt) to the arrival. */
    takeDelays() {
      const delays = webhookDelays
      webhookDelays = []
      return delays
    },
    /** Hanging requests stay unanswered; later ones are answered. */
    answer() {
      hangs = false
    },
    report() {
      const counts = { completed, webhooks, repeated, disordered, unexpected }
      return { ...counts, connections, firstAtMs, lastAtMs }
    },
    ledger(path) {
      const lines = [...received].map(([number, { sent, delivered, sentUs, deliveredUs, msgId }]) =>
        ledgerLine([number, sent, delivered, sentUs, deliveredUs, msgId]),
      )
      writeFileSync(path, lines.join(''))
    },
  },
  async () => {
    clearInterval(newsTimer)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  },
)

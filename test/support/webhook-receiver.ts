/** A receiver of webhooks that speaks bytes: it writes down what comes, and does to each request what it is told. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { Webhook } from 'standardwebhooks'
import type { ServerCertificate } from './certificates.ts'
import { readRequests } from './raw-requests.ts'

/** One request that came in whole. What it does not carry is ''; numbers are NaN then. */
export interface ReceivedWebhook {
  /** Position in the order of arrival, from 0. */
  readonly index: number
  /** When its last byte came, milliseconds since the epoch. */
  readonly atMs: number
  readonly method: string
  /** The request target as it stood in the request line. */
  readonly path: string
  /** Request line and header fields as they came. */
  readonly head: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The peer's port: the same for requests on one connection. */
  readonly remotePort: number
  readonly eventId: string
  /** From the body, as `status`: null of an inbound message. */
  readonly msgId: string
  readonly status: string | null
  readonly attempt: number
  readonly sequence: number
  /** The signature is one of the secrets', by the reference library. */
  readonly verified: boolean
  /** Another request of the same message was still in flight. */
  readonly overlapped: boolean
  /** A 2xx was begun. */
  acknowledged: boolean
  /** Octets of the answer that the sockets took. */
  answeredBytes: number
}

/** A request and the way to its answer. Writing does nothing once the connection is over. */
export interface WebhookExchange {
  readonly request: ReceivedWebhook
  /** A whole answer. The connection takes another request. */
  respond(status: number, fields?: Readonly<Record<string, string>>, body?: string): void
  /** Bytes as they are, strings as Latin-1. `then`: when the socket took them. */
  write(data: string | Buffer, then?: () => void): void
  /** Until the connection is over. */
  every(intervalMs: number, act: () => void): void
  /** The request counts as acknowledged. */
  acknowledge(): void
  /** The answer is complete; the connection takes another request. */
  end(): void
  /** FIN. */
  close(): void
  /** RST. */
  reset(): void
}

/** Answers a request, or does not; what it does not end stays open. */
export type WebhookAnswer = (exchange: WebhookExchange) => void

/**
 * What becomes of a connection before its first request. `never`: taken, and no octet read; a function does it itself.
 */
type Welcome = 'at-once' | 'never' | 'close' | 'reset' | ((tcp: Socket) => void)

/** One accepted TCP connection. */
interface ReceiverConnection {
  /** The address it came to: tells loopback addresses apart when listening on 0.0.0.0. */
  readonly localAddress: string
  readonly remotePort: number
}

export interface ReceiverOptions {
  /** HTTPS with this certificate; plain HTTP without. */
  readonly certificate?: ServerCertificate | undefined
  /** Of the accounts whose webhooks come here. */
  readonly secrets?: readonly string[]
  /** Address to listen on; 127.0.0.1 when absent. */
  readonly host?: string
  /** `acknowledge` when absent. */
  readonly answer?: WebhookAnswer
}

export interface WebhookReceiver {
  readonly port: number
  /** `https://127.0.0.1:port`, or http. */
  readonly origin: string
  /** Everything received so far, in order of arrival. */
  readonly received: readonly ReceivedWebhook[]
  /** TCP connections accepted so far. */
  readonly connections: readonly ReceiverConnection[]
  /** How many of them are open. */
  readonly open: number
  /** From now on: on one path (without its query), or on all that have no answer of their own. */
  answerWith(answer: WebhookAnswer, path?: string): void
  /** From now on, of new connections. */
  welcome(welcome: Welcome): void
  /** The first request not yet handed out that fits, waiting for it if need be. Rejects after `deadlineMs`. */
  next(fits?: (received: ReceivedWebhook) => boolean, deadlineMs?: number): Promise<ReceivedWebhook>
  close(): Promise<void>
}

/** Answers 200 with a JSON acknowledgement, as the spec recommends (§4.4). */
export const acknowledge: WebhookAnswer = (exchange) =>
  exchange.respond(200, { 'content-type': 'application/json' }, '{"ok":true}')

/** Answers with a status, header fields and nothing else. */
export function answerStatus(status: number, fields: Record<string, string> = {}): WebhookAnswer {
  return (exchange) => exchange.respond(status, fields)
}

export async function startWebhookReceiver(options: ReceiverOptions = {}): Promise<WebhookReceiver> {
  const { certificate, host = '127.0.0.1' } = options
  const context = certificate && createSecureContext({ cert: certificate.certPem, key: certificate.keyPem })
  const arrivals = new Arrivals(options.secrets ?? [])
  const sockets = new Set<Socket>()
  const connections: ReceiverConnection[] = []
  const answers = new Map<string, WebhookAnswer>()
  let answer = options.answer ?? acknowledge
  let welcome: Welcome = 'at-once'

  const serve = (tcp: Socket) => {
    const socket =
      context === undefined ? tcp : new TLSSocket(tcp, { isServer: true, secureContext: context })
    socket.on('error', () => tcp.destroy())
    readRequests(socket, (head, body) => {
      const over = Promise.withResolvers<void>()
      const { request, leave } = arrivals.arrive(head, body, tcp.remotePort ?? 0)
      const exchange = new Exchange(request, tcp, socket, () => {
        leave()
        over.resolve()
      })
      const act = answers.get(request.path.split('?')[0]!) ?? answer
      act(exchange)
      return over.promise
    })
  }
  const server = createServer({ pauseOnConnect: true }, (tcp) => {
    connections.push({ localAddress: tcp.localAddress ?? '', remotePort: tcp.remotePort ?? 0 })
    sockets.add(tcp)
    tcp.on('error', () => tcp.destroy())
    tcp.on('close', () => sockets.delete(tcp))
    if (welcome === 'at-once') serve(tcp)
    else if (welcome === 'close') tcp.resume().end()
    else if (welcome === 'reset') tcp.resetAndDestroy()
    else if (welcome !== 'never') welcome(tcp.resume())
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const urlHost = host.includes(':') ? `[${host}]` : host

  return {
    port,
    origin: `${context === undefined ? 'http' : 'https'}://${urlHost}:${port}`,
    received: arrivals.received,
    connections,
    get open() {
      return sockets.size
    },
    answerWith: (next, path) => {
      if (path === undefined) answer = next
      else answers.set(path, next)
    },
    welcome: (next) => {
      welcome = next
    },
    next: (fits = () => true, deadlineMs = 100_000) => arrivals.next(fits, deadlineMs),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

interface Waiter {
  readonly fits: (received: ReceivedWebhook) => boolean
  readonly resolve: (received: ReceivedWebhook) => void
}

/** What came, in its order, and who waits for what is still to come. */
class Arrivals {
  readonly received: ReceivedWebhook[] = []
  readonly #webhooks: readonly Webhook[]
  readonly #inFlight = new Map<string, number>()
  readonly #unclaimed: ReceivedWebhook[] = []
  readonly #waiters = new Set<Waiter>()

  constructor(secrets: readonly string[]) {
    this.#webhooks = secrets.map((secret) => new Webhook(secret))
  }

  /** `leave` is to be called when the request is no longer in flight. */
  arrive(head: string, body: string, remotePort: number): { request: ReceivedWebhook; leave: () => void } {
    const request = requestOf(head, body, {
      index: this.received.length,
      remotePort,
      webhooks: this.#webhooks,
      inFlight: this.#inFlight,
    })
    const count = (change: number) =>
      this.#inFlight.set(request.msgId, (this.#inFlight.get(request.msgId) ?? 0) + change)
    count(1)
    this.received.push(request)
    const waiter = [...this.#waiters].find((candidate) => candidate.fits(request))
    if (waiter === undefined) this.#unclaimed.push(request)
    else {
      this.#waiters.delete(waiter)
      waiter.resolve(request)
    }
    return { request, leave: () => count(-1) }
  }

  next(fits: (received: ReceivedWebhook) => boolean, deadlineMs: number): Promise<ReceivedWebhook> {
    const index = this.#unclaimed.findIndex(fits)
    const [found] = index === -1 ? [] : this.#unclaimed.splice(index, 1)
    if (found !== undefined) return Promise.resolve(found)
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        fits,
        resolve: (request) => {
          clearTimeout(timer)
          resolve(request)
        },
      }
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter)
        reject(new Error(`no webhook that fits within ${deadlineMs} ms`))
      }, deadlineMs)
      this.#waiters.add(waiter)
    })
  }
}

class Exchange implements WebhookExchange {
  readonly request: ReceivedWebhook
  readonly #tcp: Socket
  readonly #socket: Socket
  readonly #onOver: () => void
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(request: ReceivedWebhook, tcp: Socket, socket: Socket, onOver: () => void) {
    this.request = request
    this.#tcp = tcp
    this.#socket = socket
    this.#onOver = onOver
    socket.once('close', this.#over)
  }

  respond(status: number, fields: Readonly<Record<string, string>> = {}, body = ''): void {
    const content = Buffer.from(body)
    // RFC 9110 §8.6: neither has a length.
    const length = status === 204 || status === 304 ? {} : { 'content-length': String(content.length) }
    const lines = Object.entries({ ...fields, ...length }).map(([name, value]) => `${name}: ${value}\r\n`)
    if (status < 300) this.acknowledge()
    this.write(
      Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Odd\r\n${lines.join('')}\r\n`, 'latin1'), content]),
    )
    this.end()
  }

  write(data: string | Buffer, then: () => void = () => {}): void {
    if (this.#isOver) return
    const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : data
    this.#socket.write(bytes, (error) => {
      if (error != null) return
      this.request.answeredBytes += bytes.length
      then()
    })
  }

  every(intervalMs: number, act: () => void): void {
    if (!this.#isOver) this.#timer = setInterval(act, intervalMs)
  }

  acknowledge(): void {
    this.request.acknowledged = true
  }

  end(): void {
    this.#over()
  }

  close(): void {
    this.#socket.end()
  }

  reset(): void {
    this.#tcp.resetAndDestroy()
  }

  #over = (): void => {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#timer)
    this.#socket.off('close', this.#over)
    this.#onOver()
  }
}

interface Circumstances {
  readonly index: number
  readonly remotePort: number
  readonly webhooks: readonly Webhook[]
  readonly inFlight: ReadonlyMap<string, number>
}

function requestOf(
  head: string,
  body: string,
  { index, remotePort, webhooks, inFlight }: Circumstances,
): ReceivedWebhook {
  const [requestLine = '', ...lines] = head.split('\r\n')
  const [method = '', path = ''] = requestLine.split(' ')
  // `__proto__` is a name like any other.
  const headers: Record<string, string> = Object.create(null)
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  const { msgId = '', status = null } = recordOf(body)
  return {
    index,
    atMs: Date.now(),
    method,
    path,
    head,
    headers,
    body,
    remotePort,
    eventId: headers['webhook-id'] ?? '',
    msgId,
    status,
    attempt: Number(headers['aldis-attempt'] ?? Number.NaN),
    sequence: Number(headers['aldis-sequence'] ?? Number.NaN),
    verified: webhooks.some((webhook) => isSignedFor(webhook, body, headers)),
    overlapped: (inFlight.get(msgId) ?? 0) > 0,
    acknowledged: false,
    answeredBytes: 0,
  }
}

function recordOf(body: string): { msgId?: string; status?: string } {
  try {
    return JSON.parse(body)
  } catch {
    return {}
  }
}

function isSignedFor(webhook: Webhook, body: string, headers: Record<string, string>): boolean {
  try {
    webhook.verify(body, headers)
    return true
  } catch {
    return false
  }
}

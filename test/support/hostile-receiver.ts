import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { Webhook } from 'standardwebhooks'
import type { ServerCertificate } from './certificates.ts'
import { type Behaviour, ok } from './hostile-behaviours.ts'
import { readRequests } from './raw-requests.ts'

/** One webhook that came in whole, in the order of arrival. What it does not carry is ''; numbers are NaN then. */
export interface HostileRequest {
  readonly index: number
  readonly atMs: number
  /** Without the query. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly eventId: string
  /** From the body, as `status`: null of an inbound message. */
  readonly msgId: string
  readonly status: string | null
  readonly attempt: number
  readonly sequence: number
  /** The signature is one of the secrets', by the reference library. */
  readonly verified: boolean
  /** Another request of the same message was still under way. */
  readonly overlapped: boolean
  /** A 2xx was begun. */
  acknowledged: boolean
  /** Octets of the answer that the sockets took. */
  answeredBytes: number
}

/** A request and the way to its answer. All of it does nothing once the connection is over. */
export interface HostileExchange {
  readonly request: HostileRequest
  /** `then`: when the socket took it. */
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

/**
 * What becomes of a connection before its first request. `never`: taken, and no octet read; a number: the handshake (or,
 * without TLS, the reading) begins after so many milliseconds.
 */
type Welcome = 'at-once' | 'never' | 'close' | 'reset' | number

export interface HostileReceiverOptions {
  /** HTTPS with it, plain HTTP without. */
  readonly certificate?: ServerCertificate
  /** Of the accounts whose webhooks come here. */
  readonly secrets?: readonly string[]
  readonly behaviour?: Behaviour
}

export interface HostileReceiver {
  readonly port: number
  /** `https://127.0.0.1:port`, or http. */
  readonly origin: string
  readonly requests: readonly HostileRequest[]
  /** Connections accepted so far, and those open now. */
  readonly connections: number
  readonly open: number
  /** From now on: of one path, or of all that have none of their own. */
  behave(behaviour: Behaviour, path?: string): void
  welcome(welcome: Welcome): void
  close(): Promise<void>
}

/** A receiver on 127.0.0.1 that speaks bytes, does to each request what it is told, and writes down what came. */
export async function startHostileReceiver(options: HostileReceiverOptions = {}): Promise<HostileReceiver> {
  const { certificate } = options
  const context = certificate && createSecureContext({ cert: certificate.certPem, key: certificate.keyPem })
  const webhooks = (options.secrets ?? []).map((secret) => new Webhook(secret))
  const requests: HostileRequest[] = []
  const underWay = new Map<string, number>()
  const sockets = new Set<Socket>()
  const behaviours = new Map<string, Behaviour>()
  let behaviour = options.behaviour ?? ok
  let welcome: Welcome = 'at-once'
  let connections = 0

  const onRequest = (tcp: Socket, socket: Socket, head: string, body: string): Promise<void> => {
    const request = requestOf(head, body, requests.length, webhooks, underWay)
    requests.push(request)
    underWay.set(request.msgId, (underWay.get(request.msgId) ?? 0) + 1)
    const over = Promise.withResolvers<void>()
    const exchange = new Exchange(request, tcp, socket, () => {
      underWay.set(request.msgId, (underWay.get(request.msgId) ?? 0) - 1)
      over.resolve()
    })
    const act = behaviours.get(request.path) ?? behaviour
    act(exchange)
    return over.promise
  }

  const serve = (tcp: Socket) => {
    const socket =
      context === undefined ? tcp : new TLSSocket(tcp, { isServer: true, secureContext: context })
    socket.on('error', () => tcp.destroy())
    readRequests(socket, (head, body) => onRequest(tcp, socket, head, body))
  }

  const server = createServer({ pauseOnConnect: true }, (tcp) => {
    connections += 1
    sockets.add(tcp)
    tcp.on('error', () => tcp.destroy())
    tcp.on('close', () => sockets.delete(tcp))
    if (welcome === 'at-once') serve(tcp)
    else if (welcome === 'close') tcp.resume().end()
    else if (welcome === 'reset') tcp.resetAndDestroy()
    else if (welcome !== 'never') {
      const timer = setTimeout(() => serve(tcp), welcome)
      tcp.once('close', () => clearTimeout(timer))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    port,
    origin: `${context === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections
    },
    get open() {
      return sockets.size
    },
    behave: (next, path) => {
      if (path === undefined) behaviour = next
      else behaviours.set(path, next)
    },
    welcome: (next) => {
      welcome = next
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

class Exchange implements HostileExchange {
  readonly request: HostileRequest
  readonly #tcp: Socket
  readonly #socket: Socket
  readonly #onOver: () => void
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(request: HostileRequest, tcp: Socket, socket: Socket, onOver: () => void) {
    this.request = request
    this.#tcp = tcp
    this.#socket = socket
    this.#onOver = onOver
    socket.once('close', this.#over)
  }

  write(data: string | Buffer, then: () => void = () => {}): void {
    if (this.#isOver) return
    this.#socket.write(data, (error) => {
      if (error != null) return
      this.request.answeredBytes += data.length
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

function requestOf(
  head: string,
  body: string,
  index: number,
  webhooks: readonly Webhook[],
  underWay: ReadonlyMap<string, number>,
): HostileRequest {
  const [requestLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const { msgId = '', status = null } = JSON.parse(body) as { msgId?: string; status?: string }
  return {
    index,
    atMs: Date.now(),
    path: (requestLine.split(' ')[1] ?? '').split('?')[0] ?? '',
    headers,
    body,
    eventId: headers['webhook-id'] ?? '',
    msgId,
    status,
    attempt: Number(headers['aldis-attempt'] ?? Number.NaN),
    sequence: Number(headers['aldis-sequence'] ?? Number.NaN),
    verified: webhooks.some((webhook) => isSignedFor(webhook, body, headers)),
    overlapped: (underWay.get(msgId) ?? 0) > 0,
    acknowledged: false,
    answeredBytes: 0,
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

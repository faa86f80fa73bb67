import { once } from 'node:events'
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { ServerCertificate } from './certificates.ts'

/** One request as it came in. */
export interface ReceivedWebhook {
  /** Position in the order of arrival, from 0. */
  index: number
  /** When its last byte came, milliseconds since the epoch. */
  atMs: number
  method: string
  /** The request target as it stood in the request line. */
  path: string
  headers: IncomingHttpHeaders
  rawHeaders: string[]
  body: string
  /** The peer's port: the same for requests on one connection. */
  remotePort: number
}

/** One accepted TCP connection. */
interface ReceiverConnection {
  /** The address it came to: tells loopback addresses apart when listening on 0.0.0.0. */
  localAddress: string
  remotePort: number
}

/** Answers a request; what it does not end stays open. */
export type WebhookAnswer = (received: ReceivedWebhook, response: ServerResponse) => void

export interface ReceiverOptions {
  /** HTTPS with this certificate; plain HTTP without. */
  certificate?: ServerCertificate
  /** Address to listen on; 127.0.0.1 when absent. */
  host?: string
  /** 200 `{"ok":true}` when absent. */
  answer?: WebhookAnswer
}

export interface WebhookReceiver {
  port: number
  /** `https://127.0.0.1:port`, or http. */
  origin: string
  /** Everything received so far, in order of arrival. */
  received: readonly ReceivedWebhook[]
  /** TCP connections accepted so far. */
  connections: readonly ReceiverConnection[]
  answerWith(answer: WebhookAnswer): void
  /** The first request not yet handed out that fits, waiting for it if need be. Rejects after `deadlineMs`. */
  next(fits?: (received: ReceivedWebhook) => boolean, deadlineMs?: number): Promise<ReceivedWebhook>
  close(): Promise<void>
}

/** Answers 200 with a JSON acknowledgement, as the spec recommends (§4.4). */
export const acknowledge: WebhookAnswer = (_received, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
}

/** Answers with a status and nothing else. */
export function answerStatus(status: number, headers: Record<string, string> = {}): WebhookAnswer {
  return (_received, response) => void response.writeHead(status, headers).end()
}

interface Waiter {
  fits: (received: ReceivedWebhook) => boolean
  resolve: (received: ReceivedWebhook) => void
}

/** A real HTTP or HTTPS server that records what it is sent. */
export async function startWebhookReceiver(options: ReceiverOptions = {}): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = []
  const unclaimed: ReceivedWebhook[] = []
  const waiters = new Set<Waiter>()
  const sockets = new Set<Socket>()
  const connections: ReceiverConnection[] = []
  let answer = options.answer ?? acknowledge

  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const webhook = webhookOf(request, Buffer.concat(chunks), received.length)
      received.push(webhook)
      const waiter = [...waiters].find((candidate) => candidate.fits(webhook))
      if (waiter === undefined) unclaimed.push(webhook)
      else {
        waiters.delete(waiter)
        waiter.resolve(webhook)
      }
      answer(webhook, response)
    })
  }
  const { certificate, host = '127.0.0.1' } = options
  const server: Server =
    certificate === undefined
      ? createHttpServer(onRequest)
      : createHttpsServer({ cert: certificate.certPem, key: certificate.keyPem }, onRequest)
  server.on('connection', (socket: Socket) => {
    connections.push({ localAddress: socket.localAddress ?? '', remotePort: socket.remotePort ?? 0 })
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const urlHost = host.includes(':') ? `[${host}]` : host

  return {
    port,
    origin: `${certificate === undefined ? 'http' : 'https'}://${urlHost}:${port}`,
    received,
    connections,
    answerWith: (next) => {
      answer = next
    },
    next: (fits = () => true, deadlineMs = 10_000) => claim(unclaimed, waiters, fits, deadlineMs),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function claim(
  unclaimed: ReceivedWebhook[],
  waiters: Set<Waiter>,
  fits: (received: ReceivedWebhook) => boolean,
  deadlineMs: number,
): Promise<ReceivedWebhook> {
  const index = unclaimed.findIndex(fits)
  const [found] = index === -1 ? [] : unclaimed.splice(index, 1)
  if (found !== undefined) return Promise.resolve(found)
  return new Promise((resolve, reject) => {
    const waiter: Waiter = {
      fits,
      resolve: (webhook) => {
        clearTimeout(timer)
        resolve(webhook)
      },
    }
    const timer = setTimeout(() => {
      waiters.delete(waiter)
      reject(new Error(`no webhook that fits within ${deadlineMs} ms`))
    }, deadlineMs)
    waiters.add(waiter)
  })
}

function webhookOf(request: IncomingMessage, body: Buffer, index: number): ReceivedWebhook {
  return {
    index,
    atMs: Date.now(),
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    body: body.toString('utf8'),
    remotePort: request.socket.remotePort ?? 0,
  }
}

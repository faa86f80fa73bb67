/** A webhook receiver with a ledger: one HTTPS listener, whose health is set from outside. */
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { ServerCertificate } from '../support/certificates.ts'
import { nowMs } from './clock.ts'
import type { Webhook } from './ledgers.ts'

/**
 * `hanging`: takes the request and does not answer. `cutting`: takes it, counts it as accepted, and resets the connection
 * before it answers. `flapping`: every other request is refused with 503.
 */
export type Health = 'healthy' | 'down' | 'hanging' | 'flapping' | 'failing' | 'cutting' | 'slow'

const SLOW_MS = 3_000

export class Receiver {
  #health: Health = 'healthy'
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #ledger: Webhook[]
  readonly #onAccepted: (webhook: Webhook) => void
  #requests = 0

  /** @param onAccepted called for each request answered 2xx; @param onRequest called before any answer */
  constructor(
    certificate: ServerCertificate,
    ledger: Webhook[],
    onAccepted: (webhook: Webhook) => void,
    onRequest: () => void,
  ) {
    this.#ledger = ledger
    this.#onAccepted = onAccepted
    this.#server = createServer(
      { cert: certificate.certPem, key: certificate.keyPem },
      (request, response) => {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.on('error', () => undefined)
        request.on('end', () => {
          const { 'webhook-id': eventId = '', 'aldis-sequence': sequence } = request.headers
          const webhook = this.#note(String(eventId), Number(sequence), Buffer.concat(chunks).toString())
          onRequest()
          this.#answer(webhook, request.socket, (status) => {
            response.writeHead(status, { 'content-length': '0' })
            response.end()
          })
        })
      },
    )
    this.#server.on('connection', (socket: Socket) => {
      if (this.#health === 'down') {
        socket.resetAndDestroy()
        return
      }
      this.#sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => this.#sockets.delete(socket))
    })
    this.#server.on('tlsClientError', () => undefined)
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}/webhook`
  }

  /** `healthy` again: hanging requests are cut. */
  become(health: Health): void {
    const wasHanging = this.#health === 'hanging'
    this.#health = health
    if (health === 'down' || wasHanging) for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  async dispose(): Promise<void> {
    this.#server.closeAllConnections()
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #note(eventId: string, sequence: number, body: string): Webhook {
    const { msgId = '', status = null } = parsed(body)
    const webhook: Webhook = {
      eventId,
      msgId,
      sequence,
      status,
      begunAtMs: nowMs(),
      digest: digestOf(body),
      answeredAtMs: null,
      isAccepted: false,
    }
    this.#ledger.push(webhook)
    return webhook
  }

  #answer(webhook: Webhook, socket: Socket, write: (status: number) => void): void {
    this.#requests += 1
    const settle = (isAccepted: boolean) => {
      webhook.answeredAtMs = nowMs()
      webhook.isAccepted = isAccepted
      if (isAccepted) this.#onAccepted(webhook)
    }
    const respond = (status: number) => {
      if (socket.destroyed) return
      settle(status < 300)
      write(status)
    }
    const acts: Record<Health, () => void> = {
      healthy: () => respond(200),
      down: () => undefined,
      hanging: () => undefined,
      failing: () => respond(500),
      flapping: () => respond(this.#requests % 2 === 0 ? 200 : 503),
      cutting: () => {
        settle(true)
        socket.destroy()
      },
      slow: () => void setTimeout(() => respond(200), SLOW_MS),
    }
    acts[this.#health]()
  }
}

export function digestOf(body: string): string {
  return hash('sha1', body, 'base64').slice(0, 12)
}

function parsed(body: string): { msgId?: string; status?: string } {
  try {
    return JSON.parse(body)
  } catch {
    return {}
  }
}

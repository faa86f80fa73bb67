import { connect, type Socket } from 'node:net'

/**
 * The load generator: HTTP/1.1 on plain sockets, one request at a time on each, because it shares the processors with
 * what it measures (about 0.02 ms for each request; fetch takes 0.15).
 */

export interface LoadOptions {
  readonly port: number
  readonly connections: number
  /** The whole request of the n-th message, ASCII. */
  readonly request: (n: number) => string
  readonly onFault: (reason: string) => void
}

export class Load {
  readonly #options: LoadOptions
  readonly #connections = new Set<LoadConnection>()
  #idle: LoadConnection[] = []
  /** Ids of all accepted messages. */
  readonly accepted: string[] = []
  /** Milliseconds from request to answer, since the last `reset`. */
  latencies: number[] = []
  #sent = 0
  #answered = 0
  #completed = 0
  /** Messages under way at most; 0: nothing is sent. */
  #bound = 0
  #quiet: (() => void) | null = null

  constructor(options: LoadOptions) {
    this.#options = options
  }

  /** Opens what is missing: the service closes a connection that was idle for long, as while a backlog drains. */
  async connect(): Promise<void> {
    const { port, connections } = this.#options
    const missing = connections - this.#connections.size
    const sockets = Array.from({ length: missing }, () => open(port))
    for (const socket of await Promise.all(sockets)) {
      const connection = new LoadConnection(socket, this)
      this.#connections.add(connection)
      this.#idle.push(connection)
    }
  }

  /** Sends while fewer than `bound` messages are under way. */
  start(bound: number): void {
    this.#bound = bound
    this.#fill()
  }

  /** Sends no more; resolves when every request is answered. */
  stop(): Promise<void> {
    this.#bound = 0
    if (this.#answered === this.#sent) return Promise.resolve()
    return new Promise((resolve) => {
      this.#quiet = resolve
    })
  }

  reset(): void {
    this.latencies = []
  }

  /** `total` messages have gone the whole way so far. */
  completed(total: number): void {
    this.#completed = total
    this.#fill()
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }

  /** For the connections. Gives the next request, or null when the connection is to wait. */
  next(connection: LoadConnection): string | null {
    if (this.#sent - this.#completed < this.#bound) return this.#options.request(this.#sent++)
    this.#idle.push(connection)
    return null
  }

  onAnswer(status: number, body: string, latencyMs: number): void {
    this.#answered += 1
    this.latencies.push(latencyMs)
    const at = body.indexOf('"msgId":"')
    if (status === 202 && at >= 0) this.accepted.push(body.slice(at + 9, at + 45))
    else this.onFault(`a request was answered ${status}: ${body.slice(0, 200)}`)
    if (this.#bound === 0 && this.#answered === this.#sent) this.#quiet?.()
  }

  onClose(connection: LoadConnection, isIdle: boolean): void {
    if (!isIdle) this.onFault('the service closed a connection under a request')
    this.#connections.delete(connection)
    this.#idle = this.#idle.filter((other) => other !== connection)
  }

  onFault(reason: string): void {
    this.#options.onFault(reason)
  }

  #fill(): void {
    let free = Math.min(this.#idle.length, this.#bound - (this.#sent - this.#completed))
    while (free > 0) {
      // In turn: at a low rate the service would give some of them up.
      this.#idle.shift()!.send()
      free -= 1
    }
  }
}

class LoadConnection {
  readonly #socket: Socket
  readonly #load: Load
  #text = ''
  /** 0: no request is under way. */
  #sentAtMs = 0
  #closing = false

  constructor(socket: Socket, load: Load) {
    this.#socket = socket
    this.#load = load
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => this.#onData(String(chunk)))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      if (!this.#closing) load.onClose(this, this.#sentAtMs === 0)
    })
  }

  send(): void {
    const request = this.#load.next(this)
    if (request === null) return
    this.#sentAtMs = performance.now()
    this.#socket.write(request, 'latin1')
  }

  close(): void {
    this.#closing = true
    this.#socket.destroy()
  }

  #onData(chunk: string): void {
    // 408 on a connection that has not been used: it is closed next.
    if (this.#sentAtMs === 0) return
    this.#text = this.#text === '' ? chunk : this.#text + chunk
    const head = this.#text.indexOf('\r\n\r\n')
    if (head < 0) return
    const bodyBytes = contentLength(this.#text, head)
    if (Number.isNaN(bodyBytes)) {
      this.#load.onFault('an answer came without Content-Length')
      return
    }
    const end = head + 4 + bodyBytes
    if (this.#text.length < end) return
    const text = this.#text
    this.#text = ''
    if (text.length > end) this.#load.onFault('more came than one answer')
    const latencyMs = performance.now() - this.#sentAtMs
    this.#sentAtMs = 0
    this.#load.onAnswer(Number(text.slice(9, 12)), text.slice(head + 4, end), latencyMs)
    this.send()
  }
}

const LENGTH = '\r\ncontent-length: '

function contentLength(text: string, head: number): number {
  const at = text.indexOf(LENGTH)
  if (at >= 0 && at < head) {
    const start = at + LENGTH.length
    return Number(text.slice(start, text.indexOf('\r', start)))
  }
  return Number(/\r\ncontent-length: *(\d+)\r/i.exec(text.slice(0, head + 2))?.[1] ?? Number.NaN)
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

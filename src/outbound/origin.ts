import { Connection, type ConnectionPool, type OutgoingRequest } from './connection.ts'
import type { Dialler } from './connector.ts'
import type { DialError } from './delivery-errors.ts'
import { sharedNowMs } from './send-lease.ts'

/**
 * Connections being made at once. A node with little CPU makes some TLS handshakes a second; 128 of them together would outlast
 * the time to connect, and a healthy receiver would seem to be down. A new receiver has 128 connections after four rounds.
 */
const MAX_DIALS = 32

interface Waiting {
  readonly request: OutgoingRequest
  /** How many connections had been opened when it came; null: one was open then. */
  readonly opened: number | null
}

export interface OriginOptions {
  readonly dial: Dialler
  readonly maxSockets: number
  readonly maxRequests: number
  /** Asks for `flush` in the check phase of the event loop. */
  readonly onWork: (origin: Origin) => void
}

/**
 * The connections to one host at one address, and the requests that wait for one.
 *
 * What a receiver sends on a connection between two requests must not be taken for the answer to the second. So a connection
 * carries another request only after the event loop has polled the sockets since its last answer ended. Anything that came
 * behind that answer has then been seen, and has closed the connection. `flush` runs after each poll.
 */
export class Origin implements ConnectionPool {
  readonly #options: OriginOptions
  readonly #connections = new Set<Connection>()
  /** In the order in which they came. */
  #waiting: Waiting[] = []
  #opened = 0
  /** Connections that may carry a request. The last one used is at the end, and is used next. */
  readonly #free: Connection[] = []
  /** Connections whose answer has ended since the last poll. */
  readonly #resting: Connection[] = []
  readonly #dialling = new Set<Connection>()
  #isRetired = false
  readonly #emptied = Promise.withResolvers<void>()

  constructor(options: OriginOptions) {
    this.#options = options
  }

  /** Has neither connections nor requests. */
  get isEmpty(): boolean {
    return this.#connections.size === 0 && this.#waiting.length === 0
  }

  /** Connections with a request on them. */
  get #busy(): number {
    const { size } = this.#connections
    return size - this.#dialling.size - this.#free.length - this.#resting.length
  }

  /** Takes a request, unless too many wait or are in flight. Returns whether it did. */
  send(request: OutgoingRequest): boolean {
    if (this.#waiting.length + this.#busy >= this.#options.maxRequests) return false
    const opened = this.#connections.size > this.#dialling.size ? null : this.#opened
    this.#waiting.push({ request, opened })
    this.#options.onWork(this)
    return true
  }

  /** Sends waiting requests as far as there are connections, and dials for the rest. Call it after a poll. */
  flush(nowMs: number): void {
    while (this.#waiting.length > 0) {
      const connection = this.#free.pop()
      if (connection === undefined) break
      if (!connection.closeUnfit(nowMs)) this.#use(connection)
    }
    this.#free.push(...this.#resting.splice(0))
    const { dial, maxSockets, onWork } = this.#options
    const wanted = Math.min(this.#waiting.length - this.#free.length, MAX_DIALS)
    let missing = wanted - this.#dialling.size
    for (; missing > 0 && this.#connections.size < maxSockets; missing -= 1) {
      const connection = new Connection(this, dial)
      this.#connections.add(connection)
      this.#dialling.add(connection)
    }
    if (this.#waiting.length > 0 && this.#free.length > 0) onWork(this)
    if (this.#isRetired) this.#closeUnneeded()
  }

  /** Ends requests whose time is over, and closes connections that have been idle long enough. */
  sweep(nowMs: number): void {
    for (const connection of this.#connections) {
      connection.closeIdle(nowMs)
      connection.closeLate(nowMs)
    }
    const waiting = this.#waiting
    this.#waiting = []
    for (const { request, opened } of waiting) {
      if (nowMs < request.deadlineMs) {
        this.#waiting.push({ request, opened })
        continue
      }
      // If a connection was open meanwhile, the request merely waited for its turn.
      const isUnreached = this.#dialling.size > 0 && opened === this.#opened
      request.end(isUnreached ? 'CONNECT_TIMEOUT' : 'QUEUE_TIMEOUT', null)
    }
    this.#leaveIfEmpty()
  }

  /** Finishes its requests and closes each connection as it becomes free. Resolves when none is left. */
  retire(): Promise<void> {
    this.#isRetired = true
    this.#closeUnneeded()
    return this.#emptied.promise
  }

  /** Ends every request as ABORTED and closes every connection. */
  destroy(): void {
    this.#isRetired = true
    for (const { request } of this.#waiting.splice(0)) request.end('ABORTED', null)
    for (const connection of this.#connections) connection.close()
    this.#leaveIfEmpty()
  }

  opened(connection: Connection): void {
    this.#dialling.delete(connection)
    this.#opened += 1
    this.#use(connection)
    if (this.#waiting.length > 0) this.#options.onWork(this)
    if (this.#isRetired) this.#closeUnneeded()
  }

  rests(connection: Connection): void {
    this.#resting.push(connection)
    this.#options.onWork(this)
  }

  closed(connection: Connection, failure: DialError | null): void {
    this.#connections.delete(connection)
    remove(this.#free, connection)
    remove(this.#resting, connection)
    this.#dialling.delete(connection)
    // Each failed dial ends one request, so a receiver that is gone is not dialled forever.
    if (failure !== null) this.#take()?.end(failure.code, null)
    if (this.#waiting.length > 0) this.#options.onWork(this)
    else this.#leaveIfEmpty()
  }

  #use(connection: Connection): void {
    let request = this.#take()
    for (; request !== null && sharedNowMs() >= request.lease.untilMs; request = this.#take())
      request.end('ABORTED', null)
    if (request === null) this.#free.push(connection)
    else connection.send(request)
  }

  /** The request that has waited longest. */
  #take(): OutgoingRequest | null {
    return this.#waiting.shift()?.request ?? null
  }

  #closeUnneeded(): void {
    if (this.#waiting.length > 0) return
    for (const connection of [...this.#free, ...this.#resting]) connection.close()
    this.#leaveIfEmpty()
  }

  #leaveIfEmpty(): void {
    if (this.#isRetired && this.isEmpty) this.#emptied.resolve()
  }
}

function remove(connections: Connection[], connection: Connection): void {
  const index = connections.indexOf(connection)
  if (index !== -1) connections.splice(index, 1)
}

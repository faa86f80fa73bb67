import { performance } from 'node:perf_hooks'
import type { Dialler, OpenSocket, SocketUser } from './connector.ts'
import type { DeliveryErrorName, DialError } from './delivery-errors.ts'
import { ResponseParser } from './response-parser.ts'
import type { SendLease } from './send-lease.ts'

/** A request on its way to an origin. */
export interface OutgoingRequest {
  /** Head and body, as they are sent. */
  readonly text: string
  /** The end of its time, on performance.now()'s clock. */
  readonly deadlineMs: number
  /** Nothing is sent after the lease ends, because another node may have sent this request and those behind it. */
  readonly lease: Readonly<SendLease>
  /** Called once. `response`: the answer as far as it was received; null when the request was not sent. */
  end(error: DeliveryErrorName | null, response: ResponseParser | null): void
}

/** Notified of each change of a connection. */
export interface ConnectionPool {
  /** The dial succeeded. */
  opened(connection: Connection): void
  /** Its answer is over. It may carry another request once the event loop has polled the sockets. */
  rests(connection: Connection): void
  /** Called last. `failure`: why the connection could not be made; null if it was made, or is not wanted any more. */
  closed(connection: Connection, failure: DialError | null): void
}

/** How long a connection that has carried nothing may wait for its first request. */
const UNUSED_MS = 4_000

/** One socket with at most one request on it. The next is sent when the answer to the previous one is complete. */
export class Connection implements SocketUser {
  readonly #pool: ConnectionPool
  readonly #socket: OpenSocket
  #request: OutgoingRequest | null = null
  #response: ResponseParser | null = null
  #idleUntilMs = Number.POSITIVE_INFINITY
  #isClosed = false

  constructor(pool: ConnectionPool, dial: Dialler) {
    this.#pool = pool
    this.#socket = dial(this)
  }

  send(request: OutgoingRequest): void {
    this.#request = request
    this.#response = new ResponseParser()
    this.#idleUntilMs = Number.POSITIVE_INFINITY
    this.#socket.write(request.text, 'utf8')
  }

  /**
   * Closes the connection when it has waited long enough, or when the peer answered the last request before taking all of it:
   * the rest would be read as the beginning of the next. Returns whether it closed.
   */
  closeUnfit(nowMs: number): boolean {
    if (nowMs < this.#idleUntilMs && this.#socket.writableLength === 0) return false
    this.close()
    return true
  }

  /** Closes the connection when it has been idle long enough. */
  closeIdle(nowMs: number): void {
    if (nowMs >= this.#idleUntilMs) this.close()
  }

  /** When the request's time is over, ends the request and closes the connection. */
  closeLate(nowMs: number): void {
    if (this.#request !== null && nowMs >= this.#request.deadlineMs) this.close('RESPONSE_TIMEOUT')
  }

  /** `error`: for the request on the connection, if there is one. */
  close(error: DeliveryErrorName = 'ABORTED'): void {
    this.#socket.destroy()
    this.#end(error)
    this.#leave(null)
  }

  connected(): void {
    this.#idleUntilMs = performance.now() + UNUSED_MS
    this.#pool.opened(this)
  }

  received(bytes: Buffer): void {
    const response = this.#response
    if (response === null) {
      // This answers no request, so whatever comes next could also be the answer to an earlier request.
      this.close()
    } else if (response.read(bytes)) {
      this.#end(response.fault)
      if (response.idleMs > 0) this.#rest(response.idleMs)
      else this.close()
    }
  }

  closed(failure: DialError | null): void {
    this.#response?.end()
    this.#end(this.#response?.fault ?? null)
    this.#leave(failure)
  }

  #rest(idleMs: number): void {
    this.#idleUntilMs = performance.now() + idleMs
    this.#pool.rests(this)
  }

  #end(error: DeliveryErrorName | null): void {
    const request = this.#request
    const response = this.#response
    this.#request = null
    this.#response = null
    request?.end(error, response)
  }

  #leave(failure: DialError | null): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#pool.closed(this, failure)
  }
}

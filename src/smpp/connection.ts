import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { encodePdu } from './encoding.ts'
import type { BindPdu, BindRespPdu, Pdu, RequestInput, RequestPdu, ResponseBody, ResponsePdu } from './pdu.ts'
import { PromisedRequest, SmppRequestError } from './promised-request.ts'
import { Session } from './session.ts'
import type { Anomaly, CloseReason, SessionHandlers } from './session-handlers.ts'
import { type SessionOptions, type SessionSettings, sessionSettings } from './session-options.ts'
import { checkedTls } from './tls-checks.ts'

/**
 * SMPP sessions over TCP or TLS: the only file here that reads the clock and sets timers, and with listener.ts the only one
 * that has sockets.
 *
 *   const link = connect<Job>(
 *     { host, port, bind: { command: 'bind_transceiver', system_id, password }, windowSize: 10 },
 *     {
 *       onBound() { pump() },
 *       onResponse(job, pdu) { pdu.command === 'submit_sm_resp' && pdu.status === 0 ... },
 *       onRequest(pdu, link) { link.respond(pdu, STATUSES.ESME_ROK) },          // deliver_sm, data_sm
 *       onClose(reason, jobs) { ... jobs: outcome unknown; connect again after a pause ... },
 *     })
 *   link.send({ command: 'submit_sm', destination_addr, short_message }, job)   // sequence, or <= 0: not taken
 *
 *   const server = await listen({ port: 0 }, () => ({
 *     onBind(pdu, link) { link.respond(pdu, STATUSES.ESME_ROK, { system_id: 'SMSC' }) },
 *     onRequest(pdu, link) { link.respond(pdu, STATUSES.ESME_ROK, { message_id: '1' }) },
 *   }))
 *
 * The handlers are described in session-handlers.ts, the options in session-options.ts, PDUs in pdu.ts. A connection
 * lives once: nothing here reconnects. `onClose` is called exactly once, also when the connection was never made.
 * What is sent in one turn of the event loop leaves in one write, or earlier once it fills the window. Nagle is off.
 */

export interface TransportOptions {
  /** How often timers are looked at. Default 250. */
  readonly tickMs?: number
  /** Unwritten octets above which reading stops until all are written. Default 1 MiB. */
  readonly writeLimit?: number
  /** After our last octets, how long the peer has to close too. Default 500. */
  readonly lingerMs?: number
}

export interface ConnectOptions extends SessionOptions, TransportOptions {
  readonly host: string
  readonly port: number
  /**
   * The certificate must come from an authority in `ca` and have the name (or address) `servername`, default `host`.
   * True, or `servername` alone: any authority that Node or the system knows.
   */
  readonly tls?: true | tls.ConnectionOptions
  /** Default 10,000; the TLS handshake included. */
  readonly connectTimeoutMs?: number
}

/** SessionHandlers that are also told which connection they are about. */
export interface ConnectionHandlers<Token> {
  onBound?(pdu: BindRespPdu, connection: Connection<Token>): void
  onBind?(pdu: BindPdu, connection: Connection<Token>): void
  /** `toAnswer`: how many requests the application has still to answer, this one included. */
  onRequest?(pdu: RequestPdu, connection: Connection<Token>, toAnswer: number): void
  onResponse?(token: Token, pdu: ResponsePdu, connection: Connection<Token>, latencyMs: number): void
  onTimeout?(token: Token, connection: Connection<Token>): void
  onLateResponse?(token: Token, pdu: ResponsePdu, connection: Connection<Token>): void
  onAnomaly?(anomaly: Anomaly, pdu: Pdu | null, connection: Connection<Token>): void
  onClose?(reason: CloseReason, unanswered: Token[], connection: Connection<Token>): void
}

export class Connection<Token = unknown> {
  /** Why and when (`performance.now()`) the session ended; null while it has not. */
  closed: { readonly code: CloseReason['code']; readonly atMs: number } | null = null
  readonly #session: Session<Token | PromisedRequest>
  readonly #handlers: ConnectionHandlers<Token>
  readonly #socket: net.Socket
  readonly #writeLimit: number
  readonly #lingerMs: number
  readonly #tickMs: number
  readonly #closed = Promise.withResolvers<void>()
  readonly #bound = Promise.withResolvers<BindRespPdu>()
  #ticker: NodeJS.Timeout | null = null
  #flushScheduled = false
  #paused = false
  #destroyed = false

  /** Made by `connect` and `listen`. */
  constructor(
    socket: net.Socket,
    settings: SessionSettings,
    handlersOf: (connection: Connection<Token>) => ConnectionHandlers<Token>,
    transport: TransportOptions,
  ) {
    this.#socket = socket
    this.#writeLimit = transport.writeLimit ?? 1024 * 1024
    this.#lingerMs = transport.lingerMs ?? 500
    this.#tickMs = transport.tickMs ?? 250
    this.#bound.promise.catch(() => undefined)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    this.#handlers = handlersOf(this)
    this.#session = new Session(settings, this.#sessionHandlers())
    socket.on('data', (chunk: Buffer) => this.#enter(() => this.#session.receive(chunk, performance.now())))
    socket.on('drain', () => this.#enter(() => this.#session.outputBlocked(false, performance.now())))
    socket.on('end', () => this.#enter(() => this.#session.close({ code: 'peer_closed' })))
    socket.on('error', (error) => this.#enter(() => this.#session.close(this.#socketError(error))))
    socket.on('close', () => {
      this.#closed.resolve()
      this.#enter(() => this.#session.close({ code: 'peer_closed' }))
    })
  }

  /** OPEN, BOUND_TX, BOUND_RX, BOUND_TRX, UNBINDING, CLOSED; CONNECTING before. */
  get state(): Session<Token>['state'] {
    return this.#session.state
  }

  /** The peer sent its last octets no earlier than this, by `performance.now()`; -Infinity: nothing came. */
  get lastReceivedMs(): number {
    return this.#session.lastReceivedMs
  }

  /** How many requests `send` would take now: 0 unless bound. */
  get windowFree(): number {
    return this.#session.windowFree
  }

  /** Our requests without a response. */
  get unanswered(): number {
    return this.#session.unanswered
  }

  /** Our unbind is sent, so the peer may not read answers any more. */
  get isUnbindSent(): boolean {
    return this.#session.isUnbindSent
  }

  /** Counts of what the peer did wrong, by kind. */
  get anomalies(): Readonly<Record<Anomaly, number>> {
    return this.#session.anomalies
  }

  /** Unwritten octets of the socket. */
  get writableLength(): number {
    return this.#socket.writableLength
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  /**
   * Sends a request; its answer comes to `onResponse` (or `onTimeout`, `onClose`) with `token`. Returns the sequence
   * number (> 0), WINDOW_FULL (0) or NOT_BOUND (-1).
   * @throws RangeError a field does not fit (see `encodePdu`); nothing is sent then.
   */
  send(pdu: RequestInput, token: Token | PromisedRequest): number {
    const sequence = this.#session.send(pdu, token, performance.now())
    if (sequence > 0) this.#applyOutput(this.windowFree === 0)
    return sequence
  }

  /**
   * Sends a request and returns its answer, whatever its status. Rejects with SmppRequestError: `not_sent` (window full
   * or not bound), `timeout`, `closed`; or with the RangeError of `send`. For tools and tests: `send` is cheaper.
   */
  request(pdu: RequestInput): Promise<ResponsePdu> {
    const promised = new PromisedRequest()
    // A caller who drops the promise must not end the process.
    promised.promise.catch(() => undefined)
    try {
      if (this.send(pdu, promised) <= 0) promised.reject(new SmppRequestError('not_sent'))
    } catch (error) {
      promised.reject(error)
    }
    return promised.promise
  }

  /**
   * Answers a request of the peer. False when nobody may read that: answered before, the session over, or our unbind sent.
   * @throws RangeError a field of `body` does not fit; the request is then still unanswered.
   */
  respond(request: RequestPdu, status: number, body?: ResponseBody): boolean {
    const taken = this.#session.respond(request, status, body, performance.now())
    this.#applyOutput(this.#session.toAnswer === 0)
    return taken
  }

  /** ESME: the accepted bind; rejects with SmppRequestError `closed` when the connection ends without one. */
  whenBound(): Promise<BindRespPdu> {
    return this.#bound.promise
  }

  /** When the socket is closed. Never rejects. */
  whenClosed(): Promise<void> {
    return this.#closed.promise
  }

  /**
   * Ends the session in order: takes no more requests, waits for those in flight (`waitMs`, default unbindTimeoutMs),
   * sends unbind, waits for its answer (unbindTimeoutMs), closes. Another call can only shorten the wait. Resolves when
   * the socket is closed; never rejects.
   */
  unbind(waitMs?: number): Promise<void> {
    this.#enter(() => this.#session.unbind(performance.now(), waitMs))
    return this.#closed.promise
  }

  /** Ends the session at once, without an unbind; output already queued is still written. Resolves like `unbind`. */
  close(reason: CloseReason = { code: 'local' }): Promise<void> {
    this.#enter(() => this.#session.close(reason))
    return this.#closed.promise
  }

  /** Ends the session and drops the socket with its unwritten output. */
  destroy(): void {
    this.#destroyed = true
    this.#enter(() => this.#session.close({ code: 'local' }))
    this.#socket.destroy()
  }

  /** Called by `connect` and `listen` when the transport is open. */
  opened(): void {
    if (this.#session.state !== 'CONNECTING') return
    // After the poll phase: after a stall of this process, everything that the peer sent meanwhile is read first.
    const tick = (emptiedMs: number) => this.#enter(() => this.#session.tick(performance.now(), emptiedMs))
    this.#ticker = setInterval(() => setImmediate(tick, performance.now()), this.#tickMs).unref()
    this.#enter(() => this.#session.open(performance.now()))
  }

  /** Called by `connect` when the transport does not open in time. */
  connectTimedOut(): void {
    if (this.#session.state === 'CONNECTING')
      this.#enter(() => this.#session.close({ code: 'connect_timeout' }))
  }

  #socketError(error: Error): CloseReason {
    return { code: this.#session.state === 'CONNECTING' ? 'connect_failed' : 'socket_error', error }
  }

  /** Runs the session. A handler that throws ends it, since nobody knows what the handler left undone. */
  #enter(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#session.close({
        code: 'handler_error',
        error: error instanceof Error ? error : new Error(String(error)),
      })
    }
    this.#applyOutput()
  }

  /** Carries out what the session asks of the socket. `isAwaited`: ahead of other sockets, since the peer may wait for it. */
  #applyOutput(isAwaited = false): void {
    const paused = this.#session.readPaused && this.#session.state !== 'CLOSED'
    if (paused !== this.#paused) {
      this.#paused = paused
      this.#socket[paused ? 'pause' : 'resume']()
    }
    if (!this.#session.hasOutput) return
    if (isAwaited) queueMicrotask(this.#flush)
    else if (!this.#flushScheduled) setImmediate(this.#flush)
    this.#flushScheduled = true
  }

  readonly #flush = (): void => {
    this.#flushScheduled = false
    const pieces = this.#session.takeOutput()
    if (pieces.length === 0 || this.#socket.destroyed || !this.#socket.writable) return
    if (pieces.length > 1) this.#socket.cork()
    for (const piece of pieces) this.#socket.write(piece)
    if (pieces.length > 1) this.#socket.uncork()
    if (this.#socket.writableLength <= this.#writeLimit) return
    this.#session.outputBlocked(true, performance.now())
    this.#applyOutput()
  }

  #sessionHandlers(): SessionHandlers<Token | PromisedRequest> {
    const handlers = this.#handlers
    return {
      onBound: (pdu) => {
        this.#bound.resolve(pdu)
        handlers.onBound?.(pdu, this)
      },
      ...(handlers.onBind && { onBind: (pdu: BindPdu) => handlers.onBind?.(pdu, this) }),
      ...(handlers.onRequest && {
        onRequest: (pdu: RequestPdu) => handlers.onRequest?.(pdu, this, this.#session.toAnswer),
      }),
      onResponse: (token, pdu, latencyMs) => {
        if (token instanceof PromisedRequest) token.resolve(pdu)
        else handlers.onResponse?.(token, pdu, this, latencyMs)
      },
      onTimeout: (token) => {
        if (token instanceof PromisedRequest) token.reject(new SmppRequestError('timeout'))
        else handlers.onTimeout?.(token, this)
      },
      onLateResponse: (token, pdu) => {
        if (!(token instanceof PromisedRequest)) handlers.onLateResponse?.(token, pdu, this)
      },
      onAnomaly: (anomaly, pdu) => handlers.onAnomaly?.(anomaly, pdu, this),
      onClose: (reason, unanswered) => this.#ended(reason, unanswered),
    }
  }

  /** The session is over: the last octets are written, then the socket closes, after lingerMs at the latest. */
  #ended(reason: CloseReason, unanswered: (Token | PromisedRequest)[]): void {
    this.closed = { code: reason.code, atMs: performance.now() }
    if (this.#ticker !== null) clearInterval(this.#ticker)
    if (this.#ticker === null || this.#destroyed || reason.code === 'write_timeout') {
      this.#socket.destroy()
    } else {
      this.#flush()
      this.#socket.end()
      // Read on to see the peer's end; anything that still comes is dropped.
      this.#socket.resume()
      const linger = setTimeout(() => this.#socket.destroy(), this.#lingerMs).unref()
      this.#socket.once('close', () => clearTimeout(linger))
    }
    const error = new SmppRequestError('closed', reason)
    this.#bound.reject(error)
    const tokens: Token[] = []
    for (const token of unanswered) {
      if (token instanceof PromisedRequest) token.reject(error)
      else tokens.push(token)
    }
    this.#handlers.onClose?.(reason, tokens, this)
  }
}

/**
 * Opens an ESME session. Returns at once; `onBound` or `onClose` reports the outcome.
 * @throws RangeError a field of `bind` does not fit, or the port is out of range.
 */
export function connect<Token = unknown>(
  options: ConnectOptions,
  handlers: ConnectionHandlers<Token> = {},
): Connection<Token> {
  // Checked here, where the caller can see it, rather than when the transport opens.
  if (options.bind !== undefined) encodePdu(options.bind)
  const socket = openSocket(options)
  const connection = new Connection<Token>(socket, sessionSettings('esme', options), () => handlers, options)
  const timeout = setTimeout(() => connection.connectTimedOut(), connectTimeoutMs(options)).unref()
  socket.once('close', () => clearTimeout(timeout))
  socket.once(options.tls === undefined ? 'connect' : 'secureConnect', () => {
    clearTimeout(timeout)
    connection.opened()
  })
  return connection
}

type Target = Pick<ConnectOptions, 'host' | 'port' | 'tls' | 'connectTimeoutMs'>

/**
 * Connects, with TLS if asked, and closes without a bind.
 * @throws Error of the socket, or ETIMEDOUT.
 */
export async function probe(target: Target): Promise<void> {
  const signal = AbortSignal.timeout(connectTimeoutMs(target))
  const socket = openSocket(target)
  try {
    await once(socket, target.tls === undefined ? 'connect' : 'secureConnect', { signal })
  } catch (error) {
    throw signal.aborted ? Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' }) : error
  } finally {
    socket.destroy()
  }
}

function openSocket({ host, port, tls: secure }: Target): net.Socket {
  if (secure === undefined) return net.connect({ host, port })
  return tls.connect({ ...checkedTls(host, secure === true ? {} : secure), host, port })
}

function connectTimeoutMs({ connectTimeoutMs: given = 10_000 }: Target): number {
  return given
}

const KEEP_ALIVE_MS = 30_000

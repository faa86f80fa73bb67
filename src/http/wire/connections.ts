import type { Server as HttpServer, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { ResponseText } from '../short-sends.ts'
import { ShortHeads, type ShortRequest } from './short-heads.ts'
import { acceptWaiting, nextPoll } from './waiting-connections.ts'

/** Node's own field of a server: whether a client that has sent its last request still gets its answers. */
type Server = HttpServer & { httpAllowHalfOpen?: boolean }

/** Node's own field of a response: what its Keep-Alive header says. */
type Response = ServerResponse & { _keepAliveTimeout?: number }

/** Node's own fields of a connection: whether reading is paused, and the parser. */
type ServerSocket = IncomingMessage['socket'] & {
  _paused?: boolean
  parser?: { resume(): void; incoming?: IncomingMessage | null } | null
}

interface Connection {
  readonly socket: ServerSocket
  /** Requests that were handed on and are not answered yet. */
  outstanding: number
  /** Pipelined requests that wait until their turn comes. */
  waiting: (readonly [IncomingMessage, ServerResponse])[]
  /** The last request was handed on: anything after it could not be answered (RFC 9112 §9.6). */
  ended: boolean
  /** When the last request was handed on. */
  begunAtMs: number
  /** When the last outstanding request ended, and how many bytes had been read by then. */
  quietSinceMs: number
  quietAtBytes: number
  /** Parses in JavaScript what was read; null while Node's parser reads the socket directly. */
  parse: ((bytes: Buffer) => void) | null
  /** Bytes that were read and not parsed yet. */
  unparsed: Buffer
  /** Whether its requests may take the short way. */
  short: ShortState | null
  /** A request of the short way is being answered. */
  isAnswering: boolean
  /** Lets Node know that the client has closed its side, once everything before that is parsed. */
  end: () => void
}

interface ShortState {
  readonly heads: ShortHeads
  /** Node's parser has had a request, so its time-outs for the first one are over. */
  isKnown: boolean
  /** Bytes that came behind a request that is being answered. */
  behind: Buffer
}

/** Answers some requests without Node's parser. */
export interface ShortWay {
  /** Method and path of these requests. */
  readonly target: string
  /** Null when it does not answer this request. */
  readonly answer: (request: ShortRequest) => Promise<ResponseText | null>
}

export interface ConnectionLimits {
  /** Most outstanding requests of one connection. */
  readonly pipelinedRequests: number
  /** What clients are told of how long an idle connection is kept, in milliseconds. */
  readonly keepAliveHintMs: number
  /** How long a connection must have been idle before a draining server ends it, in milliseconds. */
  readonly quietMs: number
  /** How long a connection may stall: its peer does not read the answer. */
  readonly stalledTimeoutMs: number
  /** How long a connection waits for the work on its answer. */
  readonly answerTimeoutMs: number
}

/** Pipelined requests that all connections together start in one turn of the event loop: about 0.3 ms of work. */
const PIPELINED_PER_TURN = 3
/**
 * Pause before each such turn. Without it one connection gets 14,000 anonymous requests a second, whose garbage costs
 * ten pauses of 10 ms a second: the p99 of others triples. With it, all connections together get about 2,300 a second.
 */
const TURN_MS = 1
/** Bytes of a connection that are parsed at once: some 50 of the smallest requests, less than 1 ms. */
const PARSED_AT_ONCE_BYTES = 2_048
/** Idle connections that are ended in one turn of the event loop; all others are read between turns. */
const ENDED_PER_TURN = 64
const NOTHING = Buffer.alloc(0)
/** How often a draining server looks for connections that have become idle. */
const DRAIN_CHECK_MS = 50

/**
 * Manages a server's connections, between Node's parser and whoever answers the requests.
 *
 * A connection has a bounded number of outstanding requests, and its pipelined requests take turns with those of others.
 * Node hands on all requests of a 64 KiB chunk, and up to 32 chunks, before it looks at another connection: 5,000
 * pipelined requests that were refused at once kept others waiting for 557 ms. While requests wait, their connection is
 * not read. A connection with many of them is parsed in small pieces from then on, because the 1,500 requests of one
 * chunk take 20 ms to parse alone.
 *
 * A draining server answers what its connections have sent and ends each with that answer. An idle connection is ended
 * after it was idle for a while, right after the event loop has read everything that had come.
 */
export class Connections {
  readonly #server: Server
  readonly #serve: RequestListener
  readonly #limits: ConnectionLimits
  readonly #shortWay: ShortWay | null
  readonly #connections = new Map<ServerSocket, Connection>()
  /** Connections with a request that may begin; the one that began most recently is last. */
  readonly #ready = new Set<Connection>()
  #isTurnScheduled = false
  #draining = false

  /** Replaces the server's only request listener. */
  constructor(server: Server, limits: ConnectionLimits, shortWay: ShortWay | null = null) {
    this.#server = server
    this.#limits = limits
    this.#shortWay = shortWay
    const [serve] = server.listeners('request') as RequestListener[]
    this.#serve = serve!
    server.httpAllowHalfOpen = true
    server.removeListener('request', serve!)
    server.on('request', (request, response) => this.#arrive(request, response))
    server.on('connection', (socket: ServerSocket) => this.#open(server, socket))
    server.on('timeout', (socket: ServerSocket) => this.#stalled(socket))
    // Node's own method ends idle connections before it has read what they sent.
    server.closeIdleConnections = () => void this.#endQuietAfterRead()
  }

  /** From now on, every answer ends its connection. Resolves once all who connected before are accepted. */
  async drain(): Promise<void> {
    this.#draining = true
    await acceptWaiting(this.#server)
  }

  #open(server: Server, socket: ServerSocket): void {
    const connection: Connection = {
      socket,
      outstanding: 0,
      waiting: [],
      ended: false,
      begunAtMs: performance.now(),
      quietSinceMs: performance.now(),
      quietAtBytes: 0,
      parse: null,
      unparsed: NOTHING,
      short: null,
      isAnswering: false,
      end: () => undefined,
    }
    this.#connections.set(socket, connection)
    deferEnd(connection, server)
    if (this.#shortWay !== null) this.#readFirst(connection, this.#shortWay)
    socket.once('close', () => {
      this.#connections.delete(socket)
      this.#ready.delete(connection)
      dropInput(connection)
    })
    // Node resumes reading whenever an answer was written.
    socket.on('resume', () => {
      if (isBusy(connection)) pause(socket)
      else startReading(socket)
    })
  }

  /**
   * Reads the socket before Node's parser does, and answers the requests that the short way takes. The parser gets the
   * first request, all that are refused, and everything from the first read on that is not exactly one such request. So
   * it always stands between two requests while it is bypassed.
   */
  #readFirst(connection: Connection, { target, answer }: ShortWay): void {
    const { socket } = connection
    const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[]
    if (parse === undefined) return
    const short: ShortState = {
      heads: new ShortHeads(target),
      isKnown: false,
      behind: NOTHING,
    }
    connection.short = short
    socket.removeListener('data', parse)
    socket.on('data', (bytes: Buffer) => {
      if (connection.isAnswering) {
        connection.short = null
        short.behind = Buffer.concat([short.behind, bytes])
        pause(socket)
        return
      }
      const isFree = connection.short !== null && connection.outstanding === 0
      const request = isFree ? short.heads.read(bytes) : null
      if (request === null) connection.short = null
      if (request === null || !short.isKnown || this.#draining) {
        short.isKnown = true
        parse.call(socket, bytes)
        return
      }
      connection.outstanding += 1
      connection.begunAtMs = performance.now()
      connection.isAnswering = true
      const done = (response: ResponseText | null) => {
        connection.outstanding -= 1
        connection.isAnswering = false
        becomeQuiet(connection)
        if (response !== null) this.#write(connection, response)
        else parse.call(socket, bytes)
        connection.end()
        const { behind } = short
        if (behind.length === 0 || socket.destroyed) return
        // Up to 64 KiB, which an idle connection would keep.
        short.behind = NOTHING
        resume(socket)
        parse.call(socket, behind)
      }
      // A call that throws has taken nothing: the ordinary way finds out what is wrong, and answers it.
      answer(request).then(done, () => done(null))
    })
  }

  #write(connection: Connection, response: ResponseText): void {
    const { socket } = connection
    const text = response(this.#draining)
    if (text === null) socket.destroy()
    else if (socket.writable) socket.write(text)
    if (!this.#draining) return
    connection.ended = true
    socket.destroySoon()
  }

  /**
   * Nothing was read or written for a while. A peer that waits for its answer is not at fault: a large configuration file may
   * take minutes to apply, and would be applied although its client had lost the connection.
   */
  #stalled(socket: ServerSocket): void {
    const connection = this.#connections.get(socket)
    const isWorking = connection !== undefined && connection.outstanding > 0 && socket.writableLength === 0
    if (isWorking && performance.now() - connection.begunAtMs < this.#limits.answerTimeoutMs)
      socket.setTimeout(this.#limits.stalledTimeoutMs)
    else socket.destroy()
  }

  #arrive(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(request.socket as ServerSocket)
    if (connection === undefined || connection.ended) return
    if (connection.outstanding === 0 && connection.waiting.length === 0) {
      this.#begin(connection, request, response)
      return
    }
    connection.waiting.push([request, response])
    pause(connection.socket)
    this.#offer(connection)
  }

  #begin(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    if (this.#draining) response.setHeader('connection', 'close')
    else (response as Response)._keepAliveTimeout = this.#limits.keepAliveHintMs
    if (this.#draining || !response.shouldKeepAlive) {
      connection.ended = true
      dropInput(connection)
    }
    connection.outstanding += 1
    connection.begunAtMs = performance.now()
    response.once('close', () => this.#answered(connection, request))
    this.#serve(request, response)
  }

  #answered(connection: Connection, request: IncomingMessage): void {
    connection.outstanding -= 1
    becomeQuiet(connection)
    // The body of a request that was refused by its headers may still come.
    if (!request.closed) request.once('close', () => becomeQuiet(connection))
    // Node keeps the connection when the last answer is a failure. A head that was cut off is answered first.
    if (connection.socket.readableEnded && connection.outstanding === 0 && !isBusy(connection))
      process.nextTick(() => connection.socket.end())
    this.#offer(connection)
  }

  /** Queues the connection for the next turn if one of its requests may begin. */
  #offer(connection: Connection): void {
    if (!isBusy(connection) || connection.outstanding >= this.#limits.pipelinedRequests) return
    this.#ready.add(connection)
    if (this.#isTurnScheduled) return
    this.#isTurnScheduled = true
    // Only one immediate runs in a turn of the event loop, after other connections were read.
    setTimeout(() => setImmediate(() => this.#turn()), TURN_MS)
  }

  #turn(): void {
    this.#isTurnScheduled = false
    let left = PIPELINED_PER_TURN
    for (const connection of this.#ready) {
      if (left === 0) break
      left -= 1
      this.#ready.delete(connection)
      if (connection.socket.destroyed) dropInput(connection)
      if (!isBusy(connection)) continue
      if (connection.waiting.length > this.#limits.pipelinedRequests) this.#parseInPieces(connection)
      const next = connection.waiting.shift()
      if (next !== undefined) this.#begin(connection, ...next)
      else parseNext(connection)
      if (!isBusy(connection)) resume(connection.socket)
      this.#offer(connection)
    }
    const [next] = this.#ready
    if (next !== undefined) this.#offer(next)
  }

  /** Takes the socket from Node's parser, which hands it back to whoever listens for its data. It is paused at this point. */
  #parseInPieces(connection: Connection): void {
    if (connection.parse !== null) return
    const { socket } = connection
    const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[]
    connection.parse = parse!
    socket.removeListener('data', parse!)
    socket.on('data', (bytes: Buffer) => {
      connection.unparsed = Buffer.concat([connection.unparsed, bytes])
      pause(socket)
      this.#offer(connection)
    })
  }

  async #endQuietAfterRead(): Promise<void> {
    await nextPoll()
    const quietBeforeMs = performance.now() - this.#limits.quietMs
    let left = ENDED_PER_TURN
    for (const connection of this.#connections.values()) {
      if (left === 0) break
      if (!isIdle(connection) || connection.quietSinceMs > quietBeforeMs) continue
      left -= 1
      connection.socket.destroy()
    }
    if (this.#connections.size === 0) return
    const delayMs = left === 0 ? 0 : DRAIN_CHECK_MS
    setTimeout(() => this.#endQuietAfterRead(), delayMs).unref()
  }
}

/** Some input was read that has not begun. */
function isBusy({ waiting, unparsed }: Connection): boolean {
  return waiting.length > 0 || unparsed.length > 0
}

/** Drops input that was read and has not begun: it is not answered. */
function dropInput(connection: Connection): void {
  connection.waiting = []
  connection.unparsed = NOTHING
}

/** Hands the next piece to Node's parser, from which its requests arrive. */
function parseNext(connection: Connection): void {
  const { socket, unparsed } = connection
  connection.unparsed = unparsed.subarray(PARSED_AT_ONCE_BYTES)
  socket._paused = false
  socket.parser?.resume()
  connection.parse?.(unparsed.subarray(0, PARSED_AT_ONCE_BYTES))
  connection.end()
}

/**
 * When the client ends, Node would end the connection too, with requests still unparsed. So it is told of the end only when
 * everything is parsed. It would wait for the rest of a body that was cut off, so such a request is answered here.
 */
function deferEnd(connection: Connection, server: Server): void {
  const { socket } = connection
  const end = socket.listeners('end').at(-1) as () => void
  socket.removeListener('end', end)
  let isTold = false
  connection.end = () => {
    if (isTold || !socket.readableEnded || connection.isAnswering || connection.unparsed.length > 0) return
    isTold = true
    end.call(socket)
    if (socket.parser?.incoming?.complete === false) server.emit('clientError', new Error('cut off'), socket)
  }
  socket.on('end', connection.end)
}

function becomeQuiet(connection: Connection): void {
  connection.quietSinceMs = performance.now()
  connection.quietAtBytes = connection.socket.bytesRead
}

/** Nothing is outstanding, and no part of a request has come. */
function isIdle(connection: Connection): boolean {
  const { socket, outstanding, quietAtBytes } = connection
  return outstanding === 0 && !isBusy(connection) && socket.bytesRead === quietAtBytes
}

/** Pauses by the means that Node itself uses when answers pile up. */
function pause(socket: ServerSocket): void {
  socket._paused = true
  socket.pause()
}

function resume(socket: ServerSocket): void {
  socket._paused = false
  socket.parser?.resume()
  socket.resume()
  startReading(socket)
}

/** A stream that was paused within its first read does not start another by itself. */
function startReading(socket: ServerSocket): void {
  socket._read(0)
}

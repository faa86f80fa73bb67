import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError, ERRORS, type ErrorCode, fault, invalid, WHOLE_REQUEST } from '../../errors.ts'
import { errorBody } from '../schemas/error-body.ts'

/** Answers whatever never becomes a request: bytes that Node's parser refuses, time-outs, expectations, CONNECT. */

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
}

const CODE_OF_PARSER_ERROR: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'MESSAGE_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
}

/** How long a peer may go on writing after its answer. */
const LINGER_MS = 1_000

const UNREADABLE = fault(WHOLE_REQUEST, 'MALFORMED_HTTP', 'must be HTTP/1.1')

export interface RawResponses {
  /** Call for each request whose body is chunked. */
  noteChunked(socket: Duplex): void
  /** For Fastify's `clientErrorHandler`. */
  onClientError(error: NodeJS.ErrnoException, socket: Duplex): void
  /** Takes over the events of a server that Fastify leaves to Node. */
  attach(server: Server): void
}

/** `observe` gets the status of each such answer. */
export function rawResponses(nextRequestId: () => string, observe: (status: number) => void): RawResponses {
  function end(socket: Duplex, code: ErrorCode): void {
    const { status } = ERRORS[code]
    const requestId = nextRequestId()
    const failure = code === 'VALIDATION_ERROR' ? invalid([UNREADABLE]) : new AppError(code)
    const body = JSON.stringify(errorBody(failure, requestId))
    observe(status)
    socket.end(
      `HTTP/1.1 ${status} ${REASONS[status] ?? 'Error'}\r\ncontent-type: application/json; charset=utf-8\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nx-request-id: ${requestId}\r\n` +
        `cache-control: no-store\r\nconnection: close\r\n\r\n${body}`,
    )
    // Destroying a socket with unread bytes at once resets the connection, and the answer may be lost with it.
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
    socket.once('close', () => clearTimeout(timer))
  }
  // Sockets whose last request was chunked. A request that announces an impossible chunk and never sends it (bad-input.json
  // B301) is malformed, but the parser only reports a time-out.
  const chunked = new WeakSet<Duplex>()
  const failed = new WeakSet<Duplex>()
  return {
    noteChunked: (socket) => chunked.add(socket),
    onClientError(error, socket) {
      if (error.code === 'ECONNRESET') {
        socket.destroy()
        return
      }
      // The first unreadable bytes are answered; whatever follows is unreadable too.
      if (failed.has(socket)) return
      failed.add(socket)
      whenAnswered(socket, () => {
        if (!socket.writable || responseOf(socket)?.headersSent === true) {
          socket.destroy()
          return
        }
        const code = CODE_OF_PARSER_ERROR[error.code ?? ''] ?? 'VALIDATION_ERROR'
        end(socket, code === 'REQUEST_TIMEOUT' && chunked.has(socket) ? 'VALIDATION_ERROR' : code)
      })
    },
    attach(server) {
      server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
        const requestId = nextRequestId()
        const body = JSON.stringify(errorBody(new AppError('EXPECTATION_FAILED'), requestId))
        observe(417)
        response.writeHead(417, {
          'content-type': 'application/json; charset=utf-8',
          'content-length': Buffer.byteLength(body),
          'x-request-id': requestId,
          'cache-control': 'no-store',
          connection: 'close',
        })
        response.end(body)
      })
      server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
        whenAnswered(socket, () => end(socket, 'METHOD_NOT_ALLOWED'))
      })
    },
  }
}

/** Node keeps the response whose turn it is on the socket, and sets the next one when it is finished. */
function responseOf(socket: Duplex): ServerResponse | null {
  const { _httpMessage: response } = socket as Duplex & { _httpMessage?: ServerResponse | null }
  return response ?? null
}

/**
 * Calls back once every request that came whole has its answer. What follows it in the pipeline may be unreadable: an
 * immediate answer to that would look like the answer to a message that is stored and will be sent. A request that itself
 * is at fault is not waited for. Every answer comes within the bounds of its own work, or the socket closes.
 */
function whenAnswered(socket: Duplex, then: () => void): void {
  const response = responseOf(socket)
  if (response?.req.complete && !socket.destroyed) response.once('close', () => whenAnswered(socket, then))
  else then()
}

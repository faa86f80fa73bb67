/** Bytes of one head, interim or final, its line ends included. */
export const MAX_HEAD_BYTES: number = 16 * 1_024
export const MAX_INTERIM_RESPONSES = 16
/**
 * Bytes read after the head, including the lines between chunks. Anything a receiver sends beyond them is not ours to carry.
 */
export const MAX_BODY_BYTES: number = 16 * 1_024
/** Bytes of content that are kept. */
export const KEPT_BYTES = 1_024

const VERSION = 'HTTP/1.'
/** RFC 9112 §7.1: a size, and extensions that are not read. */
const CHUNK_LINE = /^([0-9A-Fa-f]{1,8})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?$/

type State = 'status-line' | 'fields' | 'content' | 'chunk-line' | 'chunk-end' | 'trailers' | 'over'

/**
 * Reads the answer to one request, HTTP/1.1 or 1.0 (RFC 9112), from bytes in pieces of any size. The result does not
 * depend on where the pieces end. No I/O; never throws; holds at most one line and the kept content.
 *
 * Strict where laxness lets two parsers read two different answers: line ends are CR LF, a length is given once and not
 * together with chunks, lines are not folded. After a fault, and after an answer whose end is in any doubt, the connection
 * must not carry another request.
 */
export class ResponseParser {
  #state: State = 'status-line'
  #head: ResponseHead | null = null
  /** The head belongs to the final response, and is complete. */
  #isFinal = false
  #fault: ResponseFault | null = null
  #idleMs = 0
  /** The beginning of a line whose end has not arrived. */
  #partial = ''
  /** Bytes of the head or of the body, whichever is being read. */
  #bytes = 0
  #interimResponses = 0
  #isChunked = false
  /** Bytes missing of the content or the chunk. */
  #missingBytes = 0
  readonly #kept: Buffer[] = []
  #keptBytes = 0

  /** Status of the final response; null before its head is complete. */
  get status(): number | null {
    return this.#isFinal && this.#head !== null ? this.#head.status : null
  }

  /** Why there is no status. */
  get fault(): ResponseFault | null {
    return this.#fault
  }

  get retryAfter(): string | undefined {
    return this.#head?.retryAfter
  }

  /** How long the connection may wait for another request. 0 until the answer ends, and when it must be closed. */
  get idleMs(): number {
    return this.#state === 'over' ? this.#idleMs : 0
  }

  /** The first KEPT_BYTES of the content, read as UTF-8. */
  contentHead(): string {
    return this.#kept.length === 0 ? '' : Buffer.concat(this.#kept).toString('utf8')
  }

  /** Takes the next bytes, and copies what it keeps of them. Returns whether the answer is over. */
  read(bytes: Buffer): boolean {
    const text = this.#partial + bytes.toString('latin1')
    const skipped = this.#partial.length
    this.#partial = ''
    let at = 0
    while (this.#state !== 'over') {
      if (this.#state === 'content') {
        if (at === text.length) return false
        const length = Math.min(text.length - at, this.#missingBytes, MAX_BODY_BYTES - this.#bytes)
        this.#takeContent(bytes.subarray(at - skipped, at - skipped + length))
        at += length
      } else {
        const end = text.indexOf('\r\n', at)
        if (end === -1) {
          this.#hold(text.slice(at))
          return this.#isOver()
        }
        this.#takeLine(text.slice(at, end))
        at = end + 2
      }
    }
    // Bytes after an answer belong to no request.
    if (at < text.length) this.#idleMs = 0
    return true
  }

  /** The connection has ended. */
  end(): void {
    if (this.#state === 'over') return
    if (this.#isFinal) this.#cut()
    else this.#fail('CONNECTION_RESET')
  }

  #isOver(): boolean {
    return this.#state === 'over'
  }

  #takeContent(content: Buffer): void {
    const kept = content.subarray(0, KEPT_BYTES - this.#keptBytes)
    // A view would be overwritten by the next read.
    if (kept.length > 0) this.#kept.push(Buffer.from(kept))
    this.#keptBytes += kept.length
    this.#bytes += content.length
    this.#missingBytes -= content.length
    if (this.#missingBytes === 0) this.#state = this.#isChunked ? 'chunk-end' : 'over'
    else if (this.#bytes >= MAX_BODY_BYTES) this.#cut()
  }

  /** A line can be wrong, or too long, before its end has arrived. */
  #hold(text: string): void {
    if (this.#isBounded(text, text.length)) this.#partial = text
  }

  #takeLine(line: string): void {
    const length = line.length + 2
    if (!this.#isBounded(line, length)) return
    this.#bytes += length
    if (this.#isFinal) {
      if (!this.#takeBodyLine(line)) this.#cut()
    } else {
      const fault = this.#takeHeadLine(line)
      if (fault !== null) this.#fail(fault)
    }
  }

  /** Ends the answer when a line, complete or not, exceeds a limit or does not begin like HTTP. */
  #isBounded(text: string, length: number): boolean {
    const isHttp = this.#state !== 'status-line' || text.startsWith(VERSION.slice(0, text.length))
    if (!isHttp) this.#fail('PROTOCOL_ERROR')
    else if (this.#bytes + length <= (this.#isFinal ? MAX_BODY_BYTES : MAX_HEAD_BYTES)) return true
    else if (this.#isFinal) this.#cut()
    else this.#fail('RESPONSE_TOO_LARGE')
    return false
  }

  #takeHeadLine(line: string): ResponseFault | null {
    if (this.#state === 'status-line') {
      this.#head = ResponseHead.of(line)
      this.#state = 'fields'
      return this.#head === null ? 'PROTOCOL_ERROR' : null
    }
    const head = this.#head!
    return line === '' ? this.#endHead(head) : head.take(line)
  }

  #endHead(head: ResponseHead): ResponseFault | null {
    const framing = head.framing()
    if (framing === null) return 'PROTOCOL_ERROR'
    this.#bytes = 0
    if (head.status < 200) return this.#endInterim(head.status)
    this.#isFinal = true
    this.#idleMs = framing.idleMs
    this.#isChunked = framing.isChunked
    this.#missingBytes = framing.length
    if (framing.isChunked) this.#state = 'chunk-line'
    else this.#state = framing.length === 0 ? 'over' : 'content'
    return null
  }

  /** A 1xx response says nothing, and another response follows (RFC 9110 §15.2). We never ask for an upgrade. */
  #endInterim(status: number): ResponseFault | null {
    this.#interimResponses += 1
    this.#state = 'status-line'
    return status === 101 || this.#interimResponses > MAX_INTERIM_RESPONSES ? 'PROTOCOL_ERROR' : null
  }

  /** Returns whether the line is what must be there. */
  #takeBodyLine(line: string): boolean {
    if (this.#state === 'chunk-line') {
      const size = CHUNK_LINE.exec(line)?.[1]
      if (size === undefined) return false
      this.#missingBytes = Number.parseInt(size, 16)
      this.#state = this.#missingBytes === 0 ? 'trailers' : 'content'
      return true
    }
    if (this.#state === 'chunk-end') {
      this.#state = 'chunk-line'
      return line === ''
    }
    if (line !== '') return FIELD_LINE.test(line)
    this.#state = 'over'
    return true
  }

  #fail(fault: ResponseFault): void {
    this.#fault = fault
    this.#cut()
  }

  /** The rest is not read. */
  #cut(): void {
    this.#idleMs = 0
    this.#state = 'over'
  }
}

/** Why an answer could not be read. Only faults before the end of its head count: after that, its status decides. */
type ResponseFault = 'PROTOCOL_ERROR' | 'RESPONSE_TOO_LARGE' | 'CONNECTION_RESET'

/** How the content of a response ends, and whether its connection can be used again. */
interface Framing {
  readonly isChunked: boolean
  /** Bytes of content; Infinity when the content ends with the connection. */
  readonly length: number
  /** How long the connection may wait for another request; 0 when it must be closed. */
  readonly idleMs: number
}

export const MAX_FIELD_LINES = 256

/** Below the 5 s after which common servers close an idle connection, so that we close first. */
const IDLE_MS = 4_000
const MAX_IDLE_MS = 60_000
/** How much sooner we close than a server says it will. */
const IDLE_MARGIN_MS = 2_000

/** RFC 9112 §4. Servers that send no reason phrase often leave out the space before it. */
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
/** RFC 9112 §5: no space before the colon, no line that continues the one before, no controls. */
const FIELD_LINE: RegExp = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/
const LENGTH = /^\d{1,15}$/
/** Lengths of the names that are read. Most fields of an answer are skipped by length alone. */
const NAME_LENGTHS = [...new Set(['connection', 'retry-after', 'content-length', 'transfer-encoding'])].map(
  ({ length }) => length,
)

/** The head of one response, interim or final, line by line. */
class ResponseHead {
  readonly status: number
  /** The value of the first Retry-After. */
  retryAfter: string | undefined
  readonly #minorVersion: number
  #fieldLines = 0
  #contentLength: number | null = null
  readonly #transferCodings: string[] = []
  readonly #connectionOptions: string[] = []
  #keepAlive = ''

  private constructor(minorVersion: number, status: number) {
    this.#minorVersion = minorVersion
    this.status = status
  }

  /** Null when the line is no status line of HTTP/1.1 or 1.0. */
  static of(statusLine: string): ResponseHead | null {
    const parts = STATUS_LINE.exec(statusLine)
    return parts === null ? null : new ResponseHead(Number(parts[1]), Number(parts[2]))
  }

  /** Takes one field line. Returns its fault, or null. */
  take(line: string): ResponseFault | null {
    this.#fieldLines += 1
    if (this.#fieldLines > MAX_FIELD_LINES) return 'RESPONSE_TOO_LARGE'
    if (!FIELD_LINE.test(line)) return 'PROTOCOL_ERROR'
    const nameLength = line.indexOf(':')
    if (!NAME_LENGTHS.includes(nameLength)) return null
    const name = line.slice(0, nameLength).toLowerCase()
    const value = withoutBlanks(line.slice(nameLength + 1))
    if (name === 'content-length') {
      // Two values, even equal ones, may come from two servers.
      if (this.#contentLength !== null || !LENGTH.test(value)) return 'PROTOCOL_ERROR'
      this.#contentLength = Number(value)
    } else if (name === 'transfer-encoding') this.#transferCodings.push(...membersOf(value))
    else if (name === 'connection') this.#connectionOptions.push(...membersOf(value))
    else if (name === 'keep-alive') this.#keepAlive += `,${value}`
    else if (name === 'retry-after') this.retryAfter ??= value
    return null
  }

  /** RFC 9112 §6.3. Null when the head contradicts itself about the content. */
  framing(): Framing | null {
    const codings = this.#transferCodings
    const length = this.#contentLength
    const chunked = codings.indexOf('chunked')
    if (codings.length > 0 && length !== null) return null
    if (chunked !== -1 && chunked < codings.length - 1) return null
    if (this.status === 204 || this.status === 304) {
      // A server that announces content where none is allowed could send it.
      const isPlain = codings.length === 0 && (length ?? 0) === 0
      return { isChunked: false, length: 0, idleMs: isPlain ? this.#idleMs() : 0 }
    }
    if (chunked !== -1) {
      // HTTP/1.0 has no chunks, so an intermediary is in between that may read another end than we do.
      return { isChunked: true, length: 0, idleMs: this.#minorVersion === 1 ? this.#idleMs() : 0 }
    }
    if (length !== null) return { isChunked: false, length, idleMs: this.#idleMs() }
    return { isChunked: false, length: Number.POSITIVE_INFINITY, idleMs: 0 }
  }

  #idleMs(): number {
    const options = this.#connectionOptions
    if (options.includes('close')) return 0
    if (this.#minorVersion === 0 && !options.includes('keep-alive')) return 0
    const hint = /\btimeout=(\d+)/i.exec(this.#keepAlive)?.[1]
    if (hint === undefined) return IDLE_MS
    return Math.min(Math.max(Number(hint) * 1_000 - IDLE_MARGIN_MS, 0), MAX_IDLE_MS)
  }
}

/** The members of a list (RFC 9110 §5.6.1), in lower case. */
function membersOf(list: string): string[] {
  return list
    .toLowerCase()
    .split(',')
    .map(withoutBlanks)
    .filter((member) => member !== '')
}

/** Removes spaces and tabs at both ends. A regular expression would take quadratic time for a long run of them. */
function withoutBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start += 1
  while (start < end && isBlank(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

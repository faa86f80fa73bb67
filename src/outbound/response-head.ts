/** Why an answer could not be read. Only faults before the end of its head count: after that, its status decides. */
export type ResponseFault = 'PROTOCOL_ERROR' | 'RESPONSE_TOO_LARGE' | 'CONNECTION_RESET'

/** How the content of a response ends, and whether its connection can be used again. */
export interface Framing {
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
export const FIELD_LINE: RegExp = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/
const LENGTH = /^\d{1,15}$/
/** Lengths of the names that are read. Most fields of an answer are skipped by length alone. */
const NAME_LENGTHS = [...new Set(['connection', 'retry-after', 'content-length', 'transfer-encoding'])].map(
  ({ length }) => length,
)

/** The head of one response, interim or final, line by line. */
export class ResponseHead {
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

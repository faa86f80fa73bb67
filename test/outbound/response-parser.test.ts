import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  KEPT_BYTES,
  MAX_BODY_BYTES,
  MAX_FIELD_LINES,
  MAX_HEAD_BYTES,
  MAX_INTERIM_RESPONSES,
  ResponseParser,
} from '../../src/outbound/response-parser.ts'

interface Reading {
  readonly status: number | null
  readonly fault: string | null
  readonly retryAfter: string | undefined
  readonly idleMs: number
  readonly content: string
}

/** Reads the pieces, one after the other, then the end of the connection where that is told. */
function reading(pieces: readonly Buffer[], isEnded: boolean): Reading {
  const parser = new ResponseParser()
  for (const piece of pieces) {
    // The buffer of a socket is overwritten by its next read.
    const view = Buffer.from(piece)
    parser.read(view)
    view.fill('!')
  }
  if (isEnded) parser.end()
  const { status, fault, retryAfter, idleMs } = parser
  return { status, fault, retryAfter, idleMs, content: parser.contentHead() }
}

/** Latin-1, as one piece. */
function readingOf(text: string, isEnded = false): Reading {
  return reading([Buffer.from(text, 'latin1')], isEnded)
}

const OK = 'HTTP/1.1 200 OK\r\n'
const EMPTY = 'content-length: 0\r\n\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`
/** Below the 5 s of common servers. */
const USUAL_MS = 4_000

describe('an answer and what its connection is good for', () => {
  test.each<[name: string, answer: string, status: number, idleMs: number, content: string]>([
    ['a length', `${OK}Content-Length: 2\r\n\r\nok`, 200, USUAL_MS, 'ok'],
    ['no content', `${OK}${EMPTY}`, 200, USUAL_MS, ''],
    ['no reason phrase', `HTTP/1.1 200\r\n${EMPTY}`, 200, USUAL_MS, ''],
    ['an empty reason phrase', `HTTP/1.1 200 \r\n${EMPTY}`, 200, USUAL_MS, ''],
    ['a reason phrase in Latin-1', `HTTP/1.1 200 Re\xe7u\r\n${EMPTY}`, 200, USUAL_MS, ''],
    ['blanks around values', `${OK}content-length: \t2 \t\r\n\r\nok`, 200, USUAL_MS, 'ok'],
    ['no blank before a value', `${OK}content-length:2\r\n\r\nok`, 200, USUAL_MS, 'ok'],
    ['an empty value', `${OK}x-empty:\r\n${EMPTY}`, 200, USUAL_MS, ''],
    ['chunks', `${CHUNKED}2\r\nok\r\n0\r\n\r\n`, 200, USUAL_MS, 'ok'],
    [
      'chunks in capitals',
      `${OK}Transfer-Encoding: Chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n`,
      200,
      USUAL_MS,
      '0123456789',
    ],
    ['chunks with extensions', `${CHUNKED}2;a=b;c="d"\r\nok\r\n0 ; e\r\n\r\n`, 200, USUAL_MS, 'ok'],
    ['chunks with trailers', `${CHUNKED}2\r\nok\r\n0\r\nx-end: 1\r\nx: y\r\n\r\n`, 200, USUAL_MS, 'ok'],
    ['no chunk but the last', `${CHUNKED}0\r\n\r\n`, 200, USUAL_MS, ''],
    ['a size with leading zeros', `${CHUNKED}00000002\r\nok\r\n000\r\n\r\n`, 200, USUAL_MS, 'ok'],
    [
      'early hints before it',
      `HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n${OK}${EMPTY}`,
      200,
      USUAL_MS,
      '',
    ],
    ['100 Continue unasked before it', `HTTP/1.1 100 Continue\r\n\r\n${OK}${EMPTY}`, 200, USUAL_MS, ''],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 204, USUAL_MS, ''],
    ['304', 'HTTP/1.1 304 Not Modified\r\n\r\n', 304, USUAL_MS, ''],
    [
      'an offer to upgrade',
      `${OK}upgrade: h2c\r\nconnection: upgrade, keep-alive\r\n${EMPTY}`,
      200,
      USUAL_MS,
      '',
    ],
    ['an idle time', `${OK}keep-alive: timeout=15, max=100\r\n${EMPTY}`, 200, 13_000, ''],
    ['a long idle time', `${OK}keep-alive: timeout=999999999999999999999\r\n${EMPTY}`, 200, 60_000, ''],
    ['HTTP/1.0 with keep-alive', `HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\n${EMPTY}`, 200, USUAL_MS, ''],
    ['an idle time too short to use', `${OK}keep-alive: timeout=2\r\n${EMPTY}`, 200, 0, ''],
    ['HTTP/1.0', `HTTP/1.0 200 OK\r\n${EMPTY}`, 200, 0, ''],
    ['close', `${OK}Connection: Close\r\n${EMPTY}`, 200, 0, ''],
    [
      'close among others',
      `${OK}connection: x-odd ,\tclose\r\nconnection: keep-alive\r\n${EMPTY}`,
      200,
      0,
      '',
    ],
    ['bytes behind it', `${OK}content-length: 2\r\n\r\nok\r\n`, 200, 0, 'ok'],
    ['another answer behind it', `${OK}${EMPTY}HTTP/1.1 410 Gone\r\n${EMPTY}`, 200, 0, ''],
    ['204 with a length', 'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nok', 204, 0, ''],
    ['204 with chunks', 'HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n', 204, 0, ''],
    [
      'chunks in HTTP/1.0',
      'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      200,
      0,
      'ok',
    ],
    ['a status unheard of', `HTTP/1.1 999 Odd\r\n${EMPTY}`, 999, USUAL_MS, ''],
  ])('%s', (_name, answer, status, idleMs, content) => {
    expect(readingOf(answer)).toEqual({ status, fault: null, retryAfter: undefined, idleMs, content })
  })

  test.each<[name: string, answer: string, content: string]>([
    ['no length', `${OK}\r\nok`, 'ok'],
    ['another coding', `${OK}transfer-encoding: gzip\r\n\r\nok`, 'ok'],
    ['an ended connection in the content', `${OK}content-length: 9\r\n\r\nok`, 'ok'],
    ['an ended connection in a chunk', `${CHUNKED}9\r\nok`, 'ok'],
    ['an ended connection in the trailers', `${CHUNKED}0\r\nx: y\r\n`, ''],
    ['a size that is none', `${CHUNKED}zz\r\nok\r\n`, ''],
    ['a size with a sign', `${CHUNKED}+2\r\nok\r\n0\r\n\r\n`, ''],
    ['a size beyond 32 bits', `${CHUNKED}100000000\r\nok\r\n`, ''],
    ['a size that has no line end of its own', `${CHUNKED}2\nok\r\n0\r\n\r\n`, ''],
    ['a chunk longer than its size', `${CHUNKED}2\r\noklong\r\n0\r\n\r\n`, 'ok'],
    ['a trailer that is no field', `${CHUNKED}2\r\nok\r\n0\r\nno field\r\n\r\n`, 'ok'],
  ])('%s: the status counts, and the connection ends', (_name, answer, content) => {
    expect(readingOf(answer, true)).toEqual({
      status: 200,
      fault: null,
      retryAfter: undefined,
      idleMs: 0,
      content,
    })
  })

  test('a character in two pieces is one', () => {
    const bytes = Buffer.from(`${OK}content-length: 2\r\n\r\né`)
    expect(reading([bytes.subarray(0, -1), bytes.subarray(-1)], false).content).toBe('é')
  })

  test('the first Retry-After of the final response', () => {
    const answer = `HTTP/1.1 103 Odd\r\nretry-after: 1\r\n\r\nHTTP/1.1 503 Busy\r\nRetry-After: 7 \r\nretry-after: 8\r\n${EMPTY}`
    expect(readingOf(answer)).toMatchObject({ status: 503, retryAfter: '7' })
  })
})

describe('no answer', () => {
  test.each<[name: string, bytes: string]>([
    ['another protocol, its line not ended', 'SSH-2.0-OpenSSH_9.9'],
    ['a single wrong letter', 'h'],
    ['an empty line first', `\r\n${OK}${EMPTY}`],
    ['HTTP/2', `HTTP/2 200 OK\r\n${EMPTY}`],
    ['HTTP/1.2', `HTTP/1.2 200 OK\r\n${EMPTY}`],
    ['HTTP/0.9', 'HTTP/0.9 200 OK\r\n\r\n'],
    ['two blanks', `HTTP/1.1  200 OK\r\n${EMPTY}`],
    ['two digits', `HTTP/1.1 20 OK\r\n${EMPTY}`],
    ['four digits', `HTTP/1.1 2000 OK\r\n${EMPTY}`],
    ['a status below 100', `HTTP/1.1 099 OK\r\n${EMPTY}`],
    ['a control in the reason phrase', `HTTP/1.1 200 O\x01K\r\n${EMPTY}`],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['line ends of LF alone', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n\r\n'],
    ['a line end of CR alone', `${OK}x: a\rcontent-length: 0\r\n\r\n`],
    ['an LF in a value', `${OK}x: a\nb\r\n${EMPTY}`],
    ['a NUL in a value', `${OK}x: a\0b\r\n${EMPTY}`],
    ['a line that continues the one before', `${OK}x: a\r\n b\r\n${EMPTY}`],
    ['a continued length', `${OK}content-length:\r\n 0\r\n\r\n`],
    ['a blank before the first field', `${OK} x: a\r\n${EMPTY}`],
    ['a blank before a colon', `${OK}content-length : 0\r\n\r\n`],
    ['no colon', `${OK}content-length\r\n\r\n`],
    ['no name', `${OK}: 0\r\n${EMPTY}`],
    ['a name that is no token', `${OK}content length: 0\r\n\r\n`],
    ['a length with a sign', `${OK}content-length: +2\r\n\r\nok`],
    ['a negative length', `${OK}content-length: -1\r\n\r\n`],
    ['a length in hexadecimal', `${OK}content-length: 0x2\r\n\r\nok`],
    ['a length with a fraction', `${OK}content-length: 2.0\r\n\r\nok`],
    ['an empty length', `${OK}content-length:\r\n\r\n`],
    ['a length beyond all bounds', `${OK}content-length: 1000000000000000\r\n\r\n`],
    ['a length behind a no-break space', `${OK}content-length: \xa02\r\n\r\nok`],
    ['two lengths', `${OK}content-length: 2\r\ncontent-length: 3\r\n\r\nok`],
    ['a length twice', `${OK}content-length: 2\r\ncontent-length: 2\r\n\r\nok`],
    ['a list of lengths', `${OK}content-length: 2, 2\r\n\r\nok`],
    ['a length and chunks', `${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a length and another coding', `${OK}transfer-encoding: gzip\r\ncontent-length: 2\r\n\r\nok`],
    ['chunks in another coding', `${OK}transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
    ['chunks twice', `${OK}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['too many interim responses', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(MAX_INTERIM_RESPONSES + 1)],
  ])('%s: PROTOCOL_ERROR', (_name, bytes) => {
    const read = readingOf(bytes)
    expect(read).toMatchObject({ status: null, fault: 'PROTOCOL_ERROR', idleMs: 0, content: '' })
  })

  test.each<[name: string, bytes: string]>([
    ['nothing', ''],
    ['the beginning of a version', 'HTT'],
    ['half a status line', 'HTTP/1.1 2'],
    ['a line end in half', 'HTTP/1.1 200 OK\r'],
    ['half a head', `${OK}content-le`],
    ['an interim response', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ])('%s, ended: CONNECTION_RESET', (_name, bytes) => {
    expect(readingOf(bytes)).toMatchObject({ status: null, fault: null, idleMs: 0 })
    expect(readingOf(bytes, true)).toMatchObject({ status: null, fault: 'CONNECTION_RESET', idleMs: 0 })
  })
})

describe('bounds', () => {
  /** A head of exactly so many bytes. */
  function headOf(bytes: number): string {
    const rest = `${OK}x: \r\n${EMPTY}`.length
    return `${OK}x: ${'a'.repeat(bytes - rest)}\r\n${EMPTY}`
  }

  test('a head', () => {
    expect(readingOf(headOf(MAX_HEAD_BYTES))).toMatchObject({ status: 200, idleMs: USUAL_MS })
    const tooLong = { status: null, fault: 'RESPONSE_TOO_LARGE' }
    expect(readingOf(headOf(MAX_HEAD_BYTES + 1))).toMatchObject(tooLong)
    expect(readingOf(`HTTP/1.1 200 ${'a'.repeat(MAX_HEAD_BYTES)}`)).toMatchObject(tooLong)
    expect(readingOf(`${OK}x: ${'a'.repeat(MAX_HEAD_BYTES)}`)).toMatchObject(tooLong)
  })

  test('field lines', () => {
    const withLines = (count: number) => `${OK}${'x: y\r\n'.repeat(count)}${EMPTY}`
    expect(readingOf(withLines(MAX_FIELD_LINES - 1))).toMatchObject({ status: 200 })
    expect(readingOf(withLines(MAX_FIELD_LINES))).toMatchObject({ status: null, fault: 'RESPONSE_TOO_LARGE' })
  })

  test('interim responses, each with a head of its own', () => {
    const hints = headOf(MAX_HEAD_BYTES).replace('200 OK', '103 OK').repeat(MAX_INTERIM_RESPONSES)
    expect(readingOf(`${hints}${OK}${EMPTY}`)).toMatchObject({ status: 200, idleMs: USUAL_MS })
  })

  test('content', () => {
    const withContent = (bytes: number) => `${OK}content-length: ${bytes}\r\n\r\n${'a'.repeat(bytes)}`
    const content = 'a'.repeat(KEPT_BYTES)
    expect(readingOf(withContent(MAX_BODY_BYTES))).toMatchObject({ status: 200, idleMs: USUAL_MS, content })
    expect(readingOf(withContent(MAX_BODY_BYTES + 1))).toMatchObject({ status: 200, idleMs: 0, content })
  })

  test.each<[name: string, start: string, endless: string]>([
    ['content', `${OK}\r\n`, 'a'],
    ['chunks', CHUNKED, '1\r\na\r\n'],
    ['an extension', `${CHUNKED}1;`, 'a'],
    ['a size', CHUNKED, '0'],
    ['trailers', `${CHUNKED}0\r\n`, 'x: y\r\n'],
    ['a trailer', `${CHUNKED}0\r\nx: `, 'y'],
  ])('%s without end: cut', (_name, start, endless) => {
    const parser = new ResponseParser()
    parser.read(Buffer.from(start))
    let bytes = 0
    while (!parser.read(Buffer.from(endless))) bytes += endless.length
    expect(bytes).toBeLessThanOrEqual(MAX_BODY_BYTES)
    expect(parser).toMatchObject({ status: 200, fault: null, idleMs: 0 })
  })
})

/** Bytes that come near to being answers: parts of them, right and wrong, in any order. */
const PARTS = [
  'HTTP/1.1 200 OK',
  'HTTP/1.0 204 No Content',
  'HTTP/1.1 103 Early Hints',
  'HTTP/1.1 101 Odd',
  'HTTP/1.',
  'content-length: 2',
  'content-length: 20000',
  'transfer-encoding: chunked',
  'connection: close',
  'keep-alive: timeout=9',
  'retry-after: 7',
  `x: ${'a'.repeat(5_000)}`,
  '\r\n',
  '\r\n',
  '\r\n',
  '\r\n\r\n',
  '\r',
  '\n',
  ' ',
  ':',
  '0\r\n\r\n',
  '2\r\nok\r\n',
  '3e8\r\n',
  'é'.repeat(600),
  '\0',
]
const part = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...PARTS) },
  { weight: 1, arbitrary: fc.string() },
)
const almostAnswer = fc
  .tuple(
    fc.constantFrom('', OK, OK, CHUNKED, `${OK}content-length: 5000\r\n\r\n`),
    fc.array(part, { maxLength: 20 }),
  )
  .map(([start, parts]) => Buffer.from(start + parts.join('')))
const anyBytes = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))
const bytesOf = fc.oneof({ weight: 4, arbitrary: almostAnswer }, { weight: 1, arbitrary: anyBytes })

/** The bytes, cut at these fractions of their length. */
function cutAt(bytes: Buffer, fractions: readonly number[]): Buffer[] {
  const cuts = fractions.map((fraction) => Math.floor(fraction * bytes.length)).sort((a, b) => a - b)
  return [0, ...cuts].map((start, index) => bytes.subarray(start, cuts[index] ?? bytes.length))
}

describe('whatever comes', () => {
  test('the pieces it comes in make no difference', () => {
    const fractions = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })
    fc.assert(
      fc.property(bytesOf, fractions, fc.boolean(), (bytes, cuts, isEnded) => {
        expect(reading(cutAt(bytes, cuts), isEnded)).toEqual(reading([bytes], isEnded))
      }),
      { numRuns: 2_000 },
    )
  })

  test('nor does it, octet by octet', () => {
    fc.assert(
      fc.property(bytesOf, fc.boolean(), (bytes, isEnded) => {
        const octets = [...bytes].map((octet) => Buffer.from([octet]))
        expect(reading(octets, isEnded)).toEqual(reading([bytes], isEnded))
      }),
      { numRuns: 200 },
    )
  })

  test('there is a status or a fault in the end, never both, and bounds hold', () => {
    fc.assert(
      fc.property(bytesOf, (bytes) => {
        const { status, fault, idleMs, content } = reading([bytes], true)
        expect(status === null).toBe(fault !== null)
        if (status !== null) expect(status >= 200 && status <= 999).toBe(true)
        expect(idleMs >= 0 && idleMs <= 60_000).toBe(true)
        expect(content.length).toBeLessThanOrEqual(KEPT_BYTES)
      }),
      { numRuns: 2_000 },
    )
  })

  test('a connection is used again only behind an answer that ends where its bytes end', () => {
    fc.assert(
      fc.property(bytesOf, fc.uint8Array({ minLength: 1, maxLength: 9 }), (bytes, more) => {
        expect(
          reading([bytes, Buffer.from(more)], false).idleMs === 0 || reading([bytes], false).idleMs === 0,
        ).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })
})

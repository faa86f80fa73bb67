/** What a receiver of webhooks may do to one request, from good to evil. */
import type { HostileExchange } from './hostile-receiver.ts'

/** Answers a request that has come in whole, or does not. */
export type Behaviour = (exchange: HostileExchange) => void

/** Acknowledges with 200 and lets the connection live. */
export const ok: Behaviour = (exchange) => {
  exchange.acknowledge()
  exchange.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{"ok":true}')
  exchange.end()
}

/** Answers with a status, header fields and a short body. */
export function status(code: number, fields: Record<string, string> = {}): Behaviour {
  const head = Object.entries({ 'content-length': '4', ...fields }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return (exchange) => {
    exchange.write(`HTTP/1.1 ${code} Odd\r\n${head.join('')}\r\nodd!`)
    exchange.end()
  }
}

export function redirect(location: string): Behaviour {
  return status(302, { location })
}

/** 429. `retryAfter`: seconds as a number, or a moment as an HTTP-date. */
export function tooMany(retryAfter: number | Date): Behaviour {
  const value = typeof retryAfter === 'number' ? String(retryAfter) : retryAfter.toUTCString()
  return status(429, { 'retry-after': value })
}

/** Takes the request and never answers. */
export const hang: Behaviour = () => {}

/** Ends the connection without a word. */
export const closeUnanswered: Behaviour = (exchange) => exchange.close()

/** RST in place of an answer. */
export const resetUnanswered: Behaviour = (exchange) => exchange.reset()

/** RST after the head of an answer, before its body. */
export function resetAfterHead(code = 200): Behaviour {
  return (exchange) => {
    if (code < 300) exchange.acknowledge()
    exchange.write(`HTTP/1.1 ${code} Odd\r\ncontent-length: 100\r\n\r\n`, () => exchange.reset())
  }
}

/** A header field every `everyMs`, so that the head never ends. */
export function dripHead(everyMs = 1_000): Behaviour {
  return (exchange) => {
    exchange.write('HTTP/1.1 200 OK\r\n')
    exchange.every(everyMs, () => exchange.write('x: y\r\n'))
  }
}

/** A whole head, then an octet of a long body every `everyMs`. */
export function dripBody(code = 200, everyMs = 1_000): Behaviour {
  return (exchange) => {
    if (code < 300) exchange.acknowledge()
    exchange.write(`HTTP/1.1 ${code} Odd\r\ncontent-length: 1000000\r\n\r\n`)
    exchange.every(everyMs, () => exchange.write('a'))
  }
}

const GIB = 2 ** 30
const PIECE = Buffer.alloc(64 * 1_024, 'a')

/** As fast as it is taken: 1 GiB with its length in front, or in chunks. */
export function huge(framing: 'content-length' | 'chunked', code = 200): Behaviour {
  const isChunked = framing === 'chunked'
  const field = isChunked ? 'transfer-encoding: chunked' : `content-length: ${GIB}`
  const piece = isChunked
    ? Buffer.concat([Buffer.from(`${PIECE.length.toString(16)}\r\n`), PIECE, Buffer.from('\r\n')])
    : PIECE
  return (exchange) => {
    if (code < 300) exchange.acknowledge()
    exchange.write(`HTTP/1.1 ${code} Odd\r\n${field}\r\n\r\n`)
    let leftBytes = GIB
    const more = () => {
      if (leftBytes > 0) {
        leftBytes -= PIECE.length
        exchange.write(piece, more)
      } else {
        if (isChunked) exchange.write('0\r\n\r\n')
        exchange.end()
      }
    }
    more()
  }
}

/** No HTTP at all. */
export const garbage: Behaviour = (exchange) => {
  exchange.write(Buffer.from('\0\x01\x02garbage\xff\xfe\r\n\r\n', 'latin1'))
  exchange.close()
}

/** One after the other, and again from the start: `inTurn(hang, status(500), ok)`. Counts all requests it is given. */
export function inTurn(...behaviours: readonly [Behaviour, ...Behaviour[]]): Behaviour {
  let count = 0
  return (exchange) => {
    const behaviour = behaviours[count % behaviours.length] as Behaviour
    count += 1
    behaviour(exchange)
  }
}

/** Of every `of` requests the first `failing` fail. */
export function flap(failing: number, of: number, failure: Behaviour = status(500)): Behaviour {
  return inTurn(
    ...(Array.from({ length: of }, (_, index) => (index < failing ? failure : ok)) as [Behaviour]),
  )
}

/** Down for `downMs`, up for `upMs`, and so on, from the first request. */
export function flapByTime(downMs: number, upMs: number, failure: Behaviour = status(500)): Behaviour {
  let firstMs: number | null = null
  return (exchange) => {
    const nowMs = performance.now()
    firstMs ??= nowMs
    const isDown = (nowMs - firstMs) % (downMs + upMs) < downMs
    if (isDown) failure(exchange)
    else ok(exchange)
  }
}

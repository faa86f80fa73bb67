/** What a receiver of webhooks may do to one request, from good to evil. */
import { acknowledge, answerStatus, type WebhookAnswer } from './webhook-receiver.ts'

export function redirect(location: string): WebhookAnswer {
  return answerStatus(302, { location })
}

/** 429. `retryAfter`: seconds as a number, or a moment as an HTTP-date. */
export function tooMany(retryAfter: number | Date): WebhookAnswer {
  const value = typeof retryAfter === 'number' ? String(retryAfter) : retryAfter.toUTCString()
  return answerStatus(429, { 'retry-after': value })
}

/** Takes the request and never answers. */
export const hang: WebhookAnswer = () => {}

/** Ends the connection without a word. */
export const closeUnanswered: WebhookAnswer = (exchange) => exchange.close()

/** RST in place of an answer. */
export const resetUnanswered: WebhookAnswer = (exchange) => exchange.reset()

/** RST after the head of an answer, before its body. */
export function resetAfterHead(code = 200): WebhookAnswer {
  return (exchange) => {
    if (code < 300) exchange.acknowledge()
    exchange.write(`HTTP/1.1 ${code} Odd\r\ncontent-length: 100\r\n\r\n`, () => exchange.reset())
  }
}

/** A header field every `everyMs`, so that the head never ends. */
export function dripHead(everyMs = 1_000): WebhookAnswer {
  return (exchange) => {
    exchange.write('HTTP/1.1 200 OK\r\n')
    exchange.every(everyMs, () => exchange.write('x: y\r\n'))
  }
}

/** A whole head, then an octet of a long body every `everyMs`. */
export function dripBody(code = 200, everyMs = 1_000): WebhookAnswer {
  return (exchange) => {
    if (code < 300) exchange.acknowledge()
    exchange.write(`HTTP/1.1 ${code} Odd\r\ncontent-length: 1000000\r\n\r\n`)
    exchange.every(everyMs, () => exchange.write('a'))
  }
}

const GIB = 2 ** 30
const PIECE = Buffer.alloc(64 * 1_024, 'a')

/** As fast as it is taken: 1 GiB with its length in front, or in chunks. */
export function huge(framing: 'content-length' | 'chunked', code = 200): WebhookAnswer {
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
export const garbage: WebhookAnswer = (exchange) => {
  exchange.write(Buffer.from('\0\x01\x02garbage\xff\xfe\r\n\r\n', 'latin1'))
  exchange.close()
}

/** One after the other, and again from the start: `inTurn(hang, answerStatus(500), ok)`. Counts all requests it is given. */
export function inTurn(...behaviours: readonly [WebhookAnswer, ...WebhookAnswer[]]): WebhookAnswer {
  let count = 0
  return (exchange) => {
    const behaviour = behaviours[count % behaviours.length] as WebhookAnswer
    count += 1
    behaviour(exchange)
  }
}

/** Of every `of` requests the first `failing` fail. */
export function flap(failing: number, of: number, failure: WebhookAnswer = answerStatus(500)): WebhookAnswer {
  return inTurn(
    ...(Array.from({ length: of }, (_, index) => (index < failing ? failure : acknowledge)) as [
      WebhookAnswer,
    ]),
  )
}

/** Down for `downMs`, up for `upMs`, and so on, from the first request. */
export function flapByTime(
  downMs: number,
  upMs: number,
  failure: WebhookAnswer = answerStatus(500),
): WebhookAnswer {
  let firstMs: number | null = null
  return (exchange) => {
    const nowMs = performance.now()
    firstMs ??= nowMs
    const isDown = (nowMs - firstMs) % (downMs + upMs) < downMs
    if (isDown) failure(exchange)
    else acknowledge(exchange)
  }
}

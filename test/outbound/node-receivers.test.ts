import { expect, test } from 'vitest'
import { outboundNetwork, post } from '../support/outbound-network.ts'
import { start } from '../support/process.ts'

/** Receivers made with Node's own servers, in a process of their own: its turns are not those of the client. */

const { certificate, closing, sockets, urlAt } = await outboundNetwork()

/** Answers with the number of the connection that a request came over; `answer` is the body of a listener. */
async function nodeReceiver(answer: string, options: object = {}): Promise<number> {
  const script = `
    import { createServer } from 'node:https'
    const numbers = new Map()
    const server = createServer(${JSON.stringify({ cert: certificate.certPem, key: certificate.keyPem, ...options })})
    server.on('secureConnection', (socket) => numbers.set(socket, numbers.size + 1))
    server.on('request', (request, response) => {
      const number = String(numbers.get(request.socket))
      request.resume().on('end', () => { ${answer} })
    })
    server.listen(0, '127.0.0.1', () => console.log(String(server.address().port)))`
  const child = start(process.execPath, ['--input-type=module', '--eval', script])
  closing({ close: () => child[Symbol.asyncDispose]() })
  return Number(await child.until(() => /^(\d+)\n/.exec(child.stdout)?.[1]))
}

const POSTS = 40
const ONE = Array.from({ length: POSTS }, () => '1')
const EACH = Array.from({ length: POSTS }, (_, index) => String(index + 1))

test.each([
  ['a length', 'response.setHeader("content-length", number.length); response.end(number)', ONE],
  ['chunks', 'response.write(number); response.end()', ONE],
  ['chunks, the last some turns later', 'response.write(number); setTimeout(() => response.end(), 5)', ONE],
  [
    '100, 102 and 103 first',
    'response.writeContinue(); response.writeProcessing(); response.writeEarlyHints({ link: "</a>" }); response.end(number)',
    ONE,
  ],
  ['connection: close', 'response.setHeader("connection", "close"); response.end(number)', EACH],
  [
    'connection: close without a length',
    'response.useChunkedEncodingByDefault = false; response.setHeader("connection", "close"); response.removeHeader("transfer-encoding"); response.end(number)',
    EACH,
  ],
])('an answer with %s', async (_name, answer, connections) => {
  const port = await nodeReceiver(answer)
  const through = sockets()
  const heads: string[] = []
  for (let index = 0; index < POSTS; index += 1) {
    const outcome = await post(through, urlAt(port))
    expect(outcome).toMatchObject({ ok: true, status: 200, error: null })
    heads.push(outcome.responseHead)
  }
  expect(heads).toEqual(connections)
})

test('a server that keeps its connections for a second only is given none twice', async () => {
  const port = await nodeReceiver('response.end(number)', { keepAliveTimeout: 1_000 })
  const through = sockets()
  expect((await post(through, urlAt(port))).responseHead).toBe('1')
  expect((await post(through, urlAt(port))).responseHead).toBe('2')
})

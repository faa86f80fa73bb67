import { expect, test } from 'vitest'
import { databaseOfFile } from '../support/database.ts'
import { startServe } from '../support/process.ts'
import { openSocket } from '../support/raw-http.ts'

const database = await databaseOfFile({ state: 'started' })
const CLIENTS = 200
const REQUEST = 'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n'

/** A client that sends over one kept connection, each request as soon as it has the answer before. */
class KeptClient {
  answered = 0
  /** What of an answer has come when the connection ends. */
  #text = ''
  #last = false
  readonly ended: Promise<'after its last answer' | 'without an answer'>

  constructor(socket: Awaited<ReturnType<typeof openSocket>>) {
    const { promise, resolve } = Promise.withResolvers<'after its last answer' | 'without an answer'>()
    this.ended = promise
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1')
      if (!this.#text.endsWith('{"ok":true}')) return
      this.answered += 1
      this.#last = /^connection: close\r$/im.test(this.#text)
      this.#text = ''
      if (!this.#last) socket.write(REQUEST)
    })
    socket.once('close', () => resolve(this.#last ? 'after its last answer' : 'without an answer'))
    socket.write(REQUEST)
  }
}

test.each([1, 2])('SIGTERM under load leaves no request unanswered: restart %i', async () => {
  await using service = await startServe({ DATABASE_URL: database.connectionString, LOG_LEVEL: 'info' })
  const port = Number(new URL(service.baseUrl).port)
  const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => openSocket(port)))
  const clients = sockets.map((socket) => new KeptClient(socket))
  await service.running.until(() => clients.every(({ answered }) => answered > 1))
  service.running.kill('SIGTERM')
  const ends = await Promise.all(clients.map(({ ended }) => ended))
  expect(ends.filter((end) => end !== 'after its last answer')).toEqual([])
  expect(await service.running.exited).toMatchObject({ code: 0, signal: null })
})

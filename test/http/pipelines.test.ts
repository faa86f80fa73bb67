import { once } from 'node:events'
import { expect, it, vi } from 'vitest'
import { startHttpService, TOKEN, validMessage } from '../support/http-service.ts'
import { openSocket, requestBytes } from '../support/raw-http.ts'

it('no more is read from a connection whose sends wait, and all are answered in the end', async () => {
  await using service = await startHttpService({ limits: { pipelinedRequests: 64 } })
  let begun = 0
  service.app.server.on('request', () => {
    begun += 1
  })
  const lock = await service.db.connect()
  await lock.query('begin')
  await lock.query('lock table messages in exclusive mode')
  const socket = await openSocket(service.port)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const total = 3_000
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${TOKEN}`,
    connection: 'keep-alive',
  }
  const send = requestBytes({
    method: 'POST',
    path: '/v1/sendsms',
    headers,
    body: JSON.stringify(validMessage()),
  })
  socket.write(Buffer.concat(Array.from({ length: total }, () => send)))
  await vi.waitFor(() => expect(begun).toBeGreaterThan(64), { timeout: 5_000 })
  // Others are served meanwhile; had the connection been read on, it would have been before them.
  for (let n = 0; n < 50; n += 1) expect((await service.get('/livez')).status).toBe(200)
  const begunMeanwhile = begun - 50
  await lock.query('rollback')
  lock.release()
  expect(begunMeanwhile).toBeLessThan(64 + Math.ceil((2 * 65_536) / send.length))
  const answered = () => Buffer.concat(chunks).toString('latin1').split('HTTP/1.1 202 ').length - 1
  await vi.waitFor(() => expect(answered()).toBe(total), { timeout: 20_000, interval: 100 })
  socket.destroy()
  expect(await service.storedMessages()).toBe(total)
}, 30_000)

it('a closing server stores no send that it does not answer', async () => {
  const service = await startHttpService()
  const lock = await service.db.connect()
  await lock.query('begin')
  await lock.query('lock table messages in exclusive mode')
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${TOKEN}`,
    connection: 'keep-alive',
  }
  const body = JSON.stringify(validMessage())
  const send = requestBytes({ method: 'POST', path: '/v1/sendsms', headers, body })
  const socket = await openSocket(service.port)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const gone = once(socket, 'close')
  let begun = 0
  service.app.server.on('request', () => {
    begun += 1
  })
  socket.write(send)
  await vi.waitFor(() => expect(begun).toBe(1))
  const closed = service.app.close()
  await expect(openSocket(service.port)).rejects.toThrow()
  socket.write(Buffer.concat(Array.from({ length: 5 }, () => send)))
  await vi.waitFor(() => expect(begun).toBe(6))
  await lock.query('rollback')
  lock.release()
  await gone
  await closed
  const answered = Buffer.concat(chunks).toString('latin1').split('HTTP/1.1 202 ').length - 1
  expect(answered).toBe(2)
  expect(await service.storedMessages()).toBe(answered)
  await service[Symbol.asyncDispose]()
}, 30_000)

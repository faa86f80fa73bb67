import { expect, test } from 'vitest'
import { databaseOfFile } from '../support/database.ts'
import { KeptClient } from '../support/kept-connections.ts'
import { startServe } from '../support/process.ts'
import { openSocket } from '../support/raw-http.ts'

const database = await databaseOfFile({ state: 'started' })
const CLIENTS = 200

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

import type { Server } from 'node:http'
import { expect, it } from 'vitest'
import { HTTP_LIMITS } from '../../src/http/limits.ts'
import { startHttpService } from '../support/http-service.ts'

it('are what the design says', () => {
  expect(HTTP_LIMITS).toMatchObject({
    bodyBytes: 65_536,
    recordBytes: 16_384,
    jsonDepth: 8,
    headerBytes: 16_384,
    headersTimeoutMs: 10_000,
    requestTimeoutMs: 15_000,
    timeoutCheckMs: 1_000,
    keepAliveTimeoutMs: 60_000,
    keepAliveHintMs: 3_000,
    quietMs: 3_000,
  })
})

it('are set on the server, and Node would swap time-outs in the wrong order', async () => {
  await using service = await startHttpService()
  const server = service.app.server as Server
  expect(server.headersTimeout).toBe(HTTP_LIMITS.headersTimeoutMs)
  expect(server.requestTimeout).toBe(HTTP_LIMITS.requestTimeoutMs)
  expect(server.headersTimeout).toBeLessThan(server.requestTimeout)
  expect(server.keepAliveTimeout).toBe(HTTP_LIMITS.keepAliveTimeoutMs)
  expect(server.timeout).toBe(HTTP_LIMITS.stalledTimeoutMs)
  expect(server.maxConnections).toBe(HTTP_LIMITS.connections)
})

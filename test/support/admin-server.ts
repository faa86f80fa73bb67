/**
 * The real HTTP server on a database of its own, with the admin API and a client for it.
 */
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterAll } from 'vitest'
import { STRICT_CALLBACK_POLICY } from '../../src/domain/callback-url.ts'
import { messageId } from '../../src/domain/message-ids.ts'
import { deriveKey } from '../../src/domain/secrets.ts'
import { hashToken } from '../../src/domain/tokens.ts'
import { freshDirectory } from '../../src/http/fresh-directory.ts'
import { HTTP_LIMITS } from '../../src/http/limits.ts'
import { registerAdminRoutes } from '../../src/http/routes/admin/api.ts'
import type { AdminDeps } from '../../src/http/routes/admin/scope.ts'
import { buildServer } from '../../src/http/server.ts'
import { GroupAccepter } from '../../src/operations/accept-messages.ts'
import { CallbackGuard } from '../../src/outbound/callback-guard.ts'
import { NameResolver } from '../../src/outbound/resolver.ts'
import { DirectoryService, type DirectoryServiceOptions } from '../../src/services/directory.ts'
import type { Database } from '../../src/store/database.ts'
import { type FreshDatabase, freshDatabase } from './database.ts'
import { testEventsOf } from './test-events.ts'

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
  readonly body: any
  readonly headers: Headers
}

export interface AdminServer extends AsyncDisposable {
  readonly baseUrl: string
  readonly operatorToken: string
  readonly secretKey: Buffer
  readonly database: FreshDatabase
  readonly directory: DirectoryService
  /** Sends a request below `/admin/v1`, as the operator unless another token (or null for none) is given. */
  request(method: string, path: string, body?: unknown, token?: string | null): Promise<Answer>
}

/** Names resolve to nothing here and need not: this guard is of `aldis dev`, loopback and unknown names pass. */
const POLICY = { ...STRICT_CALLBACK_POLICY, allowLoopback: true, allowUnresolvable: true }

export async function startAdminServer(
  options: Pick<AdminDeps, 'backlog' | 'linkStatus' | 'carrierAnomalies' | 'carrierCondition'> & {
    database?: FreshDatabase
    /** A pool of its own for what is written. */
    db?: Database
    directory?: Partial<DirectoryServiceOptions>
  } = {},
): Promise<AdminServer> {
  const { database = await freshDatabase(), directory: directoryOptions, ...extra } = options
  const secretKey = deriveKey(randomBytes(32), 'secrets')
  const operatorToken = `operator-${randomBytes(24).toString('hex')}`
  const directory = directoryService(database, secretKey, directoryOptions)
  await directory.start()
  const guard = new CallbackGuard(POLICY, new NameResolver())
  const { testEvents, close } = testEventsOf({ guard, secretKey })
  const app = await buildServer({
    ...databaseDeps(database, directory, secretKey),
    guard,
    testEvents,
    adminRoutes: (scope) =>
      registerAdminRoutes(scope, {
        db: database.db,
        reads: database.db,
        directory,
        secretKey,
        operatorTokenHashes: [hashToken(randomBytes(24).toString('hex')), hashToken(operatorToken)],
        guard,
        testEvents,
        ...extra,
      }),
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    baseUrl,
    operatorToken,
    secretKey,
    database,
    directory,
    request: (method, path, body, token = operatorToken) =>
      request(`${baseUrl}/admin/v1${path}`, method, body, token),
    async [Symbol.asyncDispose]() {
      await app.close()
      await close()
      await directory.stop()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** One for all tests of a file, made outside of any. */
export async function adminServerOfFile(
  options: Parameters<typeof startAdminServer>[0] = {},
): Promise<AdminServer> {
  const server = await startAdminServer(options)
  afterAll(() => server[Symbol.asyncDispose]())
  return server
}

/** A directory of another node, as it were, on the same database. */
export function directoryService(
  database: FreshDatabase,
  secretKey: Uint8Array,
  options: Partial<DirectoryServiceOptions> = {},
): DirectoryService {
  return new DirectoryService({
    db: database.db,
    secretKey,
    clock: () => performance.now(),
    onError: () => undefined,
    ...options,
  })
}

function databaseDeps({ db }: FreshDatabase, directory: DirectoryService, secretKey: Buffer) {
  const placement = {
    place: () => ({ msgId: messageId(Date.now(), randomBytes(9), 0), holder: null, routeId: null }),
    keep: () => undefined,
    release: () => undefined,
    refuse: () => undefined,
    refused: () => undefined,
  }
  return {
    db,
    writes: db,
    directory: freshDirectory(directory),
    accepter: new GroupAccepter({ db, placement, secretKey, random: randomBytes }),
    limits: { ...HTTP_LIMITS, quietMs: 0 },
    baseUrl: null,
    retentionDays: 30,
    clock: Date.now,
    random: randomBytes,
    keys: { cursor: randomBytes(32) },
    ready: async () => ({ ok: true, checks: {} }),
    log: pino({ level: 'silent' }),
    registry: new Registry(),
  }
}

async function request(url: string, method: string, body: unknown, token: string | null): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    body: text === '' ? undefined : JSON.parse(text),
    headers: response.headers,
  }
}

/** An account, made through the API. */
export async function createAccount(server: AdminServer, name = 'Example Ltd'): Promise<string> {
  const { body } = await server.request('POST', '/accounts', { name })
  return body.accountId
}

/** An account and a plan of it. */
export async function createPlan(
  server: AdminServer,
  settings: Record<string, unknown> = {},
): Promise<{ accountId: string; servicePlanId: string }> {
  const accountId = await createAccount(server)
  const { body } = await server.request('POST', '/service-plans', { accountId, name: 'alerts', ...settings })
  return { accountId, servicePlanId: body.servicePlanId }
}

export const CARRIER = { name: 'acme', host: 'smpp.example.net', systemId: 'aldis', password: 'hush-hsh' }

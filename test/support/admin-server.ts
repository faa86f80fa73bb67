/**
 * The real HTTP server on a database of its own, with the admin API and a client for it.
 */

import { randomBytes } from 'node:crypto'
import pino from 'pino'
import { afterAll } from 'vitest'
import { hashToken } from '../../src/domain/credentials.ts'
import { deriveKey, type SecretKeys } from '../../src/domain/secrets.ts'
import { type BuiltFilesSource, builtFiles } from '../../src/http/browser-pages.ts'
import { freshDirectory } from '../../src/http/outages.ts'
import { registerAdminRoutes } from '../../src/http/routes/admin/api.ts'
import type { AdminDeps } from '../../src/http/routes/admin/operations.ts'
import { CallbackGuard } from '../../src/outbound/callback-guard.ts'
import { NameResolver } from '../../src/outbound/resolver.ts'
import { DirectoryService, type DirectoryServiceOptions } from '../../src/services/node/directory.ts'
import type { Database } from '../../src/store/database.ts'
import { STRICT_CALLBACK_POLICY } from './callback-policy.ts'
import { consoleSessions } from './console.ts'
import { type FreshDatabase, freshDatabase } from './database.ts'
import { httpRequest } from './http-client.ts'
import { startHttpServer } from './http-server.ts'
import { quietLog } from './log.ts'
import { readsOf } from './message-reads.ts'

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
  readonly body: any
  readonly headers: Headers
}

export interface AdminServer extends AsyncDisposable {
  readonly baseUrl: string
  readonly operatorToken: string
  readonly secretKey: SecretKeys
  readonly database: FreshDatabase
  readonly directory: DirectoryService
  /** Everything logged about requests, one entry per line. */
  readonly logs: string[]
  /** Sends a request below `/admin/v1`, as the operator unless another token (or null for none) is given. */
  request(method: string, path: string, body?: unknown, token?: string | null): Promise<Answer>
}

/** Names resolve to nothing here and need not: this guard is of `aldis dev`, loopback and unknown names pass. */
const POLICY = { ...STRICT_CALLBACK_POLICY, allowLoopback: true, allowUnresolvable: true }

export async function startAdminServer(
  options: Partial<
    Pick<
      AdminDeps,
      | 'messages'
      | 'backlog'
      | 'readAlarms'
      | 'testAlarms'
      | 'linkSummary'
      | 'carrierAnomalies'
      | 'carrierCondition'
      | 'heldCause'
      | 'ownReport'
    >
  > & {
    /** Of others, too, as those of `beside` are. Absent: one of its own. */
    database?: FreshDatabase
    /** Of its own database. Default: migrated. */
    state?: 'migrated' | 'started'
    /** Serves the same database with the same keys. */
    beside?: Pick<AdminServer, 'database' | 'secretKey'>
    /** A pool of its own for what is written. */
    db?: Database
    directory?: Partial<DirectoryServiceOptions>
    secretKey?: SecretKeys
    resolver?: NameResolver
    clock?: () => number
    serves?: 'customers' | 'operators'
    /** The pages for browsers; null: none, and no sessions. Default: those of the build. */
    pages?: { console: BuiltFilesSource; docs: BuiltFilesSource } | null
  } = {},
): Promise<AdminServer> {
  const {
    beside,
    database: shared = beside?.database,
    state = 'migrated',
    directory: directoryOptions,
    secretKey = beside?.secretKey ?? deriveKey(randomBytes(32), 'secrets'),
    resolver = new NameResolver(),
    clock = Date.now,
    serves,
    pages = { console: builtFiles('console'), docs: builtFiles('docs') },
    ...extra
  } = options
  const database = shared ?? (await freshDatabase({ state }))
  const operatorToken = `operator-${randomBytes(24).toString('hex')}`
  const directory = directoryService(database, secretKey, directoryOptions)
  await directory.start()
  const { db } = database
  const guard = new CallbackGuard(POLICY, resolver)
  const sessions = pages === null ? undefined : consoleSessions(clock)
  const operatorTokenHashes = [hashToken(randomBytes(24).toString('hex')), hashToken(operatorToken)]
  const logs: string[] = []
  const server = await startHttpServer({
    db,
    log: pino({}, { write: (line: string) => logs.push(line) }),
    directory: freshDirectory(directory),
    realGuard: guard,
    clock,
    secretKey,
    sessions,
    ...(pages !== null && { pages: { operatorTokenHashes, ...pages } }),
    ...(serves && { serves }),
    adminRoutes: (scope, testEvents) =>
      registerAdminRoutes(scope, {
        db,
        reads: db,
        records: db,
        directory,
        secretKey,
        headerSettings: { secretKey, tracedShare: 0 },
        operatorTokenHashes,
        sessions,
        clock,
        guard,
        testEvents,
        messages: readsOf(db),
        ...extra,
      }),
  })
  const baseUrl = `http://127.0.0.1:${server.port}`
  return {
    baseUrl,
    operatorToken,
    secretKey,
    database,
    directory,
    logs,
    request: (method, path, body, token = operatorToken) =>
      request(`${baseUrl}/admin/v1${path}`, method, body, token),
    async [Symbol.asyncDispose]() {
      await server.close()
      await directory.stop()
      if (shared === undefined) await database[Symbol.asyncDispose]()
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
  secretKey: SecretKeys,
  options: Partial<DirectoryServiceOptions> = {},
): DirectoryService {
  return new DirectoryService({
    db: database.db,
    secretKey,
    clock: () => performance.now(),
    log: quietLog,
    ...options,
  })
}

async function request(url: string, method: string, body: unknown, token: string | null): Promise<Answer> {
  const { status, headers, text } = await httpRequest(url, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status, body: text === '' ? undefined : JSON.parse(text), headers }
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

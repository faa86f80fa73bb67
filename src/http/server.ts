import type { Server } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Registry } from 'prom-client'
import { SESSION_KINDS } from '../domain/credentials.ts'
import { RateLimiter } from '../domain/limits/rate-limits.ts'
import { AppError } from '../errors.ts'
import { inSlices } from '../slices.ts'
import { authenticateCustomer } from './authentication.ts'
import { answerError } from './error-responses.ts'
import { isPlainJson, parseJson, parseJsonInSteps } from './json-bodies.ts'
import type { HttpLimits } from './limits.ts'
import { type HttpMetrics, httpMetrics, metricsText, registerMetrics } from './metrics.ts'
import { documentRoutes } from './openapi.ts'
import { DatabaseOutages } from './outages.ts'
import { limitAccounts } from './rate-limiting.ts'
import { recordRequests, recordUnanswered } from './request-records.ts'
import { registerCgiSendsms } from './routes/cgi-sendsms.ts'
import { type ConsoleDeps, registerConsole } from './routes/console.ts'
import { type ConsoleSessionDeps, registerConsoleSessions } from './routes/console-sessions.ts'
import { type DocsDeps, registerDocs } from './routes/docs.ts'
import { type FeedDeps, registerEventFeed } from './routes/event-feed.ts'
import { type Readiness, refuseUntilOpen, registerHealth } from './routes/health.ts'
import { registerInboundMessages } from './routes/inbound-messages.ts'
import { type LookupDeps, registerMessages, registerMessageWaits, type WaitDeps } from './routes/messages.ts'
import { registerLimits } from './routes/plan-limits.ts'
import { registerPreflight } from './routes/preflight.ts'
import { registerHandset, registerSandbox, type SandboxDeps } from './routes/sandbox.ts'
import { registerSenders } from './routes/senders.ts'
import { registerSend, SEND_PATH, type SendDeps } from './routes/sendsms.ts'
import { registerStatistics } from './routes/statistics.ts'
import {
  registerRedeliveries,
  registerWebhookTest,
  type WebhookActionDeps,
} from './routes/webhook-actions.ts'
import { registerDestinationActions, registerWebhookDestinations } from './routes/webhook-destinations.ts'
import { registerWebhookEvents } from './routes/webhook-events.ts'
import { buildSerializers, serializeByClass } from './serializers.ts'
import { inTurns, SharedTurns } from './shared-turns.ts'
import { ShortSends } from './short-sends.ts'
import { validateRequests } from './validate.ts'
import { answerUnroutable, checkArrivals } from './wire/arrivals.ts'
import { Connections, type ShortWay } from './wire/connections.ts'
import { rawResponses } from './wire/raw-responses.ts'

export interface ServerDeps extends SendDeps, LookupDeps, WaitDeps, FeedDeps, WebhookActionDeps, SandboxDeps {
  /** Pages for browsers, with `sessions` for those who use them. Absent: there are none. */
  readonly pages?: Pick<ConsoleSessionDeps, 'operatorTokenHashes'> & {
    readonly console: ConsoleDeps['files']
    readonly docs: DocsDeps['files']
  }
  readonly limits: HttpLimits
  /** Serve `/cgi-bin/sendsms`. Default: false. */
  readonly cgiSendsms?: boolean
  /** False while the node starts: only health checks are answered then. Default: always open. */
  readonly isOpen?: () => boolean
  readonly ready: () => Promise<Readiness>
  readonly log: FastifyBaseLogger
  readonly registry: Registry
  /** Produces the text of `/metrics`. Default: that of the registry. */
  readonly scrape?: () => Promise<string>
  /** Shared by the servers of one registry. Default: made here. */
  readonly metrics?: HttpMetrics
  /** Whom this server serves. Default: customers and operators. Every server answers health checks. */
  readonly serves?: 'customers' | 'operators' | 'nobody'
  /** Registers `/admin/v1`, which authenticates its operators itself. */
  readonly adminRoutes?: (app: FastifyInstance) => void
}

/** Builds the HTTP server with every route. It is not listening yet. */
export async function buildServer(deps: ServerDeps): Promise<FastifyInstance> {
  const { limits } = deps
  const metrics = deps.metrics ?? httpMetrics(deps.registry)
  const nextRequestId = requestIds(deps.random)
  const raw = rawResponses(nextRequestId, (status) => metrics.observe('ANY', 'unparsed', status, 0))
  const app = fastify({
    loggerInstance: deps.log,
    // We write one line for each request ourselves, which needs no logger of its own for each.
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger,
    genReqId: nextRequestId,
    requestIdHeader: false,
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionTimeout: limits.stalledTimeoutMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      maxHeaderSize: limits.headerBytes,
      // Checked with the other headers, because Node's own answer has no body.
      requireHostHeader: false,
    },
    // A request that a draining server has already received is still answered.
    return503OnClosing: false,
    routerOptions: { maxParamLength: limits.headerBytes },
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildSerializer: buildSerializers } },
    // Of each route, too, there would be two timers. Nothing of a server waits while it is built.
    pluginTimeout: 0,
    clientErrorHandler: (error, socket) => raw.onClientError(error, socket),
    frameworkErrors: (_error, request, reply) => answerUnroutable(reply, request, answerError),
  }) as unknown as FastifyInstance
  raw.attach(app.server as Server)
  app.server.maxConnections = limits.connections
  const shortWay = isFor(deps, 'customers') ? shortWayOf(deps, metrics, nextRequestId) : null
  drainBeforeClose(app, limits, new Connections(app.server as Server, limits, shortWay))
  app.decorateRequest('token', null)
  app.decorateRequest('operator', null)
  app.decorate('databaseOutages', new DatabaseOutages())
  app.setErrorHandler(answerError)
  acceptJsonOnly(app, limits)
  answerHeads(app)
  validateRequests(app)
  checkArrivals(app, raw)
  refuseUntilOpen(app, deps.isOpen)
  recordRequests(app, metrics)
  documentRoutes(app, deps.baseUrl)
  serializeByClass(app)
  await registerRoutes(app, deps, metrics)
  return app
}

function shortWayOf(deps: ServerDeps, metrics: HttpMetrics, newRequestId: () => string): ShortWay {
  const sends = new ShortSends({ ...deps, isOpen: deps.isOpen ?? (() => true), metrics, newRequestId })
  return { target: `POST ${SEND_PATH}`, answer: (request) => sends.answer(request) }
}

function isFor({ serves }: Pick<ServerDeps, 'serves'>, whom: 'customers' | 'operators'): boolean {
  return serves === undefined || serves === whom
}

async function registerRoutes(app: FastifyInstance, deps: ServerDeps, metrics: HttpMetrics): Promise<void> {
  registerHealth(app, deps)
  if (isFor(deps, 'operators')) registerMetrics(app, deps.scrape ?? (() => metricsText(deps.registry)))
  if (isFor(deps, 'customers')) await registerCustomerRoutes(app, deps, metrics)
  if (isFor(deps, 'operators')) deps.adminRoutes?.(app)
  registerPages(app, deps)
}

function registerPages(app: FastifyInstance, deps: ServerDeps): void {
  const { pages, sessions } = deps
  const kinds = SESSION_KINDS.filter((kind) => isFor(deps, `${kind}s`))
  if (pages === undefined || sessions === undefined || kinds.length === 0) return
  const { operatorTokenHashes, console: files, docs } = pages
  registerConsoleSessions(app, { ...deps, operatorTokenHashes, sessions, kinds })
  registerConsole(app, { ...deps, files })
  registerDocs(app, { files: docs, kinds })
}

async function registerCustomerRoutes(
  app: FastifyInstance,
  deps: ServerDeps,
  metrics: HttpMetrics,
): Promise<void> {
  const onUnanswered = ({ id: requestId, token }: FastifyRequest, elapsedMs: number) =>
    recordUnanswered(app.log, metrics, { requestId, accountId: token?.account.accountId, elapsedMs })
  registerSend(app, deps, onUnanswered)
  if (deps.cgiSendsms === true) registerCgiSendsms(app, deps, onUnanswered)
  registerPreflight(app, deps)
  const authenticate = authenticateCustomer(deps)
  const { limits } = deps
  const { reads: limit } = limits
  const limiting = { name: 'reads', limiter: new RateLimiter(), limitOf: () => limit, clock: deps.clock }
  const limitReads = limitAccounts(limiting)
  await app.register(async (reads) => {
    reads.addHook('onRequest', authenticate)
    reads.addHook('onRequest', limitReads)
    reads.addHook('onRoute', inTurns(new SharedTurns(limits.readsAtOnce)))
    registerMessages(reads, deps)
    registerMessageWaits(reads, deps)
    registerSenders(reads, deps)
    registerLimits(reads, deps)
    registerInboundMessages(reads, deps)
    registerEventFeed(reads, deps)
    registerWebhookEvents(reads, deps)
    registerWebhookDestinations(reads, deps)
    registerStatistics(reads, deps)
    registerSandbox(reads, deps)
  })
  await app.register(async (actions) => {
    actions.addHook('onRequest', authenticate)
    actions.addHook('onRequest', limitReads)
    registerWebhookTest(actions, deps)
    registerHandset(actions, deps)
    actions.addHook('onRoute', inTurns(new SharedTurns(limits.actionsAtOnce)))
    registerRedeliveries(actions, deps)
    registerDestinationActions(actions, deps)
  })
}

/** HEAD is answered wherever GET is, by the same route: Fastify itself would add another, with hooks of its own. */
function answerHeads(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.method === 'GET' && route.exposeHeadRoute !== false) route.method = ['GET', 'HEAD']
  })
}

/** A closing server no longer checks its time-outs: without this, one slow request would hold it open for ever. */
function drainBeforeClose(app: FastifyInstance, limits: HttpLimits, connections: Connections): void {
  app.addHook('preClose', async () => {
    const timer = setTimeout(() => app.server.closeAllConnections(), limits.drainTimeoutMs).unref()
    app.server.once('close', () => clearTimeout(timer))
    await connections.drain()
  })
}

/** Any other content type is 415, including Fastify's default text/plain; so is JSON in another charset, or compressed. */
function acceptJsonOnly(app: FastifyInstance, limits: HttpLimits): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (!isPlainJson(request.raw)) return done(new AppError('UNSUPPORTED_MEDIA_TYPE'))
    if (request.routeOptions.config.hasManyMembers === true) {
      parseInSlices(bytes as Buffer, limits.jsonDepth).then((body) => done(null, body), done)
      return
    }
    try {
      done(null, parseJson(bytes as Buffer, limits.jsonDepth))
    } catch (error) {
      done(error as Error)
    }
  })
}

async function parseInSlices(bytes: Buffer, maxDepth: number): Promise<unknown> {
  // This turn has taken 10 ms to join 20 MB of the body.
  await setImmediate()
  return inSlices(parseJsonInSteps(bytes, maxDepth))
}

const REQUEST_ID_BYTES = 8
/** Random bytes are drawn for many ids at once: one draw takes 2 µs. */
const REQUEST_IDS_DRAWN = 512

/** Ids that tell nothing about other requests: counted ones would tell each customer how busy the others are. */
function requestIds(random: (bytes: number) => Buffer): () => string {
  let drawn: Buffer = Buffer.alloc(0)
  return () => {
    if (drawn.length === 0) drawn = random(REQUEST_ID_BYTES * REQUEST_IDS_DRAWN)
    const id = drawn.toString('hex', 0, REQUEST_ID_BYTES)
    drawn = drawn.subarray(REQUEST_ID_BYTES)
    return id
  }
}

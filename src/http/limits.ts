import type { RateLimit } from '../domain/configuration/configuration.ts'

/** Bounds of the HTTP server. Times in milliseconds, sizes in bytes. */
export interface HttpLimits {
  readonly bodyBytes: number
  /** Most text of a stored record; more is 413. */
  readonly recordBytes: number
  readonly jsonDepth: number
  readonly headerBytes: number
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  /** How often the two above are checked. */
  readonly timeoutCheckMs: number
  /** How long an idle connection is kept. */
  readonly keepAliveTimeoutMs: number
  /**
   * What clients are told of that. Those who heed it end a connection a second or two earlier, so that they send nothing over
   * one that a closing server is about to end. Balancers must not find a connection ended earlier than they do it themselves.
   */
  readonly keepAliveHintMs: number
  /** How long a connection may stall during a request: its peer does not read the answer. */
  readonly stalledTimeoutMs: number
  /** How long a connection waits for the work on its answer. */
  readonly answerTimeoutMs: number
  /** How long a closing server waits for requests in flight. */
  readonly drainTimeoutMs: number
  /** How long a connection must have been idle before a closing server ends it: its client may be about to send. */
  readonly quietMs: number
  readonly connections: number
  /** Most outstanding requests on one connection. Those behind them wait, and no more are read meanwhile. */
  readonly pipelinedRequests: number
  /** Lookups and lists, per account. */
  readonly reads: RateLimit
  /** Preflights of sends, per account. */
  readonly preflights: RateLimit
  /** Messages from simulated handsets, per account. */
  readonly handsetMessages: RateLimit
  /** Most lookups and lists at once, for all accounts: about as many as there are connections for them. */
  readonly readsAtOnce: number
  /** Most redeliveries, pauses and resumptions at once: they write alongside the message path. */
  readonly actionsAtOnce: number
}

export const HTTP_LIMITS: HttpLimits = {
  bodyBytes: 64 * 1024,
  recordBytes: 16 * 1024,
  jsonDepth: 8,
  headerBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  timeoutCheckMs: 1_000,
  keepAliveTimeoutMs: 60_000,
  keepAliveHintMs: 3_000,
  stalledTimeoutMs: 60_000,
  answerTimeoutMs: 600_000,
  drainTimeoutMs: 10_000,
  quietMs: 3_000,
  connections: 10_000,
  pipelinedRequests: 32,
  reads: { perSecond: 200, burst: 400 },
  preflights: { perSecond: 20, burst: 40 },
  handsetMessages: { perSecond: 10, burst: 20 },
  readsAtOnce: 5,
  actionsAtOnce: 3,
}

import { performance } from 'node:perf_hooks'
import { type buildConnector, type Dispatcher, Pool } from 'undici'
import type { CallbackTarget } from '../domain/callback-url.ts'
import type { CallbackGuard, DialVerdict } from './callback-guard.ts'
import { createDialler, type Dialler } from './connector.ts'

export interface DispatcherOptions {
  /** Certificate authorities trusted beside the public ones, PEM (tests, on-premises receivers). */
  caPem?: string | undefined
  /** Sockets open at once to one host and address. */
  maxSocketsPerOrigin?: number
  /** Hosts whose sockets are kept; the least recently used is closed first. */
  maxOrigins?: number
  /** Requests to one host and address, sent or waiting for a socket. */
  maxRequestsPerOrigin?: number
  /** Time for TCP and TLS together. */
  connectTimeoutMs?: number
  /** Time for a whole attempt, DNS to the end of the answer. */
  totalTimeoutMs?: number | undefined
}

interface Origin {
  readonly pool: Pool
  requests: number
  /** Connections being made. */
  dials: number
}

/** A request on its way. */
export interface Sent {
  /** Whether connections are being made there. */
  readonly dialling: boolean
  /** To be called once, when the exchange is over. */
  release(): void
}

const MAX_RESPONSE_HEADER_BYTES = 16 * 1_024
/** Below the 5 s after which common servers close an idle connection, so that we close first. */
const IDLE_SOCKET_MS = 4_000
const MAX_IDLE_SOCKET_MS = 60_000
/** How long an address that refused is tried after its siblings. */
const FAILED_ADDRESS_MS = 60_000

/**
 * Sends requests through pools of sockets, one pool per (scheme, host, port, validated address): a socket is reused
 * only for the address and host it was validated for, and only while a fresh answer of DNS still holds that address
 * (callback-url.json S301). Nothing here follows a redirect or reads a proxy from the environment.
 */
export class WebhookDispatcher {
  readonly totalTimeoutMs: number
  readonly #guard: CallbackGuard
  readonly #dial: Dialler
  readonly #maxSockets: number
  readonly #maxOrigins: number
  readonly #maxRequests: number
  /** By use, oldest first. */
  readonly #origins = new Map<string, Origin>()
  /** Until when an address is tried last. */
  readonly #failedUntilMs = new Map<string, number>()

  constructor(guard: CallbackGuard, options: DispatcherOptions = {}) {
    this.#guard = guard
    this.totalTimeoutMs = options.totalTimeoutMs ?? 15_000
    this.#maxSockets = options.maxSocketsPerOrigin ?? 32
    this.#maxOrigins = options.maxOrigins ?? 1_000
    this.#maxRequests = options.maxRequestsPerOrigin ?? 1_000
    this.#dial = createDialler({ caPem: options.caPem, connectTimeoutMs: options.connectTimeoutMs ?? 5_000 })
  }

  /** Where the URL may be sent now; see `CallbackGuard.judgeForDial`. */
  judge(url: string): DialVerdict | Promise<DialVerdict> {
    return this.#guard.judgeForDial(url)
  }

  /** The addresses in the order to try them: those with open pools first, those that just failed last. */
  ranked(target: CallbackTarget, addresses: readonly string[]): readonly string[] {
    if (addresses.length < 2) return addresses
    const rank = (address: string) => {
      const key = keyOf(target, address)
      const failedUntilMs = this.#failedUntilMs.get(key)
      if (failedUntilMs !== undefined && performance.now() < failedUntilMs) return 2
      return this.#origins.has(key) ? 0 : 1
    }
    return addresses.toSorted((left, right) => rank(left) - rank(right))
  }

  /**
   * Sends one request to an address that was judged for this target; the handler hears of it. Null when too many
   * requests are already on their way there.
   */
  send(
    target: CallbackTarget,
    address: string,
    request: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): Sent | null {
    const origin = this.#originOf(target, address)
    if (origin.requests >= this.#maxRequests) return null
    origin.requests += 1
    origin.pool.dispatch(request, handler)
    return {
      get dialling() {
        return origin.dials > 0
      },
      release: () => {
        origin.requests -= 1
      },
    }
  }

  /** Remembers that no connection could be made to the address. */
  noteFailedAddress(target: CallbackTarget, address: string): void {
    const key = keyOf(target, address)
    this.#failedUntilMs.delete(key)
    const oldest = this.#failedUntilMs.size >= this.#maxOrigins ? this.#failedUntilMs.keys().next() : null
    if (oldest?.done === false) this.#failedUntilMs.delete(oldest.value)
    this.#failedUntilMs.set(key, performance.now() + FAILED_ADDRESS_MS)
  }

  /** Waits for the requests on their way (at most `totalTimeoutMs`) and closes every socket. */
  async close(): Promise<void> {
    const pools = this.#takePools()
    await Promise.all(pools.map((pool) => pool.close()))
  }

  /** Ends every request as ABORTED and closes every socket. */
  async destroy(): Promise<void> {
    const pools = this.#takePools()
    await Promise.all(pools.map((pool) => pool.destroy()))
  }

  #originOf(target: CallbackTarget, address: string): Origin {
    const key = keyOf(target, address)
    let origin = this.#origins.get(key)
    if (origin === undefined) {
      origin = this.#openOrigin(target, address)
      this.#evictOldest()
    } else {
      this.#origins.delete(key)
    }
    this.#origins.set(key, origin)
    return origin
  }

  #openOrigin(target: CallbackTarget, address: string): Origin {
    const dial = this.#dial(target, address)
    const connect: typeof dial = (options, callback) => {
      origin.dials += 1
      dial(options, (...made) => {
        origin.dials -= 1
        callback(...made)
      })
    }
    const origin = { pool: this.#openPool(target.origin, connect), requests: 0, dials: 0 }
    return origin
  }

  #openPool(origin: string, connect: buildConnector.connector): Pool {
    return new Pool(origin, {
      connect,
      connections: this.#maxSockets,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
      keepAliveTimeout: IDLE_SOCKET_MS,
      keepAliveMaxTimeout: MAX_IDLE_SOCKET_MS,
      // One timer over the whole attempt bounds these; undici restarts its own at every 1xx and every chunk.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  /** Requests on their way in the closed pool are still finished. */
  #evictOldest(): void {
    if (this.#origins.size < this.#maxOrigins) return
    const oldest = this.#origins.entries().next()
    if (oldest.done === true) return
    const [key, origin] = oldest.value
    this.#origins.delete(key)
    // Only a pool destroyed meanwhile rejects, and that one is closed.
    origin.pool.close().catch(() => undefined)
  }

  #takePools(): Pool[] {
    const pools = [...this.#origins.values()].map((origin) => origin.pool)
    this.#origins.clear()
    return pools
  }
}

function keyOf(target: CallbackTarget, address: string): string {
  return `${target.origin}|${address}`
}

import { performance } from 'node:perf_hooks'
import { LRUCache } from 'lru-cache'
import type { CallbackTarget } from '../domain/webhooks/callback-url.ts'
import type { CallbackGuard, DialVerdict } from './callback-guard.ts'
import type { OutgoingRequest } from './connection.ts'
import { createConnector } from './connector.ts'
import { Origin } from './origin.ts'

export interface WebhookSocketsOptions {
  /** Certificate authorities trusted in addition to the public ones, PEM (tests, on-premises receivers). */
  caPem?: string | undefined
  /** Sockets open at once to one host and address. */
  maxSocketsPerOrigin?: number
  /** Hosts whose sockets are kept; the least recently used is closed first. */
  maxOrigins?: number
  /** Requests to one host and address, sent or waiting for a socket. */
  maxRequestsPerOrigin?: number
  /** Time for TCP and TLS together. */
  connectTimeoutMs?: number | undefined
  /** Time for a whole attempt, DNS to the end of the answer. */
  totalTimeoutMs?: number
}

/** For a whole attempt. */
export const ATTEMPT_TIMEOUT_MS = 15_000
/** How late the end of a request's time, or a stop, may be noticed. */
const SWEEP_MS = 100
/** How long an address that refused is tried after its siblings. */
const FAILED_ADDRESS_MS = 60_000

/**
 * Sends requests over kept connections, by (scheme, host, port, validated address): a socket is reused only for the
 * address and host it was validated for, and only while a fresh answer of DNS still holds that address
 * (callback-url.json S301). Nothing here follows a redirect or reads a proxy from the environment.
 */
export class WebhookSockets {
  readonly totalTimeoutMs: number
  readonly #guard: CallbackGuard
  readonly #connect: ReturnType<typeof createConnector>
  readonly #maxSockets: number
  readonly #maxRequests: number
  /** The origins that requests are sent to. One that is evicted finishes what it has. */
  readonly #origins: LRUCache<string, Origin>
  /** Addresses that are tried last. */
  readonly #failed: LRUCache<string, true>
  /** Origins with connections or requests, including those evicted from `#origins`. */
  readonly #live = new Set<Origin>()
  /** Origins to flush after the next poll of the sockets. */
  readonly #withWork = new Set<Origin>()
  #sweeper: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(guard: CallbackGuard, options: WebhookSocketsOptions = {}) {
    const max = options.maxOrigins ?? 1_000
    this.#guard = guard
    this.totalTimeoutMs = options.totalTimeoutMs ?? ATTEMPT_TIMEOUT_MS
    this.#maxSockets = options.maxSocketsPerOrigin ?? 32
    this.#maxRequests = options.maxRequestsPerOrigin ?? 1_000
    this.#connect = createConnector({
      caPem: options.caPem,
      connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    })
    this.#origins = new LRUCache({ max, dispose: (origin) => void origin.retire() })
    this.#failed = new LRUCache({ max, ttl: FAILED_ADDRESS_MS })
  }

  /** Where the URL may be sent now; see `CallbackGuard.judgeForDial`. */
  judge(url: string): DialVerdict | Promise<DialVerdict> {
    return this.#guard.judgeForDial(url)
  }

  /** The addresses in the order to try them: those in use first, those that just failed last. */
  rank(target: CallbackTarget, addresses: readonly string[]): readonly string[] {
    if (addresses.length < 2) return addresses
    const rankOf = (address: string) => {
      const key = keyOf(target, address)
      if (this.#failed.has(key)) return 2
      return this.#origins.has(key) ? 0 : 1
    }
    return addresses.toSorted((left, right) => rankOf(left) - rankOf(right))
  }

  /**
   * Sends one request to an address that was judged for this target. The request's `end` is called. Returns why it was not
   * taken: too many requests are in flight there, or `close` was called.
   */
  send(target: CallbackTarget, address: string, request: OutgoingRequest): 'QUEUE_FULL' | 'ABORTED' | null {
    if (this.#isClosed) return 'ABORTED'
    const origin = this.#originOf(target, address)
    if (!origin.send(request)) return 'QUEUE_FULL'
    this.#live.add(origin)
    // Does not keep the process alive: a socket that is waited for does.
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS).unref()
    return null
  }

  /** Remembers that no connection could be made to the address. */
  noteFailedAddress(target: CallbackTarget, address: string): void {
    this.#failed.set(keyOf(target, address), true)
  }

  /** Waits for the requests in flight (at most `totalTimeoutMs`) and closes every socket. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#live].map((origin) => origin.retire()))
    this.#sweep()
  }

  /** Ends every request as ABORTED and closes every socket. */
  async destroy(): Promise<void> {
    this.#isClosed = true
    for (const origin of this.#live) origin.destroy()
    this.#sweep()
  }

  #originOf(target: CallbackTarget, address: string): Origin {
    const key = keyOf(target, address)
    let origin = this.#origins.get(key)
    if (origin === undefined) {
      origin = new Origin({
        dial: this.#connect(target, address),
        maxSockets: this.#maxSockets,
        maxRequests: this.#maxRequests,
        onWork: this.#onWork,
      })
      this.#origins.set(key, origin)
    }
    return origin
  }

  #onWork = (origin: Origin): void => {
    if (this.#withWork.size === 0) setImmediate(this.#flush)
    this.#withWork.add(origin)
  }

  #flush = (): void => {
    const nowMs = performance.now()
    const origins = [...this.#withWork]
    this.#withWork.clear()
    for (const origin of origins) origin.flush(nowMs)
  }

  #sweep(): void {
    const nowMs = performance.now()
    for (const origin of this.#live) {
      origin.sweep(nowMs)
      if (origin.isEmpty) this.#live.delete(origin)
    }
    if (this.#live.size > 0 || this.#sweeper === null) return
    clearInterval(this.#sweeper)
    this.#sweeper = null
  }
}

function keyOf(target: CallbackTarget, address: string): string {
  return `${target.origin}|${address}`
}

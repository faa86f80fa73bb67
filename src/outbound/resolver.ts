import { Resolver } from 'node:dns/promises'
import { performance } from 'node:perf_hooks'
import { BoundedMap } from '../collections/bounded-map.ts'
import { isLocalhost } from '../domain/webhooks/callback-url.ts'
import { IN_FLIGHT_LIMITS } from '../domain/webhooks/delivery-scheduler.ts'

/** What DNS says of a name. `timeout` and `failure` say nothing about the name, only about the servers. */
export type Resolution =
  | { kind: 'addresses'; addresses: string[]; ttlMs: number }
  | { kind: 'not-found' }
  | { kind: 'timeout' }
  | { kind: 'failure' }

export interface ResolverOptions {
  /** DNS servers as `address` or `address:port`; the system's when absent. */
  servers?: readonly string[]
  /** Time for the A and AAAA answers together; 2 s. */
  deadlineMs?: number
  /** Lookups in flight at once; 2,048. With more, the answer is `timeout` at once. */
  maxLookups?: number
}

/**
 * Twice the webhooks that a node has in flight, of which a plan has a quarter at most (IN_FLIGHT_LIMITS). So no attempt is refused
 * because the names of other plans do not resolve.
 */
const MAX_LOOKUPS = 2 * IN_FLIGHT_LIMITS.perNode
/** Addresses looked at per family: a DNS message of 64 KiB can carry 4,000. */
const MAX_ADDRESSES = 1_024
const MAX_CACHED_NAMES = 1_000
/** At accept, a cached resolution only saves a second lookup of a name just seen; 30 s keeps bursts off the DNS server. */
const ACCEPT_MAX_AGE_MS = 30_000
/** A name whose servers are silent holds each accept for 2 s: remembered for 5 s, it holds one. */
const ACCEPT_FAILURE_AGE_MS = 5_000
/**
 * At dial, the same resolution serves the requests of one second, or less when its TTL is shorter (TTL 0: only those
 * waiting for it). A query per request would cost more than the request (callback-url.json S296, S301).
 */
const DIAL_MAX_AGE_MS = 1_000

interface CachedResolution {
  resolution: Resolution
  untilMs: number
}

/** One use of DNS with its own answers: a dial never relies on an answer given at accept. */
class ResolutionCache {
  readonly #lookup: (hostname: string) => Promise<Resolution>
  readonly #ageMsOf: (resolution: Resolution) => number
  readonly #kept = new BoundedMap<string, CachedResolution>(MAX_CACHED_NAMES)
  readonly #pending = new Map<string, Promise<Resolution>>()

  constructor(
    lookup: (hostname: string) => Promise<Resolution>,
    ageMsOf: (resolution: Resolution) => number,
  ) {
    this.#lookup = lookup
    this.#ageMsOf = ageMsOf
  }

  /** A cached answer that is still valid, without waiting. */
  peek(hostname: string): Resolution | null {
    const kept = this.#kept.get(hostname)
    return kept !== undefined && performance.now() < kept.untilMs ? kept.resolution : null
  }

  /** Asks DNS. Callers with the same name share one lookup. */
  ask(hostname: string): Promise<Resolution> {
    const pending = this.#pending.get(hostname)
    if (pending !== undefined) return pending
    const lookup = this.#lookup(hostname).then((resolution) => {
      this.#pending.delete(hostname)
      this.#keep(hostname, resolution)
      return resolution
    })
    this.#pending.set(hostname, lookup)
    return lookup
  }

  #keep(hostname: string, resolution: Resolution): void {
    const ageMs = this.#ageMsOf(resolution)
    if (ageMs <= 0) this.#kept.delete(hostname)
    else this.#kept.set(hostname, { resolution, untilMs: performance.now() + ageMs })
  }
}

/**
 * Looks names up with c-ares (no thread pool, no hosts file, no search domains). Never rejects.
 * `localhost` and names below it are 127.0.0.1 and ::1 without a query (RFC 6761 §6.3); the guard decides whether
 * they may be used.
 */
export class NameResolver {
  readonly #dns: Resolver
  readonly #deadlineMs: number
  readonly #maxLookups: number
  readonly #accept: ResolutionCache
  readonly #dial: ResolutionCache
  #lookups = 0

  constructor(options: ResolverOptions = {}) {
    this.#deadlineMs = options.deadlineMs ?? 2_000
    this.#maxLookups = options.maxLookups ?? MAX_LOOKUPS
    // Two tries within the deadline: c-ares doubles the time-out of the second.
    this.#dns = new Resolver({ timeout: Math.ceil(this.#deadlineMs / 3), tries: 2 })
    if (options.servers !== undefined && options.servers.length > 0)
      this.#dns.setServers([...options.servers])
    const lookup = (hostname: string) => this.#resolve(hostname)
    this.#accept = new ResolutionCache(lookup, acceptAgeMs)
    this.#dial = new ResolutionCache(lookup, dialAgeMs)
  }

  /** For the check of a URL when it is accepted. The answer may be up to 30 s old. */
  async resolveForAccept(hostname: string): Promise<Resolution> {
    return this.#accept.peek(hostname) ?? (await this.#accept.ask(hostname))
  }

  /** For a connection. The answer is at most 1 s old, was asked for by a dial, and is within its TTL. */
  resolveForDial(hostname: string): Resolution | Promise<Resolution> {
    return this.#dial.peek(hostname) ?? this.#dial.ask(hostname)
  }

  /** Ends the lookups in flight as failures, so that a stopping process need not wait for them. */
  close(): void {
    this.#dns.cancel()
  }

  async #resolve(hostname: string): Promise<Resolution> {
    if (isLocalhost(hostname))
      return { kind: 'addresses', addresses: ['127.0.0.1', '::1'], ttlMs: DIAL_MAX_AGE_MS }
    if (this.#lookups >= this.#maxLookups) return { kind: 'timeout' }
    this.#lookups += 1
    try {
      const [a, aaaa] = await this.#bothFamilies(hostname)
      return combined(a, aaaa)
    } finally {
      this.#lookups -= 1
    }
  }

  async #bothFamilies(hostname: string): Promise<[Resolution, Resolution]> {
    const deadline = Promise.withResolvers<Resolution>()
    const timer = setTimeout(deadline.resolve, this.#deadlineMs, { kind: 'timeout' } satisfies Resolution)
    try {
      return await Promise.all([
        Promise.race([this.#oneFamily(this.#dns.resolve4(hostname, { ttl: true })), deadline.promise]),
        Promise.race([this.#oneFamily(this.#dns.resolve6(hostname, { ttl: true })), deadline.promise]),
      ])
    } finally {
      clearTimeout(timer)
    }
  }

  async #oneFamily(query: Promise<{ address: string; ttl: number }[]>): Promise<Resolution> {
    try {
      const records = (await query).slice(0, MAX_ADDRESSES)
      if (records.length === 0) return { kind: 'not-found' }
      const ttlMs = Math.min(...records.map((record) => record.ttl)) * 1_000
      return { kind: 'addresses', addresses: records.map((record) => record.address), ttlMs }
    } catch (error) {
      return faultOf(error)
    }
  }
}

/** NXDOMAIN is ENOTFOUND, no record of the type ENODATA; a name DNS cannot carry is EBADNAME. */
function faultOf(error: unknown): Resolution {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME') return { kind: 'not-found' }
  if (code === 'ETIMEOUT') return { kind: 'timeout' }
  return { kind: 'failure' }
}

/** Addresses of either family count; `not-found` only when neither family's servers failed. */
function combined(a: Resolution, aaaa: Resolution): Resolution {
  if (a.kind === 'addresses' && aaaa.kind === 'addresses') {
    const addresses = [...a.addresses, ...aaaa.addresses]
    return { kind: 'addresses', addresses, ttlMs: Math.min(a.ttlMs, aaaa.ttlMs) }
  }
  if (a.kind === 'addresses') return a
  if (aaaa.kind === 'addresses') return aaaa
  return a.kind === 'not-found' ? aaaa : a
}

function acceptAgeMs(resolution: Resolution): number {
  if (resolution.kind === 'addresses')
    return Math.min(Math.max(resolution.ttlMs, DIAL_MAX_AGE_MS), ACCEPT_MAX_AGE_MS)
  return ACCEPT_FAILURE_AGE_MS
}

/** Failures are not cached, so the next attempt asks again. */
function dialAgeMs(resolution: Resolution): number {
  return resolution.kind === 'addresses' ? Math.min(resolution.ttlMs, DIAL_MAX_AGE_MS) : 0
}

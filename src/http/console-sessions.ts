import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type ConsoleSession,
  openSession,
  SESSION_MS,
  type SessionKind,
  sealSession,
} from '../domain/credentials.ts'
import { IV_BYTES, type SecretKeys } from '../domain/secrets.ts'
import { AppError } from '../errors.ts'

export interface ConsoleSessionsOptions {
  /** `deriveKey(masterKey, 'sessions')`. */
  readonly keys: SecretKeys
  readonly random: (bytes: number) => Buffer
  /** Unix milliseconds. */
  readonly clock: () => number
}

/** Browsers set it over TLS only, for this host only and for every path: no other host can set or change it. */
const PREFIX = '__Host-'
const NAMES: Readonly<Record<SessionKind, string>> = {
  customer: 'aldis-customer',
  operator: 'aldis-operator',
}
const LOOPBACK_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i

/** Sessions of the console: cookies that hold a sealed session, read and written in this file only. */
export class ConsoleSessions {
  readonly #options: ConsoleSessionsOptions

  constructor(options: ConsoleSessionsOptions) {
    this.#options = options
  }

  /**
   * The session of this kind that a request carries; null when it has none that is valid. @throws AppError FORBIDDEN when the
   * cookie came with a request of another site's page, because browsers add it to those too.
   */
  of(request: FastifyRequest, kind: SessionKind): ConsoleSession | null {
    const { cookie, host = '' } = request.headers
    if (cookie === undefined) return null
    const secure = valuesOf(cookie, PREFIX + NAMES[kind])
    const values = secure.length > 0 || !LOOPBACK_HOST.test(host) ? secure : valuesOf(cookie, NAMES[kind])
    if (values.length === 0) return null
    requireSameOrigin(request)
    // Of several, another site on this host may have set one, for another path.
    if (values.length > 1) return null
    return openSession(kind, values[0]!, this.#options.keys, this.#options.clock())
  }

  /** Begins a session with a token. */
  begin(request: FastifyRequest, reply: FastifyReply, kind: SessionKind, tokenHash: string): ConsoleSession {
    const { keys, random, clock } = this.#options
    const session = { tokenHash, expiresAtMs: clock() + SESSION_MS }
    const sealed = sealSession(kind, session, keys, random(IV_BYTES))
    const name = isPlainLoopback(request) ? NAMES[kind] : PREFIX + NAMES[kind]
    setCookie(reply, name, sealed, SESSION_MS / 1_000)
    return session
  }

  /** Makes the browser forget its session of this kind. */
  end(request: FastifyRequest, reply: FastifyReply, kind: SessionKind): void {
    const { cookie = '' } = request.headers
    for (const name of [NAMES[kind], PREFIX + NAMES[kind]]) {
      if (valuesOf(cookie, name).length > 0) setCookie(reply, name, '', 0)
    }
  }
}

/**
 * @throws AppError FORBIDDEN for a request that a page of another origin made, another port or subdomain included. Browsers
 * say so in Sec-Fetch-Site; those before 2023 in Origin, on anything but GET.
 */
export function requireSameOrigin({ headers }: FastifyRequest): void {
  const { host = '', origin, 'sec-fetch-site': site } = headers
  const isSame =
    site === undefined
      ? origin !== undefined && URL.parse(origin)?.host === host.toLowerCase()
      : site === 'same-origin'
  if (isSame) return
  const message = 'A session counts only for requests of the console itself; send a token in Authorization'
  throw new AppError('FORBIDDEN', { message })
}

/** Whether the browser talks plain HTTP to its own machine, where it may refuse a cookie that is for TLS only. */
function isPlainLoopback({ headers }: FastifyRequest): boolean {
  const { host = '', origin = '' } = headers
  return LOOPBACK_HOST.test(host) && !origin.startsWith('https:')
}

function valuesOf(cookies: string, name: string): string[] {
  return cookies
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}

function setCookie(reply: FastifyReply, name: string, value: string, maxAgeSeconds: number): void {
  const secure = name.startsWith(PREFIX) ? '; Secure' : ''
  reply.header(
    'set-cookie',
    `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`,
  )
}

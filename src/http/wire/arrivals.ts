import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, invalid, invalidField, WHOLE_REQUEST } from '../../errors.ts'
import { messageFault } from './message-faults.ts'
import type { RawResponses } from './raw-responses.ts'

/**
 * Set on every answer: nothing is cached, guessed at, framed, or lent to other origins. These are the headers that Helmet
 * sets for an API, as a constant: Helmet's middleware is built anew for each request, some 5 µs where a whole accept
 * takes 30.
 */
export const RESPONSE_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** The first check of every request, before authentication and before the body is read. Call before routes are added. */
export function checkArrivals(app: FastifyInstance, raw: Pick<RawResponses, 'noteChunked'>): void {
  const paths = new KnownPaths()
  app.addHook('onRoute', ({ url, method }) => paths.add(url, Array.isArray(method) ? method : [method]))
  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done) => {
    reply.headers(RESPONSE_HEADERS).header('x-request-id', request.id)
    if (request.headers['transfer-encoding'] !== undefined) raw.noteChunked(request.raw.socket)
    const malformed = messageFault(request.raw)
    if (malformed !== null) return done(invalid([malformed]))
    const isUnknown = request.is404 || paths.isMistaken(request.raw.url ?? '', request.routeOptions.url)
    if (isUnknown) return done(unknownRoute(paths, request))
    done()
  })
}

function unknownRoute(paths: KnownPaths, request: FastifyRequest): AppError {
  const methods = paths.methodsOf(request.raw.url ?? '')
  if (methods.length === 0) return new AppError('NOT_FOUND')
  return new AppError('METHOD_NOT_ALLOWED', { headers: { allow: methods.join(', ') } })
}

/** Bad percent-encoding and the like, which Fastify refuses before any hook runs. */
export function answerUnroutable(
  reply: FastifyReply,
  request: FastifyRequest,
  answer: (error: unknown, request: FastifyRequest, reply: FastifyReply) => void,
): void {
  reply.headers(RESPONSE_HEADERS).header('x-request-id', request.id)
  answer(invalidField(WHOLE_REQUEST, 'MALFORMED_URL', 'must be properly percent-encoded'), request, reply)
}

/** Scheme and authority of an absolute-form target (RFC 9112 §3.2.2), which the router drops as well. */
const ABSOLUTE_FORM = /^https?:\/\/[^/?]*/i

/** The paths the server answers, with any method: distinguishes 405 from 404. */
export class KnownPaths {
  /** Paths without a parameter, which take precedence. */
  readonly #fixed = new Map<string, Set<string>>()
  /** By the source of the pattern. */
  readonly #paths = new Map<string, { pattern: RegExp; methods: Set<string> }>()

  /** `url` is a route pattern, `/v1/messages/:msgId`; one with a wildcard answers every method itself. */
  add(url: string, methods: readonly string[]): void {
    if (url.includes('*')) return
    if (!url.includes(':')) {
      this.#fixed.set(url, new Set([...(this.#fixed.get(url) ?? []), ...methods]))
      return
    }
    const source = `^${url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+')}$`
    const known = this.#paths.get(source)
    if (known === undefined)
      this.#paths.set(source, { pattern: new RegExp(source), methods: new Set(methods) })
    else for (const method of methods) known.methods.add(method)
  }

  /** Methods that are answered at the path of a request target; none when the path is unknown. */
  methodsOf(target: string): string[] {
    const path = pathOf(target)
    const fixed = this.#fixed.get(path)
    if (fixed !== undefined) return [...fixed].sort()
    const methods = [...this.#paths.values()]
      .filter(({ pattern }) => pattern.test(path))
      .flatMap((known) => [...known.methods])
    return [...new Set(methods)].sort()
  }

  /** Whether the router took a fixed path, `/rates/import`, for the parameter of another one, `/rates/:rateId`. */
  isMistaken(target: string, url: string | undefined): boolean {
    return url?.includes(':') === true && this.#fixed.has(pathOf(target))
  }
}

/** As the router reads it, which refuses a target that cannot be decoded. */
function pathOf(target: string): string {
  const origin = target.replace(ABSOLUTE_FORM, '')
  const query = origin.indexOf('?')
  const path = query < 0 ? origin : origin.slice(0, query)
  return path.includes('%') ? decodeURI(path) : path
}

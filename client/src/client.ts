import { AldisError } from './errors.ts'

interface OperationTypes {
  input: object
  answer: unknown
}

/** How an operation is requested: `GET /v1/messages/{msgId}?servicePlanId`, `POST /v1/sendsms body`. */
type OperationRequest = string

/** Operations that answer a page of a list. */
export type ListOf<Operations extends Record<keyof Operations, OperationTypes>> = {
  [Id in keyof Operations]: Operations[Id]['answer'] extends Page ? Id : never
}[keyof Operations]

/** A page says where the list goes on: messages and webhook events, the feed of events, and the admin API. */
export type Page = { items: unknown[] } & (
  | { pagination: { hasMore: boolean; nextCursor: string | null } }
  | { hasMore: boolean; cursor: string }
  | { nextAfter: string | null }
)

type ItemOf<Answer> = Answer extends { items: (infer Item)[] } ? Item : never

/** What a method takes: the input only if the operation can do without, and options. */
type Arguments<Input, Options> =
  Record<string, never> extends Input ? [input?: Input, options?: Options] : [input: Input, options?: Options]

/** One method for each operation, and both ways through a list. */
export type Client<Operations extends Record<keyof Operations, OperationTypes>> = {
  readonly [Id in keyof Operations]: (
    ...args: Arguments<Operations[Id]['input'], Id extends 'sendSms' ? SendOptions : CallOptions>
  ) => Promise<Operations[Id]['answer']>
} & {
  /** All pages of a list: `for await (const { items } of client.pages('listMessages', { … }))`. */
  pages<Id extends ListOf<Operations>>(
    list: Id,
    query: Operations[Id]['input'],
    options?: CallOptions,
  ): AsyncGenerator<Operations[Id]['answer']>
  /** All items of a list, page after page: `for await (const message of client.items('listMessages', { … }))`. */
  items<Id extends ListOf<Operations>>(
    list: Id,
    query: Operations[Id]['input'],
    options?: CallOptions,
  ): AsyncGenerator<ItemOf<Operations[Id]['answer']>>
}

export interface ClientOptions {
  /** Where the service is: `https://sms.example.net`; a path before `/v1` is kept. */
  readonly baseUrl: string
  /** `aldis_…`. Without one, a browser sends the session cookie of the console that is signed in on the same origin. */
  readonly token?: string
  /** Longest wait for a whole answer. 30 s when absent. */
  readonly timeoutMs?: number
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof fetch
}

export interface CallOptions {
  /** Ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Instead of the client's. */
  readonly timeoutMs?: number | undefined
}

export interface SendOptions extends CallOptions {
  /** Up to 255 visible ASCII characters: sent again within 24 h with the same key, the message goes out once. */
  readonly idempotencyKey?: string | undefined
}

const DEFAULT_TIMEOUT_MS = 30_000

/**
 * The class of the clients of an API.
 *
 * Its constructor throws TypeError when `baseUrl` is no http or https URL. Methods reject with AldisError when the
 * service answers anything but a success; with the error of `fetch` (a TypeError) when there was no answer; with a
 * DOMException called TimeoutError when it took too long; with TypeError when the input cannot be sent. They never
 * retry: only the caller knows what may be sent twice.
 */
export function clientClass<Operations extends Record<keyof Operations, OperationTypes>>(
  operations: Readonly<Record<keyof Operations, OperationRequest>>,
): new (
  options: ClientOptions,
) => Client<Operations> {
  return class extends Caller {
    constructor(options: ClientOptions) {
      super(operations, options)
    }
  } as unknown as new (
    options: ClientOptions,
  ) => Client<Operations>
}

class Caller {
  readonly #operations: Readonly<Record<string, OperationRequest>>
  readonly #baseUrl: string
  readonly #authorization: { readonly authorization?: string }
  readonly #timeoutMs: number
  readonly #fetch: typeof fetch

  constructor(operations: Readonly<Record<string, OperationRequest>>, options: ClientOptions) {
    const { protocol, origin, pathname } = new URL(options.baseUrl)
    if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError('baseUrl must be http or https')
    this.#operations = operations
    this.#baseUrl = origin + pathname.replace(/\/+$/, '')
    this.#authorization = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    this.#fetch = options.fetch ?? globalThis.fetch
    for (const id of Object.keys(operations)) {
      const value = (input: object = {}, options?: SendOptions) => this.#call(id, input, options)
      Object.defineProperty(this, id, { value })
    }
  }

  async *pages(list: string, query: object, options?: CallOptions): AsyncGenerator<Page> {
    let next: object | null = query
    while (next !== null) {
      const page = (await this.#call(list, next, options)) as Page
      yield page
      const rest = restOf(page)
      next = rest === null ? null : { ...query, ...rest }
    }
  }

  async *items(list: string, query: object, options?: CallOptions): AsyncGenerator<unknown> {
    for await (const { items } of this.pages(list, query, options)) yield* items
  }

  async #call(
    id: string,
    input: object,
    { signal, timeoutMs = this.#timeoutMs, idempotencyKey }: SendOptions = {},
  ): Promise<unknown> {
    const { method, target, body } = requestOf(id, this.#operations[id]!, input)
    const headers = new Headers({ accept: 'application/json', ...this.#authorization })
    if (body !== null) headers.set('content-type', 'application/json')
    if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey)
    const limit = timeLimit(timeoutMs, signal)
    // Called as a plain function: some runtimes refuse a fetch that is called as somebody's method.
    const fetch = this.#fetch
    try {
      const response = await fetch(this.#baseUrl + target, {
        method,
        headers,
        body,
        // `credentials` is left at its default, same-origin: some edge runtimes refuse requests that name it.
        // The API redirects nowhere, and the token is for nobody else. Not every edge runtime knows 'error'.
        redirect: 'manual',
        signal: limit.signal,
      })
      return answerOf(response, await response.text())
    } finally {
      limit.end()
    }
  }
}

/** The parameter that asks for the next page; null after the last one. */
export function restOf(page: Page): object | null {
  if ('nextAfter' in page) return page.nextAfter === null ? null : { after: page.nextAfter }
  const { hasMore, cursor } =
    'pagination' in page ? { ...page.pagination, cursor: page.pagination.nextCursor } : page
  return hasMore ? { cursor } : null
}

/** Puts each field of the input where the operation has it: path, query, or else the body. */
function requestOf(id: string, operation: OperationRequest, input: object) {
  const [method, target, takesBody] = operation.split(' ') as [string, string, string?]
  const [template, names = ''] = target.split('?') as [string, string?]
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const take = (name: string) => {
    const value = rest.get(name)
    rest.delete(name)
    return value
  }
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(take(name) ?? '')
    // A path that is one segment short, or goes up, would be another operation's.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${id}: ${name} is required`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  for (const name of names.split('&')) {
    const value = take(name)
    if (value !== undefined) query.set(name, String(value))
  }
  const search = String(query) === '' ? '' : `?${query}`
  if (takesBody === undefined && rest.size > 0)
    throw new TypeError(`${id}: it has no ${[...rest.keys()].join(', ')}`)
  const body = takesBody === undefined ? null : JSON.stringify(Object.fromEntries(rest))
  return { method, target: path + search, body }
}

function answerOf(response: Response, text: string): unknown {
  const { status, headers, ok } = response
  if (ok && text === '') return undefined
  let body: unknown = text
  try {
    body = JSON.parse(text)
  } catch {
    throw new AldisError(status, headers, text)
  }
  if (!ok) throw new AldisError(status, headers, body)
  return body
}

/** A signal that fires with the caller's, or when the time is over. (AbortSignal.any came with Node 20.3.) */
function timeLimit(timeoutMs: number, signal: AbortSignal | undefined) {
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  const timeout = () => controller.abort(new DOMException(`no answer in ${timeoutMs} ms`, 'TimeoutError'))
  const timer = setTimeout(timeout, timeoutMs)
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
  }
}

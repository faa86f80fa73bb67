import { AldisError } from './errors.ts'
import { OPERATIONS, type Operations } from './operations.ts'

export type OperationId = keyof Operations
/** What an operation is given: parameters of path and query, and the fields of the body, in one object. */
export type Input<Id extends OperationId> = Operations[Id]['input']
/** What an operation answers when it succeeds. */
export type Answer<Id extends OperationId> = Operations[Id]['answer']

/** An event as the feed has it. */
export type FeedEvent = Answer<'listEvents'>['items'][number]

/** Operations that answer a page of a list. */
export type ListId = {
  [Id in OperationId]: Answer<Id> extends Page ? Id : never
}[OperationId]

type Page = { items: unknown[] } & (
  | { pagination: { hasMore: boolean; nextCursor: string | null } }
  /** The feed of events: its cursor is good for later too. */
  | { hasMore: boolean; cursor: string }
)

export interface ClientOptions {
  /** Where the service is: `https://sms.example.net`; a path before `/v1` is kept. */
  readonly baseUrl: string
  /** `aldis_…` */
  readonly token: string
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
 * The API of one token, one method for each operation.
 *
 * Methods reject with AldisError when the service answers anything but a success; with the error of `fetch` (a
 * TypeError) when there was no answer; with a DOMException called TimeoutError when it took too long; with TypeError
 * when the input cannot be sent. Nothing is tried again: only the caller knows what may be sent twice.
 */
export class AldisClient {
  readonly #baseUrl: string
  readonly #token: string
  readonly #timeoutMs: number
  readonly #fetch: typeof fetch

  /** Throws TypeError when `baseUrl` is no http or https URL. */
  constructor({ baseUrl, token, timeoutMs = DEFAULT_TIMEOUT_MS, fetch = globalThis.fetch }: ClientOptions) {
    const { protocol, origin, pathname } = new URL(baseUrl)
    if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError('baseUrl must be http or https')
    this.#baseUrl = origin + pathname.replace(/\/+$/, '')
    this.#token = token
    this.#timeoutMs = timeoutMs
    this.#fetch = fetch
  }

  /** Sends one SMS; its record is QUEUED. Receipts follow. */
  sendSms(sms: Input<'sendSms'>, options?: SendOptions): Promise<Answer<'sendSms'>> {
    return this.#call('sendSms', sms, options)
  }

  /** The record of a message. */
  getMessage(query: Input<'getMessage'>, options?: CallOptions): Promise<Answer<'getMessage'>> {
    return this.#call('getMessage', query, options)
  }

  /** The record of a message of any plan that the token may read. */
  getMessageAtLocation(
    query: Input<'getMessageAtLocation'>,
    options?: CallOptions,
  ): Promise<Answer<'getMessageAtLocation'>> {
    return this.#call('getMessageAtLocation', query, options)
  }

  /** One page of messages, newest first. At least one filter beside servicePlanId, or a cursor. */
  listMessages(query: Input<'listMessages'>, options?: CallOptions): Promise<Answer<'listMessages'>> {
    return this.#call('listMessages', query, options)
  }

  /** One inbound message, as its webhook told of it. */
  getInboundMessage(
    query: Input<'getInboundMessage'>,
    options?: CallOptions,
  ): Promise<Answer<'getInboundMessage'>> {
    return this.#call('getInboundMessage', query, options)
  }

  /** One page of inbound messages, newest first. At least one filter beside servicePlanId, or a cursor. */
  listInboundMessages(
    query: Input<'listInboundMessages'>,
    options?: CallOptions,
  ): Promise<Answer<'listInboundMessages'>> {
    return this.#call('listInboundMessages', query, options)
  }

  /** What happened in a plan, oldest first, behind a cursor: for a receiver that was away, or that has no webhooks. */
  listEvents(query: Input<'listEvents'>, options?: CallOptions): Promise<Answer<'listEvents'>> {
    return this.#call('listEvents', query, options)
  }

  /** One page of events and what became of them, those of the newest message first. */
  listWebhookEvents(
    query: Input<'listWebhookEvents'>,
    options?: CallOptions,
  ): Promise<Answer<'listWebhookEvents'>> {
    return this.#call('listWebhookEvents', query, options)
  }

  /** One event, and every attempt to deliver it. */
  getWebhookEvent(
    query: Input<'getWebhookEvent'>,
    options?: CallOptions,
  ): Promise<Answer<'getWebhookEvent'>> {
    return this.#call('getWebhookEvent', query, options)
  }

  /** Has one event delivered, again or at last; under the same id. */
  redeliverWebhookEvent(
    input: Input<'redeliverWebhookEvent'>,
    options?: CallOptions,
  ): Promise<Answer<'redeliverWebhookEvent'>> {
    return this.#call('redeliverWebhookEvent', input, options)
  }

  /** Has events delivered that failed, or were kept; `nextAfter` of the answer is where to go on. */
  redeliverWebhookEvents(
    input: Input<'redeliverWebhookEvents'>,
    options?: CallOptions,
  ): Promise<Answer<'redeliverWebhookEvents'>> {
    return this.#call('redeliverWebhookEvents', input, options)
  }

  /** Sends a signed test event at once, and says what came of it. One a second for each account. */
  sendTestWebhook(
    input: Input<'sendTestWebhook'>,
    options?: CallOptions,
  ): Promise<Answer<'sendTestWebhook'>> {
    return this.#call('sendTestWebhook', input, options)
  }

  /** One page of destinations that are in trouble, paused, or have events waiting, by name. */
  listWebhookDestinations(
    query: Input<'listWebhookDestinations'>,
    options?: CallOptions,
  ): Promise<Answer<'listWebhookDestinations'>> {
    return this.#call('listWebhookDestinations', query, options)
  }

  /** Stops deliveries to a destination; events wait until it is resumed. */
  pauseWebhookDestination(
    input: Input<'pauseWebhookDestination'>,
    options?: CallOptions,
  ): Promise<Answer<'pauseWebhookDestination'>> {
    return this.#call('pauseWebhookDestination', input, options)
  }

  /** Ends a pause, or has a destination tried again that failed too often. */
  resumeWebhookDestination(
    input: Input<'resumeWebhookDestination'>,
    options?: CallOptions,
  ): Promise<Answer<'resumeWebhookDestination'>> {
    return this.#call('resumeWebhookDestination', input, options)
  }

  /** All pages of a list: `for await (const { items } of client.pages('listMessages', { … }))`. */
  async *pages<Id extends ListId>(
    list: Id,
    query: Input<Id>,
    options?: CallOptions,
  ): AsyncGenerator<Answer<Id>> {
    let next: Input<Id> | null = query
    while (next !== null) {
      const page: Answer<Id> = await this.#call(list, next, options)
      yield page
      const cursor = cursorOf(page)
      next = cursor === null ? null : { ...query, cursor }
    }
  }

  /** All items of a list, page after page: `for await (const message of client.items('listMessages', { … }))`. */
  async *items<Id extends ListId>(
    list: Id,
    query: Input<Id>,
    options?: CallOptions,
  ): AsyncGenerator<Answer<Id>['items'][number]> {
    for await (const { items } of this.pages(list, query, options)) yield* items
  }

  async #call<Id extends OperationId>(
    id: Id,
    input: Input<Id>,
    { signal, timeoutMs = this.#timeoutMs, idempotencyKey }: SendOptions = {},
  ): Promise<Answer<Id>> {
    const { method, target, body } = requestOf(id, input)
    const headers = new Headers({ accept: 'application/json', authorization: `Bearer ${this.#token}` })
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
        // The API redirects nowhere, and the token is for nobody else. Not every edge runtime knows 'error'.
        redirect: 'manual',
        signal: limit.signal,
      })
      return answerOf<Id>(response, await response.text())
    } finally {
      limit.end()
    }
  }
}

/** Where a list goes on; null: that was all. */
function cursorOf(page: Page): string | null {
  const { hasMore, nextCursor } =
    'pagination' in page ? page.pagination : { ...page, nextCursor: page.cursor }
  return hasMore ? nextCursor : null
}

/** Puts each field of the input where the operation has it: path, query, or else the body. */
function requestOf<Id extends OperationId>(id: Id, input: Input<Id>) {
  const operation = OPERATIONS[id]
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const take = (name: string) => {
    const value = rest.get(name)
    rest.delete(name)
    return value
  }
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(take(name) ?? '')
    // A path that is one segment short, or goes up, would be another operation's.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${id}: ${name} is required`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  for (const name of operation.query) {
    const value = take(name)
    if (value !== undefined) query.set(name, String(value))
  }
  const search = String(query) === '' ? '' : `?${query}`
  if (!operation.body && rest.size > 0) throw new TypeError(`${id}: it has no ${[...rest.keys()].join(', ')}`)
  const body = operation.body ? JSON.stringify(Object.fromEntries(rest)) : null
  return { method: operation.method, target: path + search, body }
}

function answerOf<Id extends OperationId>(response: Response, text: string): Answer<Id> {
  const { status, headers, ok } = response
  if (ok && text === '') return undefined as unknown as Answer<Id>
  let body: unknown = text
  try {
    body = JSON.parse(text)
  } catch {
    throw new AldisError(status, headers, text)
  }
  if (!ok) throw new AldisError(status, headers, body)
  return body as Answer<Id>
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

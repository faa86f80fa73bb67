import { performance } from 'node:perf_hooks'
import type { Dispatcher } from 'undici'
import type { CallbackTarget } from '../domain/callback-url.ts'
import { maskEchoes } from '../domain/echoed-secrets.ts'
import { parseRetryAfter } from '../domain/webhook-schedule.ts'
import { type DeliveryErrorName, deliveryErrorOf } from './delivery-errors.ts'
import type { WebhookDispatcher } from './dispatcher.ts'

export interface WebhookRequest {
  url: string
  /** The JSON text, sent as it is (it is what was signed). */
  body: string
  headers: Readonly<Record<string, string>>
  /** The account's own, by name; `authorization` in lower case. Those above win; what the answer repeats of these is masked. */
  accountHeaders?: Readonly<Record<string, string>>
  signal?: AbortSignal | undefined
}

/** What became of one attempt. */
export interface DeliveryOutcome {
  kind: 'success' | 'failure'
  /** HTTP status, null when no answer came. */
  status: number | null
  /** Null on success. */
  error: DeliveryErrorName | null
  /** DNS to the end of the answer, whole milliseconds. */
  latencyMs: number
  /** First 1 KiB of the answer's body as text, without U+0000 and the credentials that were sent. */
  responseHead: string
  /** What Retry-After asked for, from now. */
  retryAfterMs: number | null
  /** 410: the endpoint wants no more webhooks. */
  gone: boolean
}

/** Read up to here, then the socket is destroyed: what a receiver says beyond it is not ours to carry. */
const MAX_RESPONSE_BODY_BYTES = 16 * 1_024
const RESPONSE_HEAD_BYTES = 1_024
const MAX_INTERIM_RESPONSES = 16
/** Addresses of one name dialled in one attempt, when the connection is refused at once. */
const MAX_DIALS = 3

/**
 * POSTs one webhook and says what became of it. Never rejects.
 *
 * 2xx is success, also when the body is cut; a redirect is a failure and is not followed; user info in the URL
 * becomes Basic credentials and appears nowhere else. The body of the answer is never inflated.
 */
export async function postWebhook(
  dispatcher: WebhookDispatcher,
  request: WebhookRequest,
): Promise<DeliveryOutcome> {
  const startMs = performance.now()
  const judged = dispatcher.judge(request.url)
  const verdict = judged instanceof Promise ? await judged : judged
  if (!verdict.ok) return failedBeforeRequest(verdict.error, startMs)
  const { target } = verdict
  let outcome = failedBeforeRequest('CONNECT_FAILED', startMs)
  for (const address of dispatcher.ranked(target, verdict.addresses).slice(0, MAX_DIALS)) {
    if (request.signal?.aborted === true) return failedBeforeRequest('ABORTED', startMs)
    outcome = await new Exchange(dispatcher, target, address, startMs).run(request)
    const { error } = outcome
    const isUnreached =
      error === 'CONNECT_REFUSED' || error === 'CONNECT_UNREACHABLE' || error === 'CONNECT_TIMEOUT'
    if (isUnreached) dispatcher.noteFailedAddress(target, address)
    // A time-out has used up its share of the attempt; the next attempt starts with another address.
    if (!isUnreached || error === 'CONNECT_TIMEOUT') return outcome
  }
  return outcome
}

/** One request on one address, from the wait for a socket to the end of the answer. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #dispatcher: WebhookDispatcher
  readonly #target: CallbackTarget
  readonly #address: string
  readonly #startMs: number
  readonly #done = Promise.withResolvers<DeliveryOutcome>()
  #controller: Dispatcher.DispatchController | null = null
  #isSettled = false
  #status: number | null = null
  #retryAfterMs: number | null = null
  #interimResponses = 0
  #bodyBytes = 0
  #head: Buffer[] = []
  #secretHeaders: Readonly<Record<string, string>> = {}

  constructor(dispatcher: WebhookDispatcher, target: CallbackTarget, address: string, startMs: number) {
    this.#dispatcher = dispatcher
    this.#target = target
    this.#address = address
    this.#startMs = startMs
  }

  async run(request: WebhookRequest): Promise<DeliveryOutcome> {
    const remainingMs = this.#dispatcher.totalTimeoutMs - (performance.now() - this.#startMs)
    const timer = setTimeout(() => this.#onTimeout(sent?.dialling === true), Math.max(remainingMs, 0))
    const onAbort = () => this.#stop('ABORTED')
    request.signal?.addEventListener('abort', onAbort, { once: true })
    const sent = this.#dispatcher.send(this.#target, this.#address, this.#optionsOf(request), this)
    if (sent === null) this.#stop('QUEUE_FULL')
    const outcome = await this.#done.promise
    sent?.release()
    clearTimeout(timer)
    request.signal?.removeEventListener('abort', onAbort)
    return outcome
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The time ran out while the request waited for a socket: it must not be sent after its failure was told.
    if (this.#isSettled) controller.abort(new Error('settled'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (statusCode < 200) {
      this.#interimResponses += 1
      if (statusCode === 101 || this.#interimResponses > MAX_INTERIM_RESPONSES) this.#stop('PROTOCOL_ERROR')
      return
    }
    this.#status = statusCode
    const retryAfter = headers['retry-after']
    this.#retryAfterMs = parseRetryAfter(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, Date.now())
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const missingBytes = RESPONSE_HEAD_BYTES - this.#bodyBytes
    // Copied: a view would keep the whole read buffer of the socket alive.
    if (missingBytes > 0) this.#head.push(Buffer.from(chunk.subarray(0, missingBytes)))
    this.#bodyBytes += chunk.length
    if (this.#bodyBytes >= MAX_RESPONSE_BODY_BYTES) this.#stop(null)
  }

  onResponseEnd(): void {
    this.#settle(null)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle(deliveryErrorOf(error))
  }

  #optionsOf(request: WebhookRequest): Dispatcher.DispatchOptions {
    const { authorization } = this.#target
    this.#secretHeaders = { ...request.accountHeaders, ...(authorization !== null && { authorization }) }
    const headers = {
      ...this.#secretHeaders,
      'user-agent': 'Aldis',
      // What is not inflated should not come compressed.
      'accept-encoding': 'identity',
      ...request.headers,
    }
    return { path: this.#target.path, method: 'POST', headers, body: request.body }
  }

  /** `dialling`: while it waits for a connection, one is being made. */
  #onTimeout(dialling: boolean): void {
    if (this.#controller !== null) this.#stop('RESPONSE_TIMEOUT')
    else this.#stop(dialling ? 'CONNECT_TIMEOUT' : 'QUEUE_TIMEOUT')
  }

  /** Settles, and destroys the socket if the request has one. */
  #stop(error: DeliveryErrorName | null): void {
    this.#settle(error)
    this.#controller?.abort(new Error('stopped'))
  }

  /** Once the status line is there it decides, whatever happens to the body after it. */
  #settle(error: DeliveryErrorName | null): void {
    if (this.#isSettled) return
    this.#isSettled = true
    const status = this.#status
    const isSuccess = status !== null && status < 300
    this.#done.resolve({
      kind: isSuccess ? 'success' : 'failure',
      status,
      error: status === null ? (error ?? 'PROTOCOL_ERROR') : errorOfStatus(status),
      latencyMs: Math.round(performance.now() - this.#startMs),
      responseHead: this.#shownHead(),
      retryAfterMs: this.#retryAfterMs,
      gone: status === 410,
    })
  }

  #shownHead(): string {
    // PostgreSQL text cannot hold U+0000.
    const text = Buffer.concat(this.#head).toString('utf8').replaceAll('\0', '\uFFFD')
    return maskEchoes(text, this.#secretHeaders)
  }
}

function errorOfStatus(status: number): DeliveryErrorName | null {
  if (status < 300) return null
  return status < 400 ? 'REDIRECT' : 'HTTP_STATUS'
}

function failedBeforeRequest(error: DeliveryErrorName, startMs: number): DeliveryOutcome {
  const latencyMs = Math.round(performance.now() - startMs)
  return {
    kind: 'failure',
    status: null,
    error,
    latencyMs,
    responseHead: '',
    retryAfterMs: null,
    gone: false,
  }
}

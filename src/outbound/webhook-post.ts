import { performance } from 'node:perf_hooks'
import { attemptHeaders } from '../domain/webhooks/attempt-headers.ts'
import { maskEchoes, type Webhook } from '../domain/webhooks/requests.ts'
import { parseRetryAfter } from '../domain/webhooks/retries.ts'
import type { DeliveryErrorName } from './delivery-errors.ts'
import { requestText, type SecretHeaders } from './request-text.ts'
import type { ResponseParser } from './response-parser.ts'
import type { SendLease } from './send-lease.ts'
import type { WebhookSockets } from './webhook-sockets.ts'

export interface WebhookRequest {
  url: string
  /** The JSON text, sent as it is (it is what was signed); '': the URL is fetched. */
  body: string
  headers: Readonly<Record<string, string>>
  /**
   * The account's own headers, by name; `authorization` in lower case. The headers above win. Values of these that the answer
   * repeats are masked.
   */
  accountHeaders?: Readonly<Record<string, string>>
  lease: SendLease
}

/** What an account adds to its webhooks. An object shared by all of them is read once. */
export interface WebhookAccount {
  readonly webhookSecrets: readonly string[]
  readonly webhookHeaders: Readonly<Record<string, string>>
}

interface Sending {
  readonly lease: SendLease
  readonly onDefect: (error: unknown) => void
  /** Share of all messages that are traced, from 0 to 1. Default: 0. */
  readonly tracedShare?: number
}

/** The result of one attempt. */
export interface DeliveryOutcome {
  ok: boolean
  /** HTTP status, null when no answer came. */
  status: number | null
  /** Null on success. */
  error: DeliveryErrorName | null
  /** From DNS to the end of the answer, whole milliseconds. */
  latencyMs: number
  /** First 1 KiB of the answer's body as text, without U+0000 and the credentials that were sent. */
  responseHead: string
  /** The delay that Retry-After asked for, from now. */
  retryAfterMs: number | null
  /** 410: the endpoint wants no more webhooks. */
  gone: boolean
}

/** No answer came. */
export const UNANSWERED: DeliveryOutcome = {
  ok: false,
  status: null,
  error: null,
  latencyMs: 0,
  responseHead: '',
  retryAfterMs: null,
  gone: false,
}

/** Addresses of one name dialled in one attempt, if connections are refused at once. */
const MAX_DIALS = 3

/**
 * Signs one webhook and sends it. Never rejects: a webhook with a damaged secret, or one that meets a defect of ours, ends as
 * INVALID_REQUEST, and `onDefect` is called. An exception would end the thread, and with it all other open requests.
 */
export async function sendWebhook(
  sockets: WebhookSockets,
  { webhookSecrets, webhookHeaders: accountHeaders }: WebhookAccount,
  webhook: Webhook,
  { lease, onDefect, tracedShare = 0 }: Sending,
): Promise<DeliveryOutcome> {
  const { url, body } = webhook
  const startMs = performance.now()
  try {
    const headers = attemptHeaders(webhook, webhookSecrets, tracedShare)
    return await postWebhook(sockets, { url, body, headers, accountHeaders, lease })
  } catch (error) {
    onDefect(error)
    return failed('INVALID_REQUEST', startMs)
  }
}

/**
 * Sends one webhook and returns the outcome: POSTs its body, or GETs the URL if it has none (ADR 29).
 *
 * 2xx is success, even when the body is cut. A redirect is a failure and is not followed. User info in the URL becomes Basic
 * credentials and appears nowhere else. The body of the answer is never inflated.
 */
export async function postWebhook(
  sockets: WebhookSockets,
  request: WebhookRequest,
): Promise<DeliveryOutcome> {
  const startMs = performance.now()
  const judged = sockets.judge(request.url)
  const verdict = judged instanceof Promise ? await judged : judged
  if (!verdict.ok) return failed(verdict.error, startMs)
  const { target } = verdict
  const { text, secrets } = requestText(target, request)
  if (text === null) return failed('INVALID_REQUEST', startMs)
  const deadlineMs = startMs + sockets.totalTimeoutMs
  let outcome = failed('CONNECT_FAILED', startMs)
  for (const address of sockets.rank(target, verdict.addresses).slice(0, MAX_DIALS)) {
    const ended = await new Promise<Ended>((resolve) => {
      const end = (error: DeliveryErrorName | null, response: ResponseParser | null) =>
        resolve({ error, response })
      const refusal = sockets.send(target, address, { text, deadlineMs, lease: request.lease, end })
      if (refusal !== null) end(refusal, null)
    })
    outcome = outcomeOf(ended, startMs, secrets)
    const { error } = outcome
    const isUnreached =
      error === 'CONNECT_REFUSED' || error === 'CONNECT_UNREACHABLE' || error === 'CONNECT_TIMEOUT'
    if (isUnreached) sockets.noteFailedAddress(target, address)
    // A time-out has used up its share of the attempt, so the next attempt starts with another address.
    if (!isUnreached || error === 'CONNECT_TIMEOUT') return outcome
  }
  return outcome
}

/** The end of one request on one address. */
interface Ended {
  readonly error: DeliveryErrorName | null
  readonly response: ResponseParser | null
}

/** Once the head of the response has arrived, its status decides, whatever happens to the body. */
function outcomeOf({ error, response }: Ended, startMs: number, secrets: SecretHeaders): DeliveryOutcome {
  const status = response?.status ?? null
  if (response === null || status === null) return failed(error ?? 'PROTOCOL_ERROR', startMs)
  return {
    ok: status < 300,
    status,
    error: errorOfStatus(status),
    latencyMs: Math.round(performance.now() - startMs),
    // PostgreSQL text cannot hold U+0000.
    responseHead: maskEchoes(response.contentHead().replaceAll('\0', '\uFFFD'), secrets),
    retryAfterMs: parseRetryAfter(response.retryAfter, Date.now()),
    gone: status === 410,
  }
}

function errorOfStatus(status: number): DeliveryErrorName | null {
  if (status < 300) return null
  return status < 400 ? 'REDIRECT' : 'HTTP_STATUS'
}

function failed(error: DeliveryErrorName, startMs: number): DeliveryOutcome {
  return { ...UNANSWERED, error, latencyMs: Math.round(performance.now() - startMs) }
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { SendRequest } from '../../domain/messages/send-requests.ts'
import { exchange, hadNoConnection, parseBody } from '../admin/client.ts'

/** One request to send one message, and what its answer means. */

interface SentRecord {
  readonly msgId: string
  readonly status: string
  readonly [field: string]: unknown
}

export type Attempt =
  /** `isRepeat`: it had been accepted before, by an earlier request with the key. */
  | { readonly kind: 'accepted'; readonly record: SentRecord; readonly isRepeat: boolean }
  | { readonly kind: 'refused'; readonly errorCode: string; readonly errorMessage: string }
  /** To be repeated with the same key. `mayBeAccepted`: nobody said that it was not. `waitMs` null: as the caller likes. */
  | {
      readonly kind: 'later'
      readonly waitMs: number | null
      readonly mayBeAccepted: boolean
      readonly reason: string
    }

export interface Access {
  readonly url: string
  readonly token: string
}

/** The service answers within 10 s or closes the connection. */
const TIMEOUT_MS = 15_000

/** Never throws for want of an answer. @throws Error when the address is none */
export async function attemptSend({ url, token }: Access, sms: SendRequest, key: string): Promise<Attempt> {
  try {
    const { status, headers, text } = await exchange(url, '/v1/sendsms', TIMEOUT_MS, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(sms),
    })
    return judgeAnswer(status, headers, parseBody(text))
  } catch (error) {
    const { cause, message } = error as Error
    if (cause === undefined) throw error
    return { kind: 'later', waitMs: null, mayBeAccepted: !hadNoConnection(cause), reason: message }
  }
}

const REPEATED_STATUSES = new Set([408, 429])

/** Whether a repetition would be refused as well. */
export function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && !REPEATED_STATUSES.has(status)
}

/** `body`: parsed JSON; undefined when it is none. */
export function judgeAnswer(status: number, headers: Headers, body: unknown): Attempt {
  const { msgId, errorCode, errorMessage, errors = [] } = (body ?? {}) as AnswerBody
  if (status === 202 && msgId !== undefined)
    return {
      kind: 'accepted',
      record: body as SentRecord,
      isRepeat: headers.get('idempotent-replayed') === 'true',
    }
  const faults = errors.map(({ field, message }) => `${field} ${message}`).join('; ')
  if (isFinal(status))
    return {
      kind: 'refused',
      errorCode: errorCode ?? `HTTP_${status}`,
      errorMessage: faults || errorMessage || `answered ${status}, not as Aldis does`,
    }
  const seconds = /^\d{1,9}$/.exec(headers.get('retry-after') ?? '')?.[0]
  return {
    kind: 'later',
    waitMs: seconds === undefined ? null : Number(seconds) * 1_000,
    // Aldis answers an error only if the request had no effect; a gateway cannot know.
    mayBeAccepted: errorCode === undefined,
    reason: errorMessage ?? `answered ${status}, not as Aldis does`,
  }
}

interface AnswerBody {
  readonly msgId?: string
  readonly errorCode?: string
  readonly errorMessage?: string
  readonly errors?: readonly { readonly field: string; readonly message: string }[]
}

/** Spreads requests evenly in time, and holds all of them back when the service asks for it. */
export class Pacer {
  readonly #intervalMs: number
  #nextMs = 0
  #heldUntilMs = 0

  /** `perSecond` undefined: no limit. */
  constructor(perSecond: number | undefined) {
    this.#intervalMs = perSecond === undefined ? 0 : 1_000 / perSecond
  }

  /** No turn comes before this time is over. */
  hold(ms: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, performance.now() + ms)
  }

  /** Resolves when the next request may be made, or the signal fires. */
  async turn(signal: AbortSignal): Promise<void> {
    do {
      const nowMs = performance.now()
      const turnMs = Math.max(nowMs, this.#nextMs, this.#heldUntilMs)
      this.#nextMs = turnMs + this.#intervalMs
      await pause(turnMs - nowMs, signal)
      // What is held while it waits takes another turn.
    } while (!signal.aborted && performance.now() < this.#heldUntilMs)
  }
}

const FIRST_BACKOFF_MS = 500
const MOST_BACKOFF_MS = 30_000

/** How long to wait after this many failures, not counting the last. */
export function backoffAfter(failures: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** failures, MOST_BACKOFF_MS)
}

/** Resolves after this time, or when the signal fires. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms >= 1) await sleep(ms, undefined, { signal }).catch(() => undefined)
}

export type Answer = Exclude<Attempt, { kind: 'later' }>

/** The signal or the end of patience came before an answer. `mayBeAccepted`: nobody said that it was not. */
interface Unanswered {
  readonly kind: 'unanswered'
  readonly mayBeAccepted: boolean
  readonly reason: string
}

export interface Delivery {
  readonly access: Access
  readonly sms: SendRequest
  readonly key: string
  readonly pacer: Pacer
  readonly patienceMs: number
  readonly signal: AbortSignal
}

/** Repeats a request with its key until it is answered. An attempt in flight is not aborted. */
export async function deliver(delivery: Delivery): Promise<Answer | Unanswered> {
  const { access, sms, key, pacer, patienceMs, signal } = delivery
  // Wall-clock time, because the machine may have slept.
  const startedAtMs = Date.now()
  const unanswered = { kind: 'unanswered', mayBeAccepted: false, reason: '' } as const
  let last: Unanswered = unanswered
  for (let count = 0; ; count += 1) {
    await pacer.turn(signal)
    if (signal.aborted) return last
    const attempt = await attemptSend(access, sms, key)
    if (attempt.kind !== 'later') return attempt
    const { waitMs, reason } = attempt
    last = { ...unanswered, mayBeAccepted: last.mayBeAccepted || attempt.mayBeAccepted, reason }
    const backoffMs = waitMs ?? backoffAfter(count)
    if (Date.now() + backoffMs - startedAtMs > patienceMs) return last
    // The service speaks of all requests, a broken connection of one.
    if (waitMs === null) await pause(backoffMs, signal)
    else pacer.hold(waitMs)
  }
}

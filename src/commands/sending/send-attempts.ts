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

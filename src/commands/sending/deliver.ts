import type { SendRequest } from '../../domain/messages/send-requests.ts'
import { backoffAfter, type Pacer, pause } from './pacer.ts'
import { type Access, type Attempt, attemptSend } from './send-attempts.ts'

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

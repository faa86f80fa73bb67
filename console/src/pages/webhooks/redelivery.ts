import { AldisError } from '../../../../client/src/errors.ts'

/** What one request of a bulk redelivery answers. */
interface Redelivered {
  readonly redelivered: number
  readonly nextAfter: string | null
}

interface Walk {
  /** Fired, it ends the walk after the request in flight. */
  readonly signal: AbortSignal
  /** After each request, with the events so far. */
  readonly onProgress: (events: number) => void
  /** Resolves after so many seconds, or when the signal fires. */
  readonly wait: (seconds: number) => Promise<void>
}

/** Refusals in a row that are waited for. One more is an error. */
const MOST_WAITS = 20

/**
 * Sends a request again and again, each from where the one before ended. Returns whether all was done before the signal
 * fired. An account may send one a second: a refusal for that is waited for.
 */
export async function walkRedelivery(
  request: (after: string | null) => Promise<Redelivered>,
  { signal, onProgress, wait }: Walk,
): Promise<boolean> {
  let events = 0
  let after: string | null = null
  let waits = 0
  while (!signal.aborted) {
    try {
      const answer: Redelivered = await request(after)
      events += answer.redelivered
      after = answer.nextAfter
      waits = 0
      onProgress(events)
      if (after === null) return true
    } catch (error) {
      const seconds = waitAskedFor(error)
      if (seconds === null || waits === MOST_WAITS) throw error
      waits += 1
      await wait(seconds)
    }
  }
  return false
}

function waitAskedFor(error: unknown): number | null {
  return error instanceof AldisError && error.status === 429 ? (error.retryAfterSeconds ?? 1) : null
}

/** The harness's own time, in milliseconds; no fault touches it. */
export function nowMs(): number {
  return performance.now()
}

/** Waits, or returns early when the signal aborts. Never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal?.aborted) return Promise.resolve()
  const timer = setTimeout(resolve, Math.max(0, ms))
  signal?.addEventListener('abort', () => resolve(), { once: true })
  return promise.finally(() => clearTimeout(timer))
}

/** Polls until the condition holds; false if it does not within `deadlineMs`. A condition that throws does not hold. */
export async function holdsWithin(
  deadlineMs: number,
  condition: () => boolean | Promise<boolean>,
  intervalMs = 50,
): Promise<boolean> {
  const deadline = nowMs() + deadlineMs
  for (;;) {
    const holds = await Promise.resolve()
      .then(condition)
      .catch(() => false)
    if (holds) return true
    if (nowMs() > deadline) return false
    await pause(intervalMs)
  }
}

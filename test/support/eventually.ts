const DEADLINE_MS = 100_000
/** Between two polls passes half of the time waited so far, within these bounds: many wait at once, and polls cost CPU. */
const PAUSE_MS = { least: 5, most: 150 }

/** What a condition returns when it holds. */
export type Met<T> = Exclude<T, null | undefined | false>

/** Polls until `condition` returns something truthy, and returns that. */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  deadlineMs = DEADLINE_MS,
): Promise<Met<T>> {
  const begin = performance.now()
  for (;;) {
    const value = await condition()
    if (value) return value as Met<T>
    const waitedMs = performance.now() - begin
    if (waitedMs > deadlineMs) throw new Error(`not within ${deadlineMs} ms: ${condition}`)
    const pauseMs = Math.min(Math.max(waitedMs / 2, PAUSE_MS.least), PAUSE_MS.most)
    await new Promise((wake) => setTimeout(wake, pauseMs))
  }
}

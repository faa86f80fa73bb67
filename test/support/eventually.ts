const DEADLINE_MS = 100_000
const INTERVAL_MS = 10

/** Polls until `condition` returns something truthy, and returns that. */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  deadlineMs = DEADLINE_MS,
): Promise<Exclude<T, null | undefined | false>> {
  const deadline = performance.now() + deadlineMs
  for (;;) {
    const value = await condition()
    if (value) return value as Exclude<T, null | undefined | false>
    if (performance.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${condition}`)
    await new Promise((wake) => setTimeout(wake, INTERVAL_MS))
  }
}

import { setImmediate } from 'node:timers/promises'

const SLICE_MS = 10

/** Calls `work` with each item in turn. The event loop turns every 10 ms, so that hundreds of thousands of items hold up nobody. */
export async function eachInSlices<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let sinceMs = performance.now()
  for (const item of items) {
    work(item)
    if (performance.now() - sinceMs < SLICE_MS) continue
    await setImmediate()
    sinceMs = performance.now()
  }
}

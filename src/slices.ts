import { setImmediate } from 'node:timers/promises'
import { mapInSteps, type Steps } from './collections/steps.ts'

const SLICE_MS = 5

/** Does the work in slices: the event loop turns every 5 ms, so that hundreds of thousands of items hold up nobody. */
export async function inSlices<T>(work: Steps<T>): Promise<T> {
  let sinceMs = performance.now()
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    if (performance.now() - sinceMs < SLICE_MS) continue
    await setImmediate()
    sinceMs = performance.now()
  }
}

/** `items.map(work)`, in slices. */
export function mapInSlices<T, U>(items: Iterable<T>, work: (item: T) => U): Promise<U[]> {
  return inSlices(mapInSteps(items, work))
}

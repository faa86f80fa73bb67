import { setImmediate } from 'node:timers/promises'
import { mapInSteps, type Steps } from './collections/steps.ts'

const SLICE_MS = 5

/**
 * Does the work in slices, so that hundreds of thousands of items hold up nobody: the event loop turns every 5 ms, and at the
 * end, because slices of one piece of work after another would otherwise make one long turn.
 */
export async function inSlices<T>(work: Steps<T>): Promise<T> {
  for (;;) {
    const endMs = performance.now() + SLICE_MS
    let step = work.next()
    while (step.done !== true && performance.now() < endMs) step = work.next()
    await setImmediate()
    if (step.done === true) return step.value
  }
}

/** `items.map(work)`, in slices. */
export function mapInSlices<T, U>(items: Iterable<T>, work: (item: T) => U): Promise<U[]> {
  return inSlices(mapInSteps(items, work))
}

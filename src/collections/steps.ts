/** Work on many items, which may pause wherever it yields, so that it does not hold up everything else. */
export type Steps<T> = Generator<undefined, T, void>

/** Does all of the work without a pause. */
export function atOnce<T>(work: Steps<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** `items.map(change)` */
export function* mapInSteps<T, U>(items: Iterable<T>, change: (item: T) => U): Steps<U[]> {
  const changed: U[] = []
  for (const item of items) {
    changed.push(change(item))
    yield
  }
  return changed
}

/** `new Map(items.map(change))` */
export function* mapOfInSteps<T, K, V>(items: Iterable<T>, change: (item: T) => [K, V]): Steps<Map<K, V>> {
  const map = new Map<K, V>()
  for (const item of items) {
    const [key, value] = change(item)
    map.set(key, value)
    yield
  }
  return map
}

/** Items that are sorted without a pause: some 0.2 ms. */
const RUN = 500

/** `items.toSorted(compare)`: runs that are sorted, then merged in pairs, from one array into another and back. */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let sorted = items.slice()
  for (let start = 0; start < sorted.length; start += RUN) {
    const run = sorted.slice(start, start + RUN).sort(compare)
    for (const [index, item] of run.entries()) sorted[start + index] = item
    yield
  }
  let merged = items.slice()
  for (let width = RUN; width < sorted.length; width *= 2) {
    for (let start = 0; start < sorted.length; start += 2 * width)
      yield* mergeInSteps(sorted, merged, { start, middle: start + width, end: start + 2 * width }, compare)
    ;[sorted, merged] = [merged, sorted]
  }
  return sorted
}

function* mergeInSteps<T>(
  from: readonly T[],
  to: T[],
  { start, middle, end }: { readonly start: number; readonly middle: number; readonly end: number },
  compare: (a: T, b: T) => number,
): Steps<void> {
  const leftEnd = Math.min(middle, from.length)
  const rightEnd = Math.min(end, from.length)
  let left = start
  let right = leftEnd
  for (let at = start; at < rightEnd; at += 1) {
    const isRight = left === leftEnd || (right < rightEnd && compare(from[right]!, from[left]!) < 0)
    to[at] = from[isRight ? right : left]!
    if (isRight) right += 1
    else left += 1
    yield
  }
}

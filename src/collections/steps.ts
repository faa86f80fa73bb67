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

/** `items.toSorted(compare)`: runs that are sorted, then merged in pairs. */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let runs: T[][] = []
  for (let start = 0; start < items.length; start += RUN) {
    runs.push(items.slice(start, start + RUN).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let index = 0; index < runs.length; index += 2)
      merged.push(yield* mergeInSteps(runs[index]!, runs[index + 1] ?? [], compare))
    runs = merged
  }
  return runs[0] ?? []
}

function* mergeInSteps<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<T[]> {
  const merged: T[] = []
  let at = 0
  for (const item of left) {
    while (at < right.length && compare(right[at]!, item) < 0) {
      merged.push(right[at++]!)
      yield
    }
    merged.push(item)
    yield
  }
  for (; at < right.length; at += 1) {
    merged.push(right[at]!)
    yield
  }
  return merged
}

import { SeededRandom } from '../../bench/seeded-random.ts'
import type { Kind } from './kind.ts'

/** One planned fault. The same seed, kinds and nodes always make the same schedule. */
export interface Planned {
  readonly kind: Kind
  readonly node: number
  readonly holdMs: number
  /** How long the service runs without faults before it. */
  readonly gapMs: number
  readonly seed: number
}

const GAP_MS = [2_000, 5_000] as const

/** Endless: each kind once in a random order, then all of them again. */
export function* scheduleOf(seed: number, kinds: readonly Kind[], nodes: number): Generator<Planned> {
  const random = new SeededRandom(seed)
  const between = ([least, most]: readonly [number, number]) => least + random.below(most - least + 1)
  for (;;)
    for (const kind of shuffled(kinds, random))
      yield {
        kind,
        node: random.below(nodes),
        holdMs: between(kind.holdMs),
        gapMs: between(GAP_MS),
        seed: random.next(),
      }
}

function shuffled<T>(list: readonly T[], random: SeededRandom): T[] {
  const left = [...list]
  return list.map(() => left.splice(random.below(left.length), 1)[0]!)
}

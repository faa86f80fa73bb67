import type { SeededRandom } from '../../bench/seeded-random.ts'
import type { Bed } from './bed.ts'
import type { Rule } from './judge.ts'
import type { Excuses } from './ledgers.ts'
import type { NodeProcess } from './node-process.ts'

/** Where a fault happens. */
export interface Stage {
  readonly bed: Bed
  /** Its own, so that a schedule is the same whatever came before. */
  readonly random: SeededRandom
  /** The node that is drawn for it. */
  readonly node: NodeProcess
}

/** A fault that is in force. */
export interface Ongoing {
  /** When it came into force, where that is not when it was begun. */
  readonly startMs?: number
  /** The node that is dead, or stands still, from then on. */
  readonly killedNode?: number
  /** Puts everything back; resolves when the harness's part of it is done. */
  end(): Promise<unknown>
}

/** A fault that can be begun and ended, bounded in time. */
export interface Kind {
  readonly name: string
  readonly summary: string
  readonly excuses: Excuses
  /** How long it is in force: drawn between these. */
  readonly holdMs: readonly [least: number, most: number]
  readonly minNodes?: number
  readonly needsStandby?: boolean
  /** Needs a database whose disk can be filled. */
  readonly needsSmallDisk?: boolean
  /** What this machine lacks for it; null: nothing. */
  readonly missing?: () => string | null
  /** What the service does not hold yet under it. A finding of another rule is a failure. */
  readonly known?: readonly Rule[]
  begin(stage: Stage): Promise<Ongoing>
}

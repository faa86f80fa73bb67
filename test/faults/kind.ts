import type { SeededRandom } from '../../bench/seeded-random.ts'
import type { Bed } from './bed.ts'
import type { Rule } from './findings.ts'
import type { Excuses } from './ledgers.ts'
import type { NodeProcess } from './node-process.ts'

/** What a fault acts on. */
export interface Stage {
  readonly bed: Bed
  /** One for each fault, so that a schedule does not depend on what came before. */
  readonly random: SeededRandom
  /** The node chosen for it. */
  readonly node: NodeProcess
}

/** A fault that is in force. */
export interface Ongoing {
  /** When it came into force, if not at the call of `begin`. */
  readonly startMs?: number
  /** The node that is dead, or stands still, from then on. */
  readonly killedNode?: number
  /** Undoes the fault; resolves when the harness's part is done. */
  end(): Promise<unknown>
}

/** A fault that can be begun and ended, bounded in time. */
export interface Kind {
  readonly name: string
  readonly summary: string
  readonly excuses: Excuses
  /** How long it is in force, chosen at random between these. */
  readonly holdMs: readonly [least: number, most: number]
  readonly minNodes?: number
  readonly needsStandby?: boolean
  /** Needs a database whose disk can be filled. */
  readonly needsSmallDisk?: boolean
  /** What this machine lacks for it, or null. */
  readonly missing?: () => string | null
  /** Rules that the service is known not to keep yet under it. A finding of any other rule is a failure. */
  readonly known?: readonly Rule[]
  /** While it is in force the database gives the work of its dead node to nobody. */
  readonly barsTakeover?: true
  begin(stage: Stage): Promise<Ongoing>
}

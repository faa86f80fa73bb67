/** Performs a run of given length and load, and judges it. */
import { SeededRandom } from '../../bench/seeded-random.ts'
import { type Exercise, type Exercised, exercise } from './exercise.ts'
import type { Kind } from './kind.ts'
import { KINDS } from './kinds.ts'
import { scheduleOf } from './schedule.ts'
import { type Summary, summarise } from './summary.ts'

export interface Run {
  readonly nodes: number
  readonly seed: number
  readonly kinds: readonly Kind[]
  readonly seconds: number
  readonly maxFaults: number
  readonly rate: number
}

interface Surroundings
  extends Pick<Exercise, 'folder' | 'databaseFolder' | 'ending' | 'signal' | 'onProgress'> {
  /** The long form: inbound parts also come at once, and the time rules are judged. */
  readonly isLong: boolean
}

export async function perform(
  run: Run,
  { isLong, ...surroundings }: Surroundings,
): Promise<{ readonly exercised: Exercised; readonly summary: Summary }> {
  const { nodes, seed, rate, kinds } = run
  const exercised = await exercise({
    ...run,
    ...surroundings,
    hasStandby: kinds.some(({ needsStandby }) => needsStandby),
    offersPartsAtOnce: isLong,
    random: new SeededRandom(seed),
    schedule: scheduleOf(seed, kinds, nodes),
  })
  const summary = summarise(exercised, { nodes, seed, rate }, { kinds: KINDS, areTimesJudged: isLong })
  return { exercised, summary }
}

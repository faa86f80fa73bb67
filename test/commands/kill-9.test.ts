import { expect, test } from 'vitest'
import { SeededRandom } from '../../bench/seeded-random.ts'
import { exercise } from '../faults/exercise.ts'
import { KINDS, kindsNamed } from '../faults/kinds.ts'
import { scheduleOf } from '../faults/schedule.ts'
import { summarise } from '../faults/summary.ts'
import { scratchFolder } from '../support/process.ts'

/** The least of `npm run faults`, which does the same for every kind of fault. */
test('kill -9 of the service under load, as a carrier has taken a message and not answered, loses nothing', async () => {
  using folder = scratchFolder()
  const [nodes, seed, rate] = [1, 144, 50]
  const { signal } = new AbortController()
  const exercised = await exercise({
    nodes,
    folder: folder.path,
    hasStandby: false,
    databaseFolder: undefined,
    offersPartsAtOnce: false,
    random: new SeededRandom(seed),
    schedule: scheduleOf(seed, kindsNamed(['kill-at-submit']), nodes),
    seconds: 60,
    maxFaults: 1,
    rate,
    ending: signal,
    signal,
    onProgress: () => undefined,
  })
  const { findings, isSettled } = summarise(
    exercised,
    { nodes, seed, rate },
    { kinds: KINDS, areTimesJudged: false },
  )
  expect(exercised.ledgers.faults.map(({ kind }) => kind)).toEqual(['kill-at-submit'])
  expect(exercised.accepted).toBeGreaterThan(100)
  expect(findings).toEqual([])
  expect(isSettled).toBe(true)
}, 240_000)

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { fuzz, SEED, SIDES } from './fuzzing.ts'

/** About a million PDUs in all. */
const SESSIONS = 6_000
const MEMORY_LIMIT = 50 * 1024 * 1024

setFlagsFromString('--expose-gc')
const gc: () => void = runInNewContext('gc')

function memoryInUse(): number {
  gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

it.each(SIDES)(
  `mutated PDUs do no harm to our %s, and leave nothing behind (FUZZ_SEED=${SEED})`,
  async (side) => {
    let sessions = 0
    let baseline = 0
    const onSession = () => {
      sessions += 1
      if (sessions % 300 !== 0) return
      const used = memoryInUse()
      if (baseline === 0) baseline = used
      expect(used - baseline).toBeLessThan(MEMORY_LIMIT)
    }
    expect(await fuzz(side, { sessions: SESSIONS, onSession })).toBeGreaterThan(450_000)
  },
)

import { expect, it } from 'vitest'
import { fuzz, SEED, SIDES } from './fuzzing.ts'

it.each(SIDES)(`mutated PDUs do no harm to our %s, nor to the parsers (FUZZ_SEED=${SEED})`, async (side) => {
  expect(await fuzz(side, { sessions: 150 })).toBeGreaterThan(10_000)
})

import { expect, it } from 'vitest'
import { runFuzz } from '../../bench/fuzz/run.ts'

it('mutated PDUs do no harm to either side, nor to the parsers', async () => {
  const { pdus, sessions } = await runFuzz({ count: 20_000, seed: 34 })
  expect(pdus).toBeGreaterThanOrEqual(20_000)
  // Some sessions were ended by what they were sent, and new ones took their place.
  expect(sessions).toBeGreaterThan(10)
})

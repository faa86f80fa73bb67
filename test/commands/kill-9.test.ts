import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { kindsNamed } from '../faults/kinds.ts'
import { perform } from '../faults/perform.ts'
import { TIMES } from '../faults/summary.ts'
import { scratchFolder } from '../support/process.ts'

/** The least of `npm run faults`, which does the same for every kind of fault. */
test('kill -9 of the service under load, as a carrier has taken a message and not answered, loses nothing', async () => {
  using folder = scratchFolder()
  const { signal } = new AbortController()
  const { exercised, summary } = await perform(
    { nodes: 1, seed: 144, kinds: kindsNamed(['kill-at-submit']), seconds: 60, maxFaults: 1, rate: 20 },
    {
      folder: folder.path,
      databaseFolder: undefined,
      isLong: false,
      ending: signal,
      signal,
      onProgress: () => undefined,
    },
  )
  expect(exercised.ledgers.faults.map(({ kind }) => kind)).toEqual(['kill-at-submit'])
  expect(exercised.accepted).toBeGreaterThan(0)
  // A message that had begun may be in doubt though it was not sent yet: as many as the windows hold.
  const cutOff = exercised.ledgers.sessions.filter(({ isOrderly }) => !isOrderly)
  const windows = cutOff.reduce((sum, { window }) => sum + window, 0)
  const findings = summary.findings.filter(({ rule }) => !TIMES.has(rule))
  const inDoubt = findings.filter(({ rule }) => rule === 'unknown-never-offered')
  const others = findings.filter((finding) => !inDoubt.includes(finding))
  expect(others.map((finding) => inspect(finding))).toEqual([])
  expect(inDoubt.length).toBeLessThanOrEqual(windows)
  expect(summary.isSettled).toBe(true)
}, 420_000)

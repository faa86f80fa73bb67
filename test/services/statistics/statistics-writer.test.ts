import { expect, test } from 'vitest'
import { FLUSH_MS } from '../../../src/domain/statistics/query.ts'
import { StatisticsWriter } from '../../../src/services/statistics/statistics-writer.ts'
import { databaseOfFile } from '../../support/database.ts'
import { gatedDatabase } from '../../support/gated-database.ts'
import { KeptLog } from '../../support/log.ts'

const { db } = await databaseOfFile({ state: 'migrated' })

/** A writer that has counted an inbound message, and whose write takes this long by its clock. */
function writerOf(writeMs: number) {
  let nowMs = Date.now()
  const log = new KeptLog()
  const slow = gatedDatabase(db, async (name, run) => {
    if (name === 'write_statistics') nowMs += writeMs
    return await run()
  })
  const writer = new StatisticsWriter({ db: slow, log, clock: () => nowMs })
  writer.inbound({ inbound: { planId: 1, sender: '+15551230001' }, carrierId: 1 } as never)
  return { writer, log }
}

test('the next write begins 5 s after this one began, however long it takes', async () => {
  for (const [writeMs, restMs] of [
    [0, FLUSH_MS],
    [3_000, 2_000],
    [FLUSH_MS, 0],
  ] as const) {
    const { writer, log } = writerOf(writeMs)
    expect(await writer.runOnce()).toBe(restMs)
    expect(log.lines).toEqual([])
  }
})

test('a write for which a crash would lose more than 10 s says so', async () => {
  const { writer, log } = writerOf(FLUSH_MS + 1)
  expect(await writer.runOnce()).toBe(0)
  expect(log.lines).toEqual([
    {
      level: 'warn',
      message: 'statistics written late: a crash would have lost more than 10 s of them',
      tookMs: FLUSH_MS + 1,
    },
  ])
})

test('a clock that is set back does not put the next write off', async () => {
  const { writer } = writerOf(-60_000)
  expect(await writer.runOnce()).toBe(FLUSH_MS)
})

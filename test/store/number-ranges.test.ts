import { expect, test } from 'vitest'
import { withTransaction } from '../../src/store/database.ts'
import { numberRanges, putNumberRanges } from '../../src/store/number-ranges.ts'
import { freshDatabase } from '../support/database.ts'
import { eventually } from '../support/service.ts'

test('two imports of the same ranges, in opposite orders, wait for each other', async () => {
  await using database = await freshDatabase()
  const { db } = database
  const range = (prefix: string, mccmnc: string) => ({ prefix, mccmnc })
  await putNumberRanges(db, [range('+331', '20801'), range('+332', '20801')])
  let second: Promise<number> | undefined
  await withTransaction(db, async (first) => {
    await putNumberRanges(first, [range('+331', '20802')])
    second = putNumberRanges(db, [range('+332', '20803'), range('+331', '20803')])
    await eventually(async () => {
      const { rows } = await db.query(`select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`)
      return rows.length === 1
    })
    await putNumberRanges(first, [range('+332', '20802')])
  })
  expect(await second).toBe(0)
  expect(await numberRanges.find(db, '+331')).toMatchObject({ mccmnc: '20803' })
})

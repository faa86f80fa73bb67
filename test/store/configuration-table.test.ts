import { expect, test } from 'vitest'
import { type Queryable, withTransaction } from '../../src/store/database.ts'
import { readOneSnapshot } from '../../src/store/directory.ts'
import { numberRanges } from '../../src/store/number-ranges.ts'
import { rates } from '../../src/store/rates.ts'
import { databaseOfFile } from '../support/database.ts'

const { db } = await databaseOfFile()

/** Two full pages, behind which there is nothing. */
const prefixes = Array.from({ length: 5_000 }, (_, n) => `+${10_000 + n}`)
await numberRanges.insertAll(
  db,
  prefixes.map((prefix) => ({ prefix, mccmnc: '24001' })),
)

async function prefixesOf(queryable: Queryable): Promise<string[]> {
  return (await numberRanges.all(queryable)).map(({ prefix }) => prefix)
}

test('every row is read once, by key, over several pages', async () => {
  expect(await prefixesOf(db)).toEqual(prefixes)
})

test('keys that are numbers are in the order of numbers', async () => {
  await db.query(
    `insert into rates (prefix, price, currency) select '+' || n, 1, 'EUR' from generate_series(10001, 12501) n`,
  )
  const ids = (await rates.all(db)).map(({ rateId }) => Number(rateId))
  expect(ids).toHaveLength(2_501)
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  expect(new Set(ids).size).toBe(ids.length)
})

test('the pages are of one state in a transaction that sees one', async () => {
  await withTransaction(db, async (transaction) => {
    await readOneSnapshot(transaction)
    // Behind the first page, others delete all, and add what would be on the next.
    const betweenPages = {
      query: async (...statement: Parameters<Queryable['query']>) => {
        const page = await transaction.query(...statement)
        await db.query('delete from number_ranges')
        await numberRanges.insertAll(db, [{ prefix: '+19999', mccmnc: '24007' }])
        return page
      },
    } as unknown as Queryable
    expect(await prefixesOf(betweenPages)).toEqual(prefixes)
  })
  expect(await prefixesOf(db)).toEqual(['+19999'])
})

import { fault } from '../domain/faults.ts'
import { invalid } from '../errors.ts'
import { type Database, type Queryable, withTransaction } from '../store/database.ts'
import * as store from '../store/number-ranges.ts'
import { refuseConflict, refuseMissing } from './refuse-administration.ts'

/** Every node keeps all of them in memory. */
const MAX_NUMBER_RANGES = 200_000

/** Writes ranges over those that are there, all or none. Gives how many were not there before. */
export async function putNumberRanges(db: Database, ranges: readonly store.NumberRange[]): Promise<number> {
  const seen = new Set<string>()
  const faults = ranges.flatMap(({ prefix }, index) => {
    if (!seen.has(prefix)) {
      seen.add(prefix)
      return []
    }
    return [fault(`ranges.${index}.prefix`, 'REPEATED', 'must not be there twice')]
  })
  if (faults.length > 0) throw invalid(faults)
  return withTransaction(db, async (transaction) => {
    const created = await store.putNumberRanges(transaction, ranges)
    // The insert holds the row of directory_version, so no other transaction can add some beside the count.
    if (created > 0 && (await store.countNumberRanges(transaction)) > MAX_NUMBER_RANGES)
      throw refuseConflict(`there would be more than ${MAX_NUMBER_RANGES} number ranges, which is the most`)
    return created
  })
}

export async function removeNumberRange(db: Queryable, prefix: string): Promise<void> {
  if (!(await store.deleteNumberRange(db, prefix))) throw refuseMissing('number range')
}

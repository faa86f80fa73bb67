import { fault, invalid } from '../errors.ts'
import type { Transaction } from '../store/database.ts'
import * as store from '../store/number-ranges.ts'
import { refuseMore } from './configuration-rows.ts'

/** Every node keeps all of them in memory. */
const MAX_NUMBER_RANGES = 200_000

/** Adds or replaces ranges, all or none. Returns how many are new. */
export async function putNumberRanges(
  transaction: Transaction,
  ranges: readonly store.NumberRange[],
): Promise<number> {
  const seen = new Set<string>()
  const faults = ranges.flatMap(({ prefix }, index) => {
    if (!seen.has(prefix)) {
      seen.add(prefix)
      return []
    }
    return [fault(`ranges.${index}.prefix`, 'REPEATED', 'must not be repeated')]
  })
  if (faults.length > 0) throw invalid(faults)
  const created = await store.putNumberRanges(transaction, ranges)
  if (created > 0) await refuseMore(transaction, store.numberRanges, MAX_NUMBER_RANGES)
  return created
}

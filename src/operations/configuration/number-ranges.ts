import { fault, refuseAny } from '../../errors.ts'
import type { Transaction } from '../../store/database.ts'
import * as store from '../../store/number-ranges.ts'
import { refuseMore } from '../manage/configuration-rows.ts'
import { TableKind } from './kind.ts'

/** Every node keeps all of them in memory. */
const MAX_NUMBER_RANGES = 200_000

export const RANGES = new TableKind<store.NumberRangeRecord>({
  name: 'ranges',
  table: store.numberRanges,
  nameField: 'prefix',
  required: ['mccmnc'],
  most: MAX_NUMBER_RANGES,
  settingsOf: ({ mccmnc }) => ({ mccmnc }),
})

/** Adds or replaces one range. Returns it before and after. */
export async function putNumberRange(
  transaction: Transaction,
  range: store.NumberRange,
): Promise<{ before: store.NumberRangeRecord | undefined; after: store.NumberRangeRecord }> {
  const find = (locking?: 'for update') => store.numberRanges.find(transaction, range.prefix, locking)
  // Adding comes first, because a look-up would not see a range that another transaction is adding.
  const isAdded = await store.addNumberRange(transaction, range)
  if (isAdded) await refuseMore(transaction, store.numberRanges, MAX_NUMBER_RANGES)
  const before = isAdded ? undefined : await find('for update')
  if (!isAdded) await putNumberRanges(transaction, [range])
  return { before, after: (await find())! }
}

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
  refuseAny(faults)
  const created = await store.putNumberRanges(transaction, ranges)
  if (created > 0) await refuseMore(transaction, store.numberRanges, MAX_NUMBER_RANGES)
  return created
}

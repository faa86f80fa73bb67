import type { Queryable } from '../store/database.ts'
import { type ReceiptBatch, recordPlainReceipts, recordReceipts as recordRest } from '../store/receipts.ts'
import type { ChangedMessage } from '../store/submissions.ts'

/**
 * Records receipts, at most one per (carrier, id, addresses). Nearly all of them are plain; only the rest pays for a closer
 * look. Gives the messages that changed. Should the second statement fail, the first stands: repeated, it changes nothing.
 */
export async function recordReceipts(
  db: Queryable,
  args: Omit<ReceiptBatch, 'changedAt'> & { readonly changedAt: () => string },
): Promise<ChangedMessage[]> {
  const { receipts, changedAt, ...how } = args
  const fresh = receipts.filter((row) => row.parked_id === null && !row.unread)
  const others = receipts.filter((row) => row.parked_id !== null || row.unread)
  const plain =
    fresh.length === 0
      ? { changed: [], rest: [] }
      : await recordPlainReceipts(db, { ...how, receipts: fresh, changedAt: changedAt() })
  const rest = [...others, ...plain.rest.map((place) => fresh[place]!)]
  if (rest.length === 0) return plain.changed
  return [...plain.changed, ...(await recordRest(db, { ...how, receipts: rest, changedAt: changedAt() }))]
}

import type { ChangedMessage } from '../domain/messages-in-progress.ts'
import type { Queryable } from '../store/database.ts'
import { type ReceiptBatch, recordPlainReceipts, recordReceipts as recordRest } from '../store/receipts.ts'

/**
 * Records receipts, at most one per (carrier, id, addresses). Nearly all of them are plain; only the rest pays for a closer
 * look, by a statement of its own (docs/adr/0011). `onChanged` is told after each of the two: should the second fail, the
 * first stands. Repeated, it changes nothing.
 */
export async function recordReceipts(
  db: Queryable,
  args: Omit<ReceiptBatch, 'changedAt'> & {
    readonly changedAt: () => string
    readonly onChanged: (messages: readonly ChangedMessage[]) => void
  },
): Promise<void> {
  const { receipts, changedAt, onChanged, ...how } = args
  const fresh = receipts.filter((row) => row.parked_id === null && !row.unread)
  const rest = receipts.filter((row) => row.parked_id !== null || row.unread)
  if (fresh.length > 0) {
    const plain = await recordPlainReceipts(db, { ...how, receipts: fresh, changedAt: changedAt() })
    onChanged(plain.changed)
    rest.push(...plain.rest.map((place) => fresh[place]!))
  }
  if (rest.length > 0) onChanged(await recordRest(db, { ...how, receipts: rest, changedAt: changedAt() }))
}

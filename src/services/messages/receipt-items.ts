import type { ReceiptRow } from '../../store/receipts.ts'

/** A receipt, and what to do when it is recorded (true) or cannot be (false): send its deliver_sm_resp. */
export interface ReceiptItem {
  readonly row: ReceiptRow
  readonly done: ((recorded: boolean) => void) | null
  /** Its message was in progress here, and the receipt has waited for its record. */
  readonly hasWaited?: true
}

/**
 * Returns as `first` the first receipt of each id and recipient (the recipient tells messages apart when a carrier reuses an
 * id). Later ones are `repeated` when they may still change something, that is after an UNKNOWN. After a final one they are
 * `dropped`, because the first final receipt wins, and are only kept.
 */
export function oneForEachId(items: readonly ReceiptItem[]): {
  first: ReceiptItem[]
  repeated: ReceiptItem[]
  dropped: ReceiptItem[]
} {
  const first = new Map<string, ReceiptItem>()
  const repeated: ReceiptItem[] = []
  const dropped: ReceiptItem[] = []
  for (const item of items) {
    const { carrierId, carrierMessageId, addresses, parkedId } = item.row
    const key = `${carrierId}:${carrierMessageId}:${addresses.join()}`
    const earlier = first.get(key)
    if (earlier === undefined) first.set(key, item)
    else if (earlier.row.outcome === 'UNKNOWN' || parkedId !== null) repeated.push(item)
    else dropped.push(item)
  }
  return { first: [...first.values()], repeated, dropped }
}

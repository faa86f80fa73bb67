import type { Directory } from '../domain/directory.ts'
import { type Charge, chargeFor, type Priced } from '../domain/rates.ts'
import type { Queryable } from '../store/database.ts'
import { findPricedMessages } from '../store/priced-messages.ts'
import type { ReceiptRow } from '../store/receipts.ts'

/**
 * Gives the receipts that name another network than their message has (a ported number, or one of no known range) what
 * one of its segments costs there: how many there are is known when the receipt is recorded. Where no rate fits, or the
 * same as for the network before, the message keeps what it was charged, even if that rate was changed since. Reads the
 * database only when some rate is of a network and some receipt names one.
 */
export async function priceReceipts(
  db: Queryable,
  directory: Directory,
  receipts: readonly ReceiptRow[],
): Promise<readonly ReceiptRow[]> {
  const naming = directory.hasNetworkRates ? receipts.filter(({ mccmnc }) => mccmnc !== null) : []
  if (naming.length === 0) return receipts
  const messages = Map.groupBy(
    await findPricedMessages(
      db,
      naming.map(({ carrier_id, carrier_message_id }) => ({ carrier_id, carrier_message_id })),
    ),
    ({ carrierId, carrierMessageId }) => `${carrierId}:${carrierMessageId}`,
  )
  return receipts.map((receipt) => {
    const { carrier_id, carrier_message_id, mccmnc } = receipt
    const charges: Record<string, Charge> = {}
    for (const message of messages.get(`${carrier_id}:${carrier_message_id}`) ?? []) {
      const charge = mccmnc === null ? null : chargeOfNetwork(directory, mccmnc, message)
      if (charge !== null) charges[message.msgId] = charge
    }
    return { ...receipt, charges }
  })
}

/** What a segment of the message costs in the network that its receipt names; null: what it was charged stays. */
export function chargeOfNetwork(
  directory: Directory,
  mccmnc: string,
  message: Priced & { readonly isCharged: boolean },
): Charge | null {
  if (message.mccmnc === mccmnc) return null
  const rate = directory.rateFor({ ...message, mccmnc })
  if (rate === null || (message.isCharged && rate === directory.rateFor(message))) return null
  return chargeFor(rate, 1)
}

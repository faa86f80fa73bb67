/** Messages that a carrier has answered, and what its receipts say of them. */

import type { EventHolder } from '../../src/domain/events.ts'
import type { IncomingReceipt } from '../../src/domain/journal/incoming-receipts.ts'
import type { Settled } from '../../src/domain/journal/message-facts.ts'
import type { ChangedMessage } from '../../src/domain/journal/messages-in-progress.ts'
import { type ReceiptOptions, recordReceipts } from '../../src/operations/record-receipts.ts'
import type { OutcomeFacts } from '../../src/services/messages/journal-items.ts'
import type { Database } from '../../src/store/database.ts'
import { installedDatabase } from './installation.ts'
import { HOLDER, receiptOptions, recordOutcomes, sent, storeMessage, submission } from './stored-messages.ts'

/** A database for all tests of a file, made outside of any. Everything happens to its announced plan, `plan`. */
export async function recordedMessages() {
  const installed = await installedDatabase()
  const { db, announcedPlan: plan } = installed

  function record(
    settlements: readonly OutcomeFacts[],
    submissions: readonly OutcomeFacts[] = [],
    pool: Database = db,
    holder: EventHolder = HOLDER,
  ): Promise<readonly ChangedMessage[]> {
    return recordOutcomes(pool, [...submissions, ...settlements], holder)
  }

  /** A message whose segments were accepted under the ids `<msgId>/<segment>`. */
  async function submitted(
    segments = 1,
    changes: Parameters<typeof storeMessage>[2] = {},
    settlement: Partial<Settled> = {},
  ): Promise<string> {
    const msgId = await storeMessage(db, plan, { segments, ...changes })
    await record(
      [sent(plan, msgId, settlement)],
      Array.from({ length: segments }, (_, n) => submission(plan, msgId, `${msgId}/${n}`, n)),
    )
    return msgId
  }

  /** What changed. `inMs`: at a later time. */
  async function apply(
    receipts: readonly IncomingReceipt[],
    { pool = db, inMs = 0, ...changes }: Partial<ReceiptOptions> & { pool?: Database; inMs?: number } = {},
  ): Promise<readonly ChangedMessage[]> {
    const options = receiptOptions({ atMs: Date.now() + inMs, ...changes })
    return (await recordReceipts(pool, receipts, options)).changed
  }

  async function columns(msgId: string) {
    const { rows } = await db.query(
      `select status, event_sequence, error_code, carrier_code, mccmnc, delivered_bits::text as delivered,
              unknown_bits::text as unknown, updated_at from messages where msg_id = $1`,
      [msgId],
    )
    return rows[0]
  }

  return { ...installed, plan, record, submitted, apply, columns }
}

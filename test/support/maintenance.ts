/** A database that has been in use for some days, and the maintenance of it. */

import type { IncomingReceipt } from '../../src/domain/journal/incoming-receipts.ts'
import { recordReceipts } from '../../src/operations/record-receipts.ts'
import { ensurePartitions } from '../../src/services/upkeep/day-partitions.ts'
import { Maintenance, type MaintenanceOptions } from '../../src/services/upkeep/maintenance.ts'
import { installedDatabase, newId } from './installation.ts'
import { strictLog } from './log.ts'
import { NOBODY, receiptOptions } from './stored-messages.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
export const NOW_MS = Date.UTC(2026, 2, 10, 12)
export const OVERDUE_MS = NOW_MS - 72 * HOUR_MS

interface NewRow {
  readonly msgId: string
  readonly status?: string
  readonly callbackUrl?: string | null
}

/** One for all tests of a file, made outside of any. */
export async function maintainedDatabase() {
  const installed = await installedDatabase({ atMs: NOW_MS, poolSize: 8 })
  const { db, directory, announcedPlan } = installed
  for (let age = 10; age > 0; age -= 1) await ensurePartitions(db, NOW_MS - age * DAY_MS)
  let changes = 0

  /** Failures fail the test, unless it looks at them itself. */
  function maintenance(given: Partial<MaintenanceOptions> = {}): Maintenance {
    return new Maintenance({
      db,
      directory: () => directory,
      newMessageId: () => newId(NOW_MS),
      retentionDays: 35,
      auditRetentionDays: 400,
      clock: () => NOW_MS,
      applyReceipts: apply,
      translateReceipts: async () => ({ receipts: [], more: false }),
      log: strictLog,
      ...given,
    })
  }

  async function apply(receipts: readonly IncomingReceipt[]): Promise<void> {
    changes += 1
    await recordReceipts(db, receipts, receiptOptions({ atMs: NOW_MS + changes, holder: NOBODY }))
  }

  async function addMessages(rows: readonly NewRow[]): Promise<void> {
    for (const row of rows) {
      await db.query(
        `insert into messages (plan_id, msg_id, status, event_sequence, segments, updated_at, sender, recipient, body,
                               callback_url)
         values ($1, $2, $3, 1, 1, now(), 'Sender', '+491701234567', 'text', $4)`,
        [
          announcedPlan,
          row.msgId,
          row.status ?? 'SENT',
          row.callbackUrl === undefined ? 'https://example.com/dlr' : row.callbackUrl,
        ],
      )
    }
  }

  async function messageRow(msgId: string) {
    const { rows } = await db.query(
      `select status, event_sequence as sequence, error_code as "errorCode", updated_at as "updatedAt" from messages
       where msg_id = $1`,
      [msgId],
    )
    return rows[0]
  }

  return { ...installed, maintenance, apply, addMessages, messageRow }
}

import { expect } from 'vitest'
import { RECEIPT_GRACE_MS, VALIDITY_MS } from '../../src/domain/messages/messages.ts'
import { Maintenance } from '../../src/services/upkeep/maintenance.ts'
import { readDirectory } from '../../src/store/directory.ts'
import { strictLog } from '../support/log.ts'
import type { Service } from '../support/service.ts'

/** Days later no receipt has come: the message is UNKNOWN, and its webhook says so. */
export async function becomesOverdue(service: Service, msgId: string): Promise<void> {
  await service.recorded(msgId)
  const directory = await readDirectory(service.db, (sealed) => sealed)
  const maintenance = new Maintenance({
    db: service.db,
    directory: () => directory,
    newMessageId: () => {
      throw new Error('no inbound message is under way')
    },
    retentionDays: 30,
    auditRetentionDays: 400,
    clock: () => Date.now() + VALIDITY_MS + RECEIPT_GRACE_MS + 60_000,
    applyReceipts: async () => undefined,
    translateReceipts: async () => ({ receipts: [], more: false }),
    log: strictLog,
  })
  await maintenance.runOnce()
  const record = await service.until(msgId, 'UNKNOWN')
  expect(record.errorCode).toBe('601')
  await service.makeDue()
  await service.untilWebhooks(msgId, ['SENT', 'UNKNOWN'])
}

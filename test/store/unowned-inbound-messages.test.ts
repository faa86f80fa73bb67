import { expect, test } from 'vitest'
import { lowestIdAt } from '../../src/domain/identifiers.ts'
import {
  deleteUnownedBefore,
  insertInboundMessages,
  listUnownedInboundMessages,
} from '../../src/store/inbound-messages.ts'
import { databaseOfFile } from '../support/database.ts'
import { newId } from '../support/installation.ts'

const NOW_MS = Date.UTC(2026, 2, 10, 12)
const { db } = await databaseOfFile()

test('deleteUnownedBefore deletes the older ones, in bounded steps', async () => {
  const ids = [3, 2, 1].map((age) => newId(NOW_MS - age * 1_000))
  const of = {
    planId: null,
    carrierId: 2,
    parts: 1,
    partsExpected: 1,
    sender: '+491701234567',
    recipient: '+49301234567',
    body: 'Hej',
  }
  const rows = ids.map((msgId) => ({ ...of, msgId, keyword: null, announced: false, occurredAtMs: NOW_MS }))
  await insertInboundMessages(db, rows, { nodeId: 3, buckets: [] })
  const before = lowestIdAt(NOW_MS - 1_000)
  expect(await deleteUnownedBefore(db, before, 1)).toBe(1)
  expect(await deleteUnownedBefore(db, before, 5)).toBe(1)
  expect(await deleteUnownedBefore(db, before, 5)).toBe(0)
  const left = await listUnownedInboundMessages(db, { before: null, limit: 10 })
  expect(left.map(({ msgId }) => msgId)).toEqual([ids[2]])
})

import { beforeEach, describe, expect, test } from 'vitest'
import { type Queryable, withTransaction } from '../../src/store/database.ts'
import {
  findIdempotencyKeys,
  type IdempotencyKey,
  takeIdempotencyKeys,
} from '../../src/store/idempotency-keys.ts'
import { installedDatabase, newId, otherPool } from '../support/installation.ts'
import { clearTables, storeMessage } from '../support/stored-messages.ts'

const LIFETIME_MS = 86_400_000

const { db, connectionString, announcedPlan: plan, silentPlan: otherPlan } = await installedDatabase()

beforeEach(() => clearTables(db, 'messages', 'dispatches', 'idempotency_keys'))

function aKey(key: string, request = 'request', atMs = Date.now()): IdempotencyKey {
  const hash = (text: string) => Buffer.from(text.padEnd(32))
  return { planId: plan, keyHash: hash(key), requestHash: hash(request), msgId: newId(atMs) }
}

const takeIn = (tx: Queryable, keys: readonly IdempotencyKey[]) =>
  takeIdempotencyKeys(tx, keys, LIFETIME_MS, '100')

const take = async (keys: readonly IdempotencyKey[]) =>
  (await withTransaction(db, (tx) => takeIn(tx, keys))).taken

const idsOf = (...keys: readonly IdempotencyKey[]) => new Set(keys.map(({ msgId }) => msgId))

describe('a key', () => {
  test('that is live is not taken twice, and names the first message', async () => {
    const [first, second, other] = [aKey('a'), aKey('a', 'changed'), aKey('b')]
    expect(await take([first])).toEqual(idsOf(first))
    expect(await take([second, other])).toEqual(idsOf(other))
    expect(await findIdempotencyKeys(db, [second])).toEqual([first])
  })

  test('of another plan is another one', async () => {
    const [one, two] = [aKey('same'), { ...aKey('same'), planId: otherPlan }]
    expect(await take([one, two])).toEqual(idsOf(one, two))
  })

  test('that is old is taken over', async () => {
    const [old, young] = [aKey('old', 'request', Date.now() - LIFETIME_MS - 1_000), aKey('old')]
    await take([old])
    expect(await take([young])).toEqual(idsOf(young))
    expect(await findIdempotencyKeys(db, [old])).toEqual([young])
  })

  test('is free again where its message was refused, and only there', async () => {
    const [refused, failed] = [aKey('refused'), aKey('failed')]
    await take([refused, failed])
    for (const { msgId } of [refused, failed]) await storeMessage(db, plan, { msg_id: msgId })
    await db.query(
      `update messages set status = 'FAILED', error_code = case msg_id when $1 then '100' else '300' end`,
      [refused.msgId],
    )
    const [again, other] = [aKey('refused'), aKey('failed')]
    expect(await take([again, other])).toEqual(idsOf(again))
  })

  test('that another transaction takes is busy until that has ended; the others of the batch are taken', async () => {
    const [first, second, other] = [aKey('a'), aKey('a'), aKey('b')]
    const open = await db.connect()
    await open.query('begin')
    expect((await takeIn(open, [first])).taken).toEqual(idsOf(first))
    const beside = await withTransaction(db, (tx) => takeIn(tx, [second, other]))
    expect(beside).toEqual({ taken: idsOf(other), busy: idsOf(second) })
    await open.query('rollback')
    open.release()
    expect(await take([second])).toEqual(idsOf(second))
  })

  test("that two nodes take at once is one node's, and none waits for the other", async () => {
    await using other = otherPool(connectionString)
    for (let round = 0; round < 5; round += 1) {
      const keys = () => Array.from({ length: 20 }, (_, n) => aKey(`race ${round} ${n}`))
      const both = await Promise.all([
        withTransaction(db, (tx) => takeIn(tx, keys())),
        withTransaction(other.db, (tx) => takeIn(tx, keys().reverse())),
      ])
      expect(both[0].taken.size + both[1].taken.size).toBe(20)
    }
  })
})

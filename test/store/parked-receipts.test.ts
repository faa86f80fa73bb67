import { beforeEach, describe, expect, test } from 'vitest'
import type { RuleInForce } from '../../src/domain/carriers/message-ids.ts'
import {
  countParkedReceipts,
  findCandidates,
  findMatchableReceipts,
  findParkedReceipts,
  findReceiptsTranslatedUnder,
  type ParkedPlace,
  storeTranslations,
} from '../../src/store/parked-receipts.ts'
import { CARRIER_ID, installedDatabase } from '../support/installation.ts'
import { clearTables, recordOutcomes, sent, storeMessage, submission } from '../support/stored-messages.ts'

const OLDEST: ParkedPlace = { parkedAt: new Date(0).toISOString(), parkedId: 0 }
const { db, announcedPlan: plan } = await installedDatabase()

beforeEach(() => clearTables(db, 'parked_receipts', 'submissions'))

async function park(
  id: string,
  { age = '1 second', untranslated = false, carrier = CARRIER_ID } = {},
): Promise<void> {
  await db.query(
    `insert into parked_receipts (carrier_id, carrier_message_id, addresses, outcome, error_code, received_at, untranslated, id_rule)
     values ($1, $2, '{15551230000,12345}', 'DELIVERED', '000', now() - $3::interval, $4,
             case when $4 then 'auto' else 'exact' end)`,
    [carrier, id, age, untranslated],
  )
}

async function submitted(id: string, changes: Parameters<typeof storeMessage>[2] = {}): Promise<string> {
  const msgId = await storeMessage(db, plan, changes)
  await recordOutcomes(db, [submission(plan, msgId, id), sent(plan, msgId)])
  return msgId
}

const ids = (rows: readonly { carrierMessageId: string }[]) => rows.map((row) => row.carrierMessageId)

test('findParkedReceipts gives the first few of each id', async () => {
  for (let n = 0; n < 30; n += 1) await park('one for all')
  await park('another')
  const found = await findParkedReceipts(db, [
    { carrierId: CARRIER_ID, carrierMessageId: 'one for all' },
    { carrierId: CARRIER_ID, carrierMessageId: 'another' },
  ])
  expect(ids(found).filter((id) => id === 'one for all')).toHaveLength(20)
  expect(ids(found)).toContain('another')
  expect(found[0]!.parkedId).toBe(Math.min(...found.map(({ parkedId }) => parkedId!)))
})

describe('findMatchableReceipts', () => {
  test('looks through all of them, however old, a batch at a time', async () => {
    for (let n = 0; n < 7; n += 1) await park(`p${n}`, { age: `${70 - n} hours` })
    for (const id of ['p0', 'p3', 'p6']) await submitted(id)
    const seen: string[][] = []
    let after: ParkedPlace | null = OLDEST
    while (after !== null) {
      const { receipts, last } = await findMatchableReceipts(db, after, 3)
      seen.push(ids(receipts))
      after = last
    }
    expect(seen).toEqual([['p0'], ['p3'], ['p6']])
  })

  test('receipts of one instant are each seen once', async () => {
    await db.query(
      `insert into parked_receipts (carrier_id, carrier_message_id, outcome, error_code, received_at, parked_at)
       select $1, 'same', 'UNKNOWN', '600', now(), date_trunc('second', now()) from generate_series(1, 5)`,
      [CARRIER_ID],
    )
    await submitted('same')
    const seen: (number | null)[] = []
    let after: ParkedPlace | null = OLDEST
    while (after !== null) {
      const { receipts, last } = await findMatchableReceipts(db, after, 2)
      seen.push(...receipts.map((receipt) => receipt.parkedId))
      after = last
    }
    expect(new Set(seen).size).toBe(5)
    expect(seen).toHaveLength(5)
  })

  test('untranslated ones are left alone', async () => {
    await park('x', { untranslated: true })
    await submitted('x')
    expect((await findMatchableReceipts(db, OLDEST, 10)).receipts).toEqual([])
  })
})

test('a receipt is found by the rule it was read under, and by its id once it is read anew', async () => {
  await park('500', { untranslated: true })
  await park('501', { untranslated: true, age: '10 minutes' })
  await park('502', { untranslated: true, carrier: CARRIER_ID + 1 })
  await park('503')
  const of = (idRules: RuleInForce[], carrierId = CARRIER_ID) => [{ carrierId, idRules }]
  const all = { since: new Date(0).toISOString(), limit: 10 }
  expect(ids(await findReceiptsTranslatedUnder(db, of(['auto']), all)).sort()).toEqual(['500', '501'])
  expect(ids(await findReceiptsTranslatedUnder(db, of(['exact', 'auto']), all)).sort()).toEqual([
    '500',
    '501',
    '503',
  ])
  const both = [...of(['auto']), ...of(['auto'], CARRIER_ID + 1)]
  expect(await findReceiptsTranslatedUnder(db, both, { ...all, limit: 2 })).toHaveLength(2)
  const since = new Date(Date.now() - 60_000).toISOString()
  const [recent] = await findReceiptsTranslatedUnder(db, of(['auto']), { ...all, since })
  const addresses = ['15551230000', '12345']
  expect(recent).toMatchObject({ carrierMessageId: '500', receiptedId: null, addresses, untranslated: true })
  const { carrierId, carrierMessageId } = recent!
  const parkedId = recent!.parkedId!
  const read = { translatedId: '1f4', idRule: 'decimal-hex', untranslated: false } as const
  await storeTranslations(db, [{ carrierId, carrierMessageId, parkedId, ...read }])
  expect(ids(await findReceiptsTranslatedUnder(db, of(['auto']), all))).toEqual(['501'])
  expect(await findParkedReceipts(db, [{ carrierId, carrierMessageId: '1f4' }])).toMatchObject([
    { parkedId, untranslated: false, receiptedId: '500', idRule: 'decimal-hex' },
  ])
  expect(await countParkedReceipts(db, 3)).toBe(3)
})

test('no carrier keeps the receipts of another from being read; the newest of each come first', async () => {
  for (let n = 0; n < 5; n += 1) await park(`${n}`, { untranslated: true, age: `${9 - n} seconds` })
  for (const id of ['5', '6']) await park(id, { untranslated: true, carrier: CARRIER_ID + 1 })
  const carriers = [CARRIER_ID, CARRIER_ID + 1].map((carrierId) => ({
    carrierId,
    idRules: ['auto'] as const,
  }))
  const since = new Date(0).toISOString()
  const found = await findReceiptsTranslatedUnder(db, carriers, { since, limit: 4 })
  expect(ids(found).sort()).toEqual(['3', '4', '5', '6'])
})

test('candidates: the messages of each spelling, each once, and whether the address is theirs', async () => {
  const [first, second, third] = [
    await submitted('1f4'),
    await submitted('500', { recipient: '+15559990000' }),
    await storeMessage(db, plan, { segments: 2 }),
  ]
  await recordOutcomes(db, [
    submission(plan, third, '1280', 0),
    submission(plan, third, '1280', 1),
    sent(plan, third),
  ])
  const asked = (index: number, id: string) => ({
    index,
    carrierId: CARRIER_ID,
    carrierMessageId: id,
    addresses: ['15551230000'],
  })
  const found = await findCandidates(db, [
    asked(0, '1f4'),
    asked(0, '500'),
    asked(1, '1280'),
    asked(2, 'none'),
  ])
  expect(found.toSorted((a, b) => a.carrierMessageId.localeCompare(b.carrierMessageId))).toEqual([
    { index: 1, carrierMessageId: '1280', msgId: third, fits: true },
    { index: 0, carrierMessageId: '1f4', msgId: first, fits: true },
    { index: 0, carrierMessageId: '500', msgId: second, fits: false },
  ])
})

import { describe, expect, test } from 'vitest'
import type { Rate } from '../../src/domain/configuration/configuration.ts'
import type { Directory } from '../../src/domain/configuration/directory.ts'
import type { IncomingReceipt } from '../../src/domain/journal/incoming-receipts.ts'
import type { Settled } from '../../src/domain/journal/message-facts.ts'
import { aDirectory } from '../support/directory.ts'
import { recordedMessages } from '../support/recorded-messages.ts'
import { announced, receipt, sent, storeMessage, submission } from '../support/stored-messages.ts'

const recorded = await recordedMessages()
const { db, plan, record, submitted } = recorded

const rate = (fields: Partial<Rate>): Rate => ({
  id: 1,
  planId: null,
  prefix: null,
  country: null,
  mccmnc: null,
  price: '0.007500',
  ptf: '0.000000',
  currency: 'USD',
  ...fields,
})
const rates = [rate({ country: 'US' }), rate({ mccmnc: '310410', price: '0.009000', ptf: '0.003000' })]
const RATES = aDirectory({ rates })

const CHARGE = { price: '0.0075', ptf: '0', currency: 'USD' }
const PRICED = { mccmnc: '310260', charge: CHARGE }

/** As for 310260, unless the settlement says otherwise. */
const priced = (segments = 1, settlement: Partial<Settled> = {}) =>
  submitted(segments, {}, { ...PRICED, ...settlement })

const apply = (receipts: readonly IncomingReceipt[], directory: Directory = RATES) =>
  recorded.apply(receipts, { directory })

async function charged(msgId: string): Promise<string> {
  const { rows } = await db.query(
    `select mccmnc || ' ' || coalesce(concat_ws(' ', trim_scale(price), trim_scale(ptf), currency), '') as charged
     from messages where msg_id = $1`,
    [msgId],
  )
  return rows[0].charged
}

async function announcedPrices(msgId: string): Promise<(string | null)[]> {
  const { rows } = await db.query(
    'select trim_scale(price)::text as price from events where msg_id = $1 order by sequence',
    [msgId],
  )
  return rows.map(({ price }) => price)
}

test('a receipt that names another network brings its price, in the event of that receipt', async () => {
  const msgId = await priced()
  await apply([receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: '310410' })])
  expect(await charged(msgId)).toBe('310410 0.009 0.003 USD')
  expect(await announcedPrices(msgId)).toEqual(['0.0075', '0.009'])
})

test('a receipt that names the same network, or none, changes no price', async () => {
  const changedRates = aDirectory({ rates: [rate({ mccmnc: '310260', price: '9' })] })
  for (const mccmnc of ['310260', null]) {
    const msgId = await priced()
    await apply([receipt(`${msgId}/0`, 'DELIVERED', { mccmnc })], changedRates)
    expect(await charged(msgId)).toBe('310260 0.0075 0 USD')
  }
})

test('a network with the same rate as the one before changes no price, though the rate was changed since', async () => {
  const raised = aDirectory({
    rates: [rate({ country: 'US', price: '9' }), rate({ id: 2, mccmnc: '310410' })],
  })
  const msgId = await priced(1, { mccmnc: null })
  await apply([receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: '310260' })], raised)
  expect(await charged(msgId)).toBe('310260 0.0075 0 USD')
})

test('a message without a price gets one, by the rate of any network too', async () => {
  const msgId = await priced(1, { mccmnc: null, charge: null })
  await apply([receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: '310260' })])
  expect(await charged(msgId)).toBe('310260 0.0075 0 USD')
})

test('a message without a price gets one when the network has a rate', async () => {
  const nothing = { mccmnc: null, charge: null }
  const msgId = await priced(1, nothing)
  await apply([receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: '310410' })])
  expect(await charged(msgId)).toBe('310410 0.009 0.003 USD')
})

test('the price is that of all segments, whichever receipt names the network, and comes without an event', async () => {
  const msgId = await priced(3, { charge: { ...CHARGE, price: '0.0225' } })
  await apply([
    receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: null }),
    receipt(`${msgId}/1`, 'DELIVERED', { mccmnc: '310410' }),
  ])
  expect(await charged(msgId)).toBe('310410 0.027 0.009 USD')
  expect(await announced(db, msgId)).toEqual(['SENT'])
  await apply([receipt(`${msgId}/2`, 'DELIVERED', { mccmnc: '310410' })])
  expect(await announcedPrices(msgId)).toEqual(['0.0225', '0.027'])
})

test('where no rate fits, what was charged stays', async () => {
  const msgId = await priced()
  const elsewhere = aDirectory({ rates: [rate({ mccmnc: '23410' })] })
  await apply([receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: '310410' })], elsewhere)
  expect(await charged(msgId)).toBe('310410 0.0075 0 USD')
})

test('a repeated receipt, or one after the end, corrects nothing', async () => {
  const msgId = await priced()
  await apply([receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: '310260' })])
  await apply([receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: '310410' })])
  expect(await charged(msgId)).toBe('310260 0.0075 0 USD')
  expect(await announced(db, msgId)).toEqual(['SENT', 'DELIVERED'])
})

test.each([
  ['310260', '310410', '310410 0.018 0.006 USD'],
  ['310410', '310260', '310260 0.015 0 USD'],
  ['310410', '311480', '311480 0.015 0 USD'],
])('receipts of one batch name %s, then %s: the price is that of the last', async (...names) => {
  const [first, second, charge] = names
  const msgId = await priced(2, { charge: { ...CHARGE, price: '0.015' } })
  await apply([
    receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: first }),
    receipt(`${msgId}/1`, 'DELIVERED', { mccmnc: second }),
  ])
  expect(await charged(msgId)).toBe(charge)
})

describe('a receipt before the message is settled', () => {
  /** A message of two segments as accepted, of which the first was delivered in 310410 before the rest was sent. */
  async function halfDelivered(): Promise<string> {
    const msgId = await storeMessage(db, plan, { segments: 2 })
    await record([], [submission(plan, msgId, `${msgId}/0`, 0)])
    await apply([receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: '310410' })])
    return msgId
  }

  test.each([
    ['as many segments as were accepted', 2, '310410 0.018 0.006 USD'],
    ['more', 3, '310410 0.027 0.009 USD'],
    ['fewer', 1, '310410 0.009 0.003 USD'],
    ['nobody knows how many', null, '310410 0.018 0.006 USD'],
  ])('its price stands, for the segments that were sent: %s', async (_name, segments, charge) => {
    const msgId = await halfDelivered()
    await record([sent(plan, msgId, { ...PRICED, segments })])
    expect(await charged(msgId)).toBe(charge)
  })

  test('nothing is charged where the carrier refuses the rest', async () => {
    const msgId = await halfDelivered()
    await record([sent(plan, msgId, { status: 'FAILED', errorCode: '301', segments: 2 })])
    expect(await charged(msgId)).toBe('310410 ')
    expect(await announcedPrices(msgId)).toEqual([null])
  })

  test('what a receipt has ended keeps its price, for the segments that were sent', async () => {
    const msgId = await storeMessage(db, plan, { segments: 2 })
    await record([], [submission(plan, msgId, `${msgId}/0`, 0)])
    await apply([receipt(`${msgId}/0`, 'FAILED', { mccmnc: '310410' })])
    await record([sent(plan, msgId, { ...PRICED, segments: 3 })])
    expect(await charged(msgId)).toBe('310410 0.027 0.009 USD')
  })
})

test('UNKNOWN, then DELIVERED by another network', async () => {
  const msgId = await priced()
  await apply([receipt(`${msgId}/0`, 'UNKNOWN', { mccmnc: null })])
  await apply([receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: '310410' })])
  expect(await announcedPrices(msgId)).toEqual(['0.0075', '0.0075', '0.009'])
})

test('the rate of its own plan, and no message of another plan is touched', async () => {
  const msgId = await priced()
  const other = await priced()
  const own = rate({ planId: plan, mccmnc: '310410', price: '1', currency: 'EUR' })
  await apply(
    [receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: '310410' }), receipt('nobody-knows', 'FAILED')],
    aDirectory({ rates: [...rates, own] }),
  )
  expect(await charged(msgId)).toBe('310410 1 0 EUR')
  expect(await charged(other)).toBe('310260 0.0075 0 USD')
})

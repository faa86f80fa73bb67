import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { type Service, startService } from '../support/service.ts'
import { accept, type Smsc, startSmsc } from '../support/smsc.ts'

/** 3 segments of the GSM alphabet. */
const THREE_PARTS = 'part '.repeat(80)
const SWEDE = '+46701234567'
const BRITON = '+447700900123'

let smsc: Smsc
let service: Service
/** Ids differ from test to test. */
let run = 0

beforeAll(async () => {
  smsc = await startSmsc()
  service = await startService({ smscPort: smsc.port })
  await smsc.bound()
  const { servicePlanId } = service
  for (const rate of [
    { country: 'US', price: 0.0075, currency: 'USD' },
    { mccmnc: '310410', price: '0.0075', ptf: '0.003', currency: 'USD' },
    { country: 'GB', price: '0.04', currency: 'GBP' },
    { servicePlanId, prefix: '+44', price: '0.035', ptf: '0.001', currency: 'EUR' },
    { mccmnc: '24001', price: '0.5', currency: 'SEK' },
  ]) {
    await service.admin('POST', '/rates', rate)
  }
})

beforeEach(() => {
  run += 1
  const first = smsc.submits.length
  smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `r${run}-${index - first}`))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await smsc[Symbol.asyncDispose]()
})

interface Priced {
  readonly price: number | null
  readonly ptf: number | null
  readonly currency: string | null
  readonly mccmnc: string | null
}

const FREE: Priced = { price: null, ptf: null, currency: null, mccmnc: null }

function pricedOf({ price, ptf, currency, mccmnc }: Priced): Priced {
  return { price, ptf, currency, mccmnc }
}

/** What the webhooks of a message said of its price, in order. */
function announced(msgId: string): Priced[] {
  const records = service.receiver.received.map(({ body }) => JSON.parse(body))
  return records.filter((record) => record.msgId === msgId).map(pricedOf)
}

/** A receipt of segment `part` that says DELIVRD and names a network. */
async function delivered(part: number, mccmnc: string): Promise<void> {
  const text = `id:r${run}-${part} sub:001 dlvrd:001 done date:2601010001 stat:DELIVRD err:000 mccmnc:${mccmnc} text:`
  const status = await smsc.receipt('', '', { short_message: Buffer.from(text) })
  expect(status).toBe(STATUSES.ESME_ROK)
}

describe('prices', () => {
  test('null when it is accepted, filled when it is sent, corrected by a receipt naming another network', async () => {
    const { body: accepted } = await service.send()
    expect(pricedOf(accepted)).toEqual(FREE)
    const { msgId } = accepted
    const sent = { price: 0.0075, ptf: 0, currency: 'USD', mccmnc: null }
    expect(pricedOf(await service.until(msgId, 'SENT'))).toEqual(sent)
    await delivered(0, '310410')
    const final = { price: 0.0075, ptf: 0.003, currency: 'USD', mccmnc: '310410' }
    expect(pricedOf(await service.until(msgId, 'DELIVERED'))).toEqual(final)
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    expect(announced(msgId)).toEqual([sent, final])
    await delivered(0, '310260')
    expect(pricedOf((await service.get(msgId)).body)).toEqual(final)
  })

  test('a receipt that names a network without a rate of its own changes the network only', async () => {
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    await delivered(0, '311480')
    expect(pricedOf(await service.until(msgId, 'DELIVERED'))).toEqual({
      price: 0.0075,
      ptf: 0,
      currency: 'USD',
      mccmnc: '311480',
    })
  })

  test('of each segment, exactly', async () => {
    const msgId = await service.sent({ body: THREE_PARTS })
    expect(await service.until(msgId, 'SENT')).toMatchObject({ segments: 3, price: 0.0225, ptf: 0 })
    for (const part of [2, 0, 1]) await delivered(part, '310410')
    expect(await service.until(msgId, 'DELIVERED')).toMatchObject({ price: 0.0225, ptf: 0.009 })
  })

  test("by the plan's own rates before those for all", async () => {
    const msgId = await service.sent({ to: BRITON })
    expect(await service.until(msgId, 'SENT')).toMatchObject({ price: 0.035, ptf: 0.001, currency: 'EUR' })
  })

  test('a message without a rate has none, until its network is known', async () => {
    const msgId = await service.sent({ to: SWEDE })
    expect(pricedOf(await service.until(msgId, 'SENT'))).toEqual(FREE)
    await delivered(0, '24001')
    expect(await service.until(msgId, 'DELIVERED')).toMatchObject({ price: 0.5, currency: 'SEK' })
  })

  test('what was refused costs nothing', async () => {
    smsc.answerSubmits((pdu, link) => link.respond(pdu, STATUSES.ESME_RINVDSTADR))
    expect(pricedOf(await service.until(await service.sent(), 'FAILED'))).toEqual(FREE)
  })
})

test('a sender rule holds for its country only, at once', async () => {
  const rule = await service.admin('POST', '/sender-rules', { country: 'SE', senderTypes: ['e164'] })
  const refused = await service.send({ to: SWEDE })
  expect(`${refused.status} ${refused.body.errorCode}`).toBe('403 SENDER_NOT_AUTHORIZED')
  expect(refused.body.errorMessage).toBe(
    'A sender of this type (alphanumeric) is not allowed for recipients in SE',
  )
  expect((await service.send({ to: BRITON })).status).toBe(202)
  const own = { servicePlanId: service.servicePlanId, country: 'SE', senderTypes: ['alphanumeric'] }
  await service.admin('POST', '/sender-rules', own)
  expect((await service.send({ to: SWEDE })).status).toBe(202)
  await service.admin('DELETE', `/sender-rules/${rule.ruleId}`)
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildHeader, UDHI } from '../../src/domain/concatenation.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually, INBOUND_NUMBER, type Service, startService } from '../support/service.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'

const LONG = 'A message that does not fit into one part. '.repeat(9)

let smsc: Smsc
let service: Service
let run = 0

beforeAll(async () => {
  smsc = await startSmsc()
  service = await startService({ smscPort: smsc.port })
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await smsc[Symbol.asyncDispose]()
})

/** A deliver_sm of an MO message; each test has a sender of its own. */
const mo = (octets: Buffer, more: Parameters<Smsc['deliver']>[0] = {}) =>
  smsc.deliver({
    source_addr_ton: 1,
    source_addr: sender().slice(1),
    dest_addr_ton: 1,
    destination_addr: INBOUND_NUMBER.slice(1),
    short_message: octets,
    ...more,
  })

const sender = () => `+1555000${3000 + run}`

const part = (reference: number, total: number, sequence: number, text: string) =>
  mo(Buffer.concat([buildHeader({ kind: 'udh8', reference, total, sequence }), Buffer.from(text)]), {
    esm_class: UDHI,
  })

/** The inbound webhooks from this test's sender so far. */
function bodies(): string[] {
  return service.receiver.received
    .map(({ body }) => JSON.parse(body))
    .filter(({ from }) => from === sender())
    .map(({ body }) => body)
}

async function waitingParts(): Promise<number> {
  const { rows } = await service.db.query(
    'select count(*)::integer as count from inbound_parts where sender = $1',
    [sender()],
  )
  return rows[0].count
}

describe('an inbound message', () => {
  test('is acknowledged, stored, and announced with every field', async () => {
    run += 1
    expect(await mo(Buffer.from('stop it, please'))).toBe(STATUSES.ESME_ROK)
    await eventually(() => bodies().length === 1)
    const webhook = service.receiver.received.at(-1)!
    expect(webhook.path).toBe('/mo')
    expect(JSON.parse(webhook.body)).toEqual({
      accountId: service.accountId,
      servicePlanId: service.servicePlanId,
      msgId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      channel: 'SMS',
      direction: 'MO',
      from: sender(),
      to: INBOUND_NUMBER,
      keyword: 'STOP',
      body: 'stop it, please',
      receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    })
    expect(webhook.headers['webhook-signature']).toMatch(/^v1,/)
  })

  test('without a keyword has none', async () => {
    run += 1
    await mo(Buffer.from('hello'))
    await eventually(() => bodies().length === 1)
    expect(JSON.parse(service.receiver.received.at(-1)!.body)).not.toHaveProperty('keyword')
  })

  test.each([
    ['0x08 UCS-2', 0x08, Buffer.from('041f0440d83ddea2', 'hex'), 'Пр🚢'],
    ['0x03 Latin-1', 0x03, Buffer.from('caf\u00e9', 'latin1'), 'café'],
    ['0x04 binary', 0x04, Buffer.from('00ff10', 'hex'), '00ff10'],
    ['0xF0 GSM, class 0', 0xf0, Buffer.from('hi'), 'hi'],
    ['0xFF binary, class 3', 0xff, Buffer.from('0102', 'hex'), '0102'],
    ['GSM with a bare ESC at its end', 0x00, Buffer.from('6869 1b'.replace(' ', ''), 'hex'), 'hi'],
    ['UCS-2 with a lone surrogate and U+0000', 0x08, Buffer.from('d83d00000041', 'hex'), '\ufffdA'],
  ])('B383 %s', async (_name, dataCoding, octets, text) => {
    run += 1
    expect(await mo(octets, { data_coding: dataCoding })).toBe(STATUSES.ESME_ROK)
    await eventually(() => bodies().length === 1)
    expect(bodies()[0]!.trimEnd()).toBe(text)
  })

  test('B384 to a number nobody owns: acknowledged, kept, shown to the operator', async () => {
    run += 1
    expect(await mo(Buffer.from('anybody?'), { destination_addr: '15559999999' })).toBe(STATUSES.ESME_ROK)
    const { items } = await service.admin('GET', '/unowned-inbound-messages')
    expect(items).toMatchObject([{ from: sender(), to: '+15559999999', body: 'anybody?', carrier: 'main' }])
    expect(bodies()).toEqual([])
  })
})

describe('an inbound message in parts', () => {
  const ORDERS = [
    [1, 2, 3],
    [1, 3, 2],
    [2, 1, 3],
    [2, 3, 1],
    [3, 1, 2],
    [3, 2, 1],
  ]
  const TEXTS = ['one ', 'two ', 'three']

  test.each(ORDERS)('B373 in the order %i %i %i: one webhook with the whole text', async (...order) => {
    run += 1
    for (const sequence of order)
      expect(await part(7, 3, sequence, TEXTS[sequence - 1]!)).toBe(STATUSES.ESME_ROK)
    await eventually(() => bodies().length === 1)
    expect(bodies()).toEqual(['one two three'])
    expect(await waitingParts()).toBe(0)
  })

  test('a repeated part changes nothing', async () => {
    run += 1
    for (const sequence of [1, 1, 3, 3, 1, 2]) await part(7, 3, sequence, TEXTS[sequence - 1]!)
    await eventually(() => bodies().length === 1)
    expect(bodies()).toEqual(['one two three'])
  })

  test('B378 the same reference with another total is another message', async () => {
    run += 1
    await part(9, 3, 1, 'a')
    await part(9, 2, 1, 'x')
    await part(9, 2, 2, 'y')
    await eventually(() => bodies().length === 1)
    expect(bodies()).toEqual(['xy'])
    await part(9, 3, 2, 'b')
    await part(9, 3, 3, 'c')
    await eventually(() => bodies().length === 2)
    expect(bodies()).toEqual(['xy', 'abc'])
  })

  test.each([
    ['total 0', '050003070001', 'part'],
    ['sequence 0', '050003070200', 'part'],
    ['sequence above total', '050003070203', 'part'],
    ['header longer than the message', 'ff0003070201', null],
    ['element longer than the header', '0500ff070201', null],
  ])('B379 %s: a single message', async (_name, header, text) => {
    run += 1
    const octets = Buffer.concat([Buffer.from(header, 'hex'), Buffer.from('part')])
    expect(await mo(octets, { esm_class: UDHI })).toBe(STATUSES.ESME_ROK)
    await eventually(() => bodies().length === 1)
    if (text !== null) expect(bodies()).toEqual([text])
    else expect(bodies()[0]).toContain('part')
    expect(await waitingParts()).toBe(0)
  })

  test('a Turkish text in two parts, the last first, over a restart', async () => {
    run += 1
    const turkish = (sequence: number, octets: string) =>
      mo(Buffer.from(`\x08\x00\x03\x07\x02${String.fromCharCode(sequence)}\x24\x01\x01${octets}`, 'latin1'), {
        esm_class: UDHI,
      })
    expect(await turkish(2, 'samlar, ya\x1bgmur \x1b<ka\x1bc g\x7en?\x1b>')).toBe(STATUSES.ESME_ROK)
    await service.restart()
    await smsc.bound()
    expect(await turkish(1, '\x1bIyi ak\x1b')).toBe(STATUSES.ESME_ROK)
    await eventually(() => bodies().length === 1)
    expect(bodies()).toEqual(['İyi akşamlar, yağmur [kaç gün?]'])
    expect(await waitingParts()).toBe(0)
  })

  test('B381 a node that is started anew between the parts has them all', async () => {
    run += 1
    await part(5, 3, 1, 'one ')
    await part(5, 3, 3, 'three')
    await service.restart()
    await smsc.bound()
    await part(5, 3, 2, 'two ')
    await eventually(() => bodies().length === 1)
    expect(bodies()).toEqual(['one two three'])
  })
})

describe('the simulator\u2019s handset', () => {
  test('long messages of every form arrive whole', async () => {
    await using whole = await startService()
    let number = 15_550_002_222
    for (const form of ['udh8', 'udh16', 'sar', 'payload'] as const) {
      for (const body of [LONG, `${LONG} 🚢`]) {
        number += 1
        const from = `+${number}`
        await whole.simulator.sendInbound({ from, to: INBOUND_NUMBER, body, form })
        const webhook = await whole.receiver.next(({ path }) => path === '/mo')
        expect(JSON.parse(webhook.body)).toMatchObject({ from, to: INBOUND_NUMBER, body, direction: 'MO' })
      }
    }
    expect(whole.receiver.received).toHaveLength(8)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UDHI } from '../../src/domain/text/concatenation.ts'
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

  test('is listed with the body that was pushed', async () => {
    run += 1
    await mo(Buffer.from('one'))
    await mo(Buffer.from('two'))
    await eventually(() => bodies().length === 2)
    const pushed = service.receiver.received.slice(-2).map(({ body }) => JSON.parse(body))
    const { items } = (await service.listInbound({ from: sender() })).body
    expect(items).toHaveLength(2)
    expect(items).toEqual(expect.arrayContaining(pushed))
    const shown = await service.admin('GET', `/inbound-messages/${items[0].msgId}`)
    expect(shown).toMatchObject({ from: sender(), body: items[0].body, carrier: 'main' })
  })

  test('without a keyword has none', async () => {
    run += 1
    await mo(Buffer.from('hello'))
    await eventually(() => bodies().length === 1)
    expect(JSON.parse(service.receiver.received.at(-1)!.body)).not.toHaveProperty('keyword')
  })
})

describe('an inbound message in parts', () => {
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
})

describe('the simulator\u2019s handset', () => {
  test('long messages of every form arrive whole', async () => {
    await using whole = await service.tenant()
    let number = 15_550_002_222
    for (const form of ['udh8', 'udh16', 'sar', 'payload'] as const) {
      for (const body of [LONG, `${LONG} 🚢`]) {
        number += 1
        const from = `+${number}`
        await whole.simulator.sendInbound({ from, to: whole.inboundNumber, body, form })
        const webhook = await whole.receiver.next(({ path }) => path === '/mo')
        expect(JSON.parse(webhook.body)).toMatchObject({
          from,
          to: whole.inboundNumber,
          body,
          direction: 'MO',
        })
      }
    }
    expect(whole.receiver.received).toHaveLength(8)
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildHeader, UDHI } from '../../src/domain/concatenation.ts'
import type { PduInput } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually, INBOUND_NUMBER, type Service, startService } from '../support/service.ts'
import { accept, type Smsc, startSmsc } from '../support/smsc.ts'

let smsc: Smsc
let service: Service
/** Ids and senders differ from test to test. */
let run = 0

beforeAll(async () => {
  smsc = await startSmsc()
  service = await startService({ smscPort: smsc.port, app: { ambiguityWaitMs: 60_000 } })
  await smsc.bound()
})

beforeEach(() => {
  run += 1
  smsc.answerSubmits((pdu, link) => accept(pdu, link, id()))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await smsc[Symbol.asyncDispose]()
})

/** With what the GSM alphabet has elsewhere, and what is no digit. */
const id = () => `Id_${run}$f`

const text = (words: string) => Buffer.from(`id:${id()} sub:001 dlvrd:001 ${words} text:`)

const ucs2 = (words: string) => Buffer.from(words, 'utf16le').swap16()

describe('a receipt', () => {
  const forms: [string, () => Omit<PduInput<'deliver_sm'>, 'command'>][] = [
    ['in ASCII', () => ({ short_message: text('stat:DELIVRD err:000') })],
    ['with its state in lower case', () => ({ short_message: text('stat:delivrd err:000') })],
    ['in ASCII under data_coding 8', () => ({ data_coding: 8, short_message: text('stat:DELIVRD') })],
    ['in ASCII under data_coding 4', () => ({ data_coding: 4, short_message: text('stat:DELIVRD') })],
    ['in UCS-2', () => ({ data_coding: 8, short_message: ucs2(text('stat:DELIVRD').toString()) })],
    ['in UCS-2 under data_coding 0', () => ({ short_message: ucs2(text('stat:DELIVRD').toString()) })],
    ['in message_payload', () => ({ tlvs: { message_payload: text('stat:DELIVRD') } })],
    ['with a NUL at its end', () => ({ short_message: Buffer.concat([text('stat:DELIVRD'), Buffer.of(0)]) })],
    ['of an intermediate kind', () => ({ esm_class: 0x20, short_message: text('stat:DELIVRD') })],
    ['in TLVs alone', () => ({ tlvs: { receipted_message_id: id(), message_state: 2 } })],
    [
      'in TLVs alone, without esm_class',
      () => ({
        esm_class: 0,
        tlvs: { receipted_message_id: id(), message_state: 2 },
      }),
    ],
    [
      'under a user data header',
      () => ({
        esm_class: 4 | UDHI,
        short_message: Buffer.concat([
          buildHeader({ kind: 'udh8', reference: 9, total: 2, sequence: 1 }),
          text('stat:DELIVRD'),
        ]),
      }),
    ],
    [
      'with garbage behind',
      () => ({
        short_message: Buffer.concat([text('stat:DELIVRD'), Buffer.from('ff00fe1b', 'hex')]),
      }),
    ],
  ]

  test.each(forms)('%s', async (_name, form) => {
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    expect(await smsc.deliver({ esm_class: 4, ...form() })).toBe(STATUSES.ESME_ROK)
    await service.until(msgId, 'DELIVERED')
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  })

  test('over data_sm', async () => {
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    const link = await smsc.bound()
    const tlvs = { receipted_message_id: id(), message_state: 5 }
    expect((await link.request({ command: 'data_sm', esm_class: 4, tlvs })).status).toBe(STATUSES.ESME_ROK)
    await service.until(msgId, 'FAILED')
  })

  test.each([
    ['an id that is only space', 'id:   stat:DELIVRD'],
    ['nothing', ''],
    ['no receipt at all', 'Hello there'],
    ['hostile text', `id:${'9'.repeat(200)} stat:${"'; drop table messages; --"}`],
    ['a message long gone', 'id:0000000000 stat:DELIVRD err:000'],
  ])('of %s is acknowledged', async (_name, words) => {
    expect(await smsc.deliver({ esm_class: 4, short_message: Buffer.from(words) })).toBe(STATUSES.ESME_ROK)
  })
})

describe('a submit_sm_resp', () => {
  test.each([
    ['with space around its id', () => ` ${id()} `],
    ['with an id of 64 characters', () => id().padEnd(64, 'x')],
  ])('%s: its receipt is matched', async (_name, given) => {
    smsc.answerSubmits((pdu, link) => accept(pdu, link, given()))
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    expect(await smsc.receipt(given().trim(), 'DELIVRD')).toBe(STATUSES.ESME_ROK)
    await service.until(msgId, 'DELIVERED')
  })

  test('B344 without an id: SENT, and two of them do not clash', async () => {
    smsc.answerSubmits((pdu, link) => link.respond(pdu, STATUSES.ESME_ROK))
    for (const msgId of [await service.sent(), await service.sent()]) await service.until(msgId, 'SENT')
    const { rows } = await service.db.query(`select 1 from submissions where carrier_message_id = ''`)
    expect(rows).toEqual([])
  })

  test('with an id used before: the receipt is of the newer message', async () => {
    const older = await service.sent()
    await service.until(older, 'SENT')
    const newer = await service.sent()
    await service.until(newer, 'SENT')
    expect(await smsc.receipt(id(), 'DELIVRD')).toBe(STATUSES.ESME_ROK)
    await service.until(newer, 'DELIVERED')
    expect((await service.get(older)).body.status).toBe('SENT')
  })
})

describe('an inbound message', () => {
  const sender = () => `+1555000${6000 + run}`

  const mo = (octets: Buffer, more: Omit<PduInput<'deliver_sm'>, 'command'> = {}) =>
    smsc.deliver({
      source_addr_ton: 1,
      source_addr: sender().slice(1),
      dest_addr_ton: 1,
      destination_addr: INBOUND_NUMBER.slice(1),
      short_message: octets,
      ...more,
    })

  const part = (header: string, words: string, more: Parameters<typeof mo>[1] = {}) =>
    mo(Buffer.concat([Buffer.from(header, 'hex'), Buffer.from(words)]), { esm_class: UDHI, ...more })

  const bodies = (from = sender()): string[] =>
    service.receiver.received
      .map(({ body }) => JSON.parse(body))
      .filter((webhook) => webhook.direction === 'MO' && webhook.from === from)
      .map(({ body }) => body)

  const untilBodies = async (expected: readonly string[]) => {
    await eventually(() => bodies().length >= expected.length)
    expect(bodies()).toEqual(expected)
  }

  test('without text', async () => {
    expect(await mo(Buffer.alloc(0))).toBe(STATUSES.ESME_ROK)
    await untilBodies([''])
  })

  test('of a header alone', async () => {
    expect(await part('050003070101', '')).toBe(STATUSES.ESME_ROK)
    await untilBodies([''])
  })

  test.each([
    ['U+0000 inside', 0, 'a\0b', 'a@b'],
    ['Latin-1 with a NUL', 3, 'a\0b', 'ab'],
    ['a language header, read by the default table', 0, 'hi', 'hi'],
    ['data_coding 0xC0', 0xc0, 'hi', 'hi'],
    ['data_coding 0x85, reserved', 0x85, 'hi', 'hi'],
    ['data_coding 0x0B, reserved', 0x0b, 'hi', 'hi'],
  ])('%s', async (name, dataCoding, octets, expected) => {
    const header = name.startsWith('a language') ? '03240101' : ''
    expect(await part(header, octets, { data_coding: dataCoding, esm_class: header ? UDHI : 0 })).toBe(0)
    await untilBodies([expected])
  })

  test('from a name', async () => {
    expect(await mo(Buffer.from('hi'), { source_addr_ton: 5, source_addr: 'My Bank' })).toBe(0)
    await eventually(() => bodies('My Bank').length === 1)
  })

  test('from nobody', async () => {
    expect(await mo(Buffer.from('hi'), { source_addr_ton: 0, source_addr: '' })).toBe(STATUSES.ESME_ROK)
    await eventually(() => bodies('').length === 1)
  })

  test('to nobody: kept for the operator, who is told', async () => {
    expect(await mo(Buffer.from('hi'), { destination_addr: '' })).toBe(STATUSES.ESME_ROK)
    const { items } = await service.admin('GET', '/unowned-inbound-messages')
    expect(items).toContainEqual(expect.objectContaining({ from: sender(), to: '' }))
    expect(service.logs.filter((line) => line.includes('nobody owns'))).toHaveLength(1)
  })

  test('in message_payload, 60,000 octets', async () => {
    const payload = Buffer.alloc(60_000, 'a')
    expect(await mo(Buffer.alloc(0), { tlvs: { message_payload: payload } })).toBe(STATUSES.ESME_ROK)
    await untilBodies([payload.toString()])
  })

  test('B356 in both: short_message counts', async () => {
    expect(await mo(Buffer.from('short'), { tlvs: { message_payload: Buffer.from('long') } })).toBe(0)
    await untilBodies(['short'])
  })

  test('in SAR parts, 16-bit parts and parts in message_payload', async () => {
    const sar = (sequence: number) => ({
      esm_class: 0,
      tlvs: { sar_msg_ref_num: 300, sar_total_segments: 2, sar_segment_seqnum: sequence },
    })
    await part('', 'sar 2', sar(2))
    await part('', 'sar 1, ', sar(1))
    await untilBodies(['sar 1, sar 2'])
    await part('0608040102 0202'.replace(' ', ''), 'wide 2')
    await part('0608040102 0201'.replace(' ', ''), 'wide 1, ')
    await untilBodies(['sar 1, sar 2', 'wide 1, wide 2'])
    for (const sequence of [2, 1]) {
      const message_payload = Buffer.concat([
        buildHeader({ kind: 'udh8', reference: 8, total: 2, sequence }),
        Buffer.from(`p${sequence}`),
      ])
      await mo(Buffer.alloc(0), { esm_class: UDHI, tlvs: { message_payload } })
    }
    await untilBodies(['sar 1, sar 2', 'wide 1, wide 2', 'p1p2'])
  })

  test('of equal references, from senders that take turns', async () => {
    const others = [`+1666000${6000 + run}`, `+1777000${6000 + run}`]
    for (const sequence of [1, 2]) {
      for (const from of others)
        await part(`0500030702${sequence.toString().padStart(2, '0')}`, `${from} ${sequence};`, {
          source_addr: from.slice(1),
        })
    }
    for (const from of others) {
      await eventually(() => bodies(from).length === 1)
      expect(bodies(from)).toEqual([`${from} 1;${from} 2;`])
    }
  })

  test('under a reference used again at once', async () => {
    for (const words of ['one', 'two'])
      for (const sequence of [1, 2]) await part(`05000305020${sequence}`, `${words}${sequence} `)
    await untilBodies(['one1 one2 ', 'two1 two2 '])
  })

  test('with a surrogate pair split between parts', async () => {
    const octets = ucs2('🚢')
    for (const sequence of [2, 1]) {
      const half = octets.subarray(sequence * 2 - 2, sequence * 2)
      await mo(Buffer.concat([buildHeader({ kind: 'udh8', reference: 3, total: 2, sequence }), half]), {
        esm_class: UDHI,
        data_coding: 8,
      })
    }
    await untilBodies(['🚢'])
  })
})

test('after all of it the link is the first, and nothing was logged as an error', () => {
  expect(smsc.binds.length).toBe(1)
  const errors = service.logs.filter((line) => !/receipt without a message id|nobody owns/.test(line))
  expect(errors).toEqual([])
})

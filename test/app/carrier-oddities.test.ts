import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildHeader, UDHI } from '../../src/domain/text/concatenation.ts'
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
    ['with a NUL at its end', () => ({ short_message: Buffer.concat([text('stat:DELIVRD'), Buffer.of(0)]) })],
    ['of an intermediate kind', () => ({ esm_class: 0x20, short_message: text('stat:DELIVRD') })],
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

  test.each([
    ['hostile text', `id:${'9'.repeat(200)} stat:${"'; drop table messages; --"}`],
    ['a message long gone', 'id:0000000000 stat:DELIVRD err:000'],
  ])('of %s is acknowledged', async (_name, words) => {
    expect(await smsc.deliver({ esm_class: 4, short_message: Buffer.from(words) })).toBe(STATUSES.ESME_ROK)
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

  test('of a header alone', async () => {
    expect(await part('050003070101', '')).toBe(STATUSES.ESME_ROK)
    await untilBodies([''])
  })

  test.each([
    ['Latin-1 with a NUL', 3, 'a\0b', 'ab'],
    ['a language header, read by the default table', 0, 'hi', 'hi'],
  ])('%s', async (name, dataCoding, octets, expected) => {
    const header = name.startsWith('a language') ? '03240101' : ''
    expect(await part(header, octets, { data_coding: dataCoding, esm_class: header ? UDHI : 0 })).toBe(0)
    await untilBodies([expected])
  })

  test('in message_payload, 60,000 octets', async () => {
    const payload = Buffer.alloc(60_000, 'a')
    expect(await mo(Buffer.alloc(0), { tlvs: { message_payload: payload } })).toBe(STATUSES.ESME_ROK)
    await untilBodies([payload.toString()])
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

import { describe, expect, test } from 'vitest'
import { isReceipt, parseReceipt } from '../../src/domain/carriers/receipts.ts'
import { segmentText } from '../../src/domain/text/segments.ts'
import {
  networkOf,
  receiptDate,
  receiptDelivery,
  receiptFacts,
  receiptText,
  wantedReceipts,
} from '../../src/simulator/receipt-pdus.ts'
import type { SubmitPdu } from '../../src/simulator/submissions.ts'
import { decodePdu } from '../../src/smpp/decoding.ts'
import { encodePdu } from '../../src/smpp/encoding.ts'
import type { PduInput } from '../../src/smpp/pdu.ts'

const SUBMITTED_MS = Date.parse('2026-02-03T04:05:59Z')
const DONE_MS = SUBMITTED_MS + 1_000
const DELIVRD = { state: 'DELIVRD', err: '000', afterMs: 0 } as const
const UNDELIV = { state: 'UNDELIV', err: '027', afterMs: 0 } as const
const ENROUTE = { state: 'ENROUTE', err: '000', afterMs: 0 } as const

function submitted(fields: Partial<PduInput<'submit_sm'>> = {}): SubmitPdu {
  const input = {
    command: 'submit_sm',
    source_addr_ton: 5,
    source_addr: 'Aldis',
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: '447700900123',
    short_message: Buffer.from('stat:UNDELIV and more words'),
    ...fields,
  } as const
  return decodePdu(encodePdu(input)) as SubmitPdu
}

const textOf = (fields?: Partial<PduInput<'submit_sm'>>) =>
  receiptText(receiptFacts(submitted(fields), 'abc', SUBMITTED_MS), DELIVRD, DONE_MS)

test('the text form', () => {
  expect(textOf()).toBe(
    'id:abc sub:001 dlvrd:001 submit date:2602030405 done date:2602030406 stat:DELIVRD err:000 ' +
      'mccmnc:23415 text:stat:UNDELIV and mor',
  )
})

describe('the excerpt', () => {
  const excerptOf = (fields: Partial<PduInput<'submit_sm'>>) => textOf(fields).split('text:')[1]

  test('of UCS-2', () => {
    const short_message = Buffer.from('Grüße und mehr von uns allen', 'utf16le').swap16()
    expect(excerptOf({ data_coding: 8, short_message })).toBe('Gr??e und mehr von u')
  })

  test('of a segment, without its header', () => {
    const [, second] = segmentText(`${'x'.repeat(153)}The second part begins here`, 7).pdus
    expect(excerptOf({ esm_class: 0x40, short_message: second!.shortMessage })).toBe('The second part begi')
  })

  test('of message_payload', () => {
    expect(
      excerptOf({ short_message: Buffer.alloc(0), tlvs: { message_payload: Buffer.from('paid') } }),
    ).toBe('paid')
  })

  test('of nothing', () => {
    expect(excerptOf({ short_message: Buffer.alloc(0) })).toBe('')
  })
})

test('a delivered message, as our own parser reads it', () => {
  const { pdu } = receiptDelivery(receiptFacts(submitted(), 'abc', SUBMITTED_MS), DELIVRD, DONE_MS)
  expect(pdu).toMatchObject({
    source_addr_ton: 1,
    source_addr_npi: 1,
    source_addr: '447700900123',
    dest_addr_ton: 5,
    dest_addr_npi: 0,
    destination_addr: 'Aldis',
    esm_class: 4,
    tlvs: { receipted_message_id: 'abc', message_state: 2 },
  })
  expect(isReceipt(pdu.esm_class!)).toBe(true)
  expect(pdu.tlvs).not.toHaveProperty('network_error_code')
  expect(parseReceipt(pdu.short_message!.toString('latin1'), pdu.tlvs)).toEqual({
    carrierMessageId: 'abc',
    state: 'DELIVRD',
    vendorState: null,
    rawCode: '000',
    networkType: null,
    mccmnc: '23415',
  })
})

test('a failed one has dlvrd:000 and its error code twice', () => {
  const { pdu } = receiptDelivery(receiptFacts(submitted(), 'abc', SUBMITTED_MS), UNDELIV, DONE_MS)
  expect(pdu.short_message!.toString('latin1')).toContain('dlvrd:000')
  expect(pdu.tlvs?.network_error_code).toEqual(Buffer.from([3, 0, 27]))
  expect(parseReceipt(pdu.short_message!.toString('latin1'))).toMatchObject({
    state: 'UNDELIV',
    rawCode: '027',
  })
})

test.each([
  [0, []],
  [1, [DELIVRD, ENROUTE, UNDELIV]],
  [2, [UNDELIV]],
  [0x10, []],
  [0x11, [DELIVRD, ENROUTE, UNDELIV]],
])('registered_delivery %d', (registeredDelivery, wanted) => {
  expect(wantedReceipts([DELIVRD, ENROUTE, UNDELIV], registeredDelivery)).toEqual(wanted)
})

test('dates are UTC to the minute, back and forth', () => {
  expect(receiptDate(Date.parse('2026-12-31T23:59:59.999Z'))).toBe('2612312359')
  expect(receiptDate(Date.parse('2027-01-01T00:00:00Z'))).toBe('2701010000')
  expect(receiptDate(Date.parse('2026-12-31T23:59:00Z'))).toBe('2612312359')
})

describe('networks', () => {
  test.each([
    ['15551230001', '310260'],
    ['+15551230001', '310260'],
    ['447700900123', '23415'],
    ['4915123456789', '26201'],
    ['35312345678', '00101'],
    ['', '00101'],
  ])('%j is in %s', (destination, mccmnc) => {
    expect(networkOf(destination)).toBe(mccmnc)
  })
})

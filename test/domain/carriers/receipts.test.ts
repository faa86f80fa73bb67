import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  isReceipt,
  keptReceipt,
  parseReceipt,
  readKept,
  receiptText,
  withoutText,
} from '../../../src/domain/carriers/receipts.ts'
import type { ReceiptState } from '../../../src/domain/carriers/statuses.ts'
import { anyText } from '../../support/any-text.ts'

describe('isReceipt', () => {
  test.each([
    [0x00, false],
    [0x04, true],
    [0x20, true],
    [0x24, true],
    [0x44, true],
    [0x07, true],
    [0x08, false],
    [0x10, false],
    [0x18, false],
    [0x0c, false],
    [0x40, false],
    [0xc3, false],
  ])('esm_class 0x%s: %s', (esmClass, expected) => {
    expect(isReceipt(esmClass)).toBe(expected)
  })
})

const STANDARD =
  'id:0123456789 sub:001 dlvrd:001 submit date:2401011200 done date:2401011201 stat:DELIVRD err:000 text:Hello'

const FULL = {
  carrierMessageId: '0123456789',
  state: 'DELIVRD',
  vendorState: null,
  rawCode: '000',
  networkType: null,
  mccmnc: null,
}

describe('the text form', () => {
  test.each([
    ['as in Appendix B', STANDARD],
    ['capitals', STANDARD.toUpperCase().replace('HELLO', 'Hello')],
    ['capital initials', STANDARD.replace('id:', 'Id:').replace('stat:', 'Stat:').replace('err:', 'Err:')],
    ['underscores', STANDARD.replace('submit date', 'submit_date').replace('done date', 'done_date')],
    ['one word', STANDARD.replace('submit date', 'submitdate').replace('done date', 'DoneDate')],
    ['spaces after colons', STANDARD.replaceAll(':', ': ')],
    ['spaces before colons', STANDARD.replaceAll(':', ' :')],
    ['double spaces', STANDARD.replaceAll(' ', '  ')],
    ['lines', STANDARD.replaceAll(' s', '\ns').replaceAll(' d', '\r\nd')],
    ['quotes', STANDARD.replace('0123456789', '"0123456789"').replace('DELIVRD', "'DELIVRD'")],
    ['equals signs', STANDARD.replaceAll(':', '=')],
    ['state for stat', STANDARD.replace('stat:', 'state:')],
    ['commas', STANDARD.replaceAll(' sub', ', sub').replaceAll(' err', ', err')],
    ['text that says stat:', `${STANDARD} stat:UNDELIV id:666 err:999`],
    ['text with every key', `${STANDARD} ${STANDARD.replaceAll('0', '9')}`],
    ['NUL at the end', `${STANDARD}\0`],
    [
      'bars',
      STANDARD.replaceAll(' s', '|s')
        .replaceAll(' do', '|do')
        .replace(' err', '|err')
        .replace(' text', '|text'),
    ],
    ['tabs', STANDARD.replaceAll(' s', '\ts').replace(' err', '\terr')],
    ['brackets', STANDARD.replace('0123456789', '<0123456789>').replace('DELIVRD', '[DELIVRD]')],
    ['a full stop behind the state', STANDARD.replace('DELIVRD', 'DELIVRD.')],
    ['more behind the state', STANDARD.replace('DELIVRD', 'DELIVRD/HANDSET')],
    [
      'other names',
      STANDARD.replace('id:', 'message_id:')
        .replace('stat:', 'message_state:')
        .replace('err:', 'error_code:'),
    ],
    [
      'names of two words',
      STANDARD.replace('id:', 'Message Id:').replace('stat:', 'Final Status:').replace('err:', 'Error Code:'),
    ],
    ['times', STANDARD.replace('submit date', 'submit time').replace('done date', 'done_time')],
    [
      'fields of the carrier\u2019s own',
      STANDARD.replace('err:', 'imsi:310260000000000 msc:15550001111 smsid2:9 err:'),
    ],
    ['without sub and dlvrd', STANDARD.replace('sub:001 dlvrd:001 ', '')],
    [
      'XML',
      '<dlr><id>0123456789</id><submit_date>2401011200</submit_date><done_date>2401011201</done_date><stat>DELIVRD</stat><err>000</err></dlr>',
    ],
    [
      'text in the middle, that says stat:',
      'id:0123456789 submit date:2401011200 done date:2401011201 text:stat:UNDELIV id:666 stat:DELIVRD err:000',
    ],
    [
      'another order',
      'stat:DELIVRD err:000 done date:2401011201 submit date:2401011200 dlvrd:001 id:0123456789 text:x',
    ],
    [
      'text first',
      'text:Hello stat:UNDELIV id:666 id:0123456789 submit date:2401011200 done date:2401011201 stat:DELIVRD err:000',
    ],
    [
      'JSON',
      '{"id":"0123456789","submit_date":"2401011200","done_date":"2401011201","stat":"DELIVRD","err":"000"}',
    ],
  ])('%s', (_name, text) => {
    expect(parseReceipt(text)).toEqual(FULL)
  })

  test.each([
    ['hexadecimal', '1a2B3c'],
    ['decimal above 2^53', '18446744073709551615'],
    ['22 digits', '4062581461565934000241'],
    ['a UUID', '018f5e2a-7b1c-7cde-8f00-0123456789ab'],
    ['with punctuation', 'smsc.7/AB_c-9@x'],
  ])('an id that is %s stays as written', (_name, id) => {
    expect(parseReceipt(STANDARD.replace('0123456789', id))?.carrierMessageId).toBe(id)
  })

  test.each<[string, ReceiptState]>([
    ['DELIVRD', 'DELIVRD'],
    ['delivrd', 'DELIVRD'],
    ['DELIVERED', 'DELIVRD'],
    ['DELIVER', 'DELIVRD'],
    ['DELIVERD', 'DELIVRD'],
    ['UNDELIVERD', 'UNDELIV'],
    ['UNDELIVD', 'UNDELIV'],
    ['EXPIRD', 'EXPIRED'],
    ['UNDELIV', 'UNDELIV'],
    ['UNDELIVERABLE', 'UNDELIV'],
    ['UNDELIVRD', 'UNDELIV'],
    ['UNDEL', 'UNDELIV'],
    ['REJECTD', 'REJECTD'],
    ['Rejected', 'REJECTD'],
    ['REJECT', 'REJECTD'],
    ['EXPIRED', 'EXPIRED'],
    ['EXPIR', 'EXPIRED'],
    ['DELETED', 'DELETED'],
    ['ACCEPTD', 'ACCEPTD'],
    ['ACCEPTED', 'ACCEPTD'],
    ['ENROUTE', 'ENROUTE'],
    ['SKIPPED', 'SKIPPED'],
    ['SCHEDULED', 'SCHEDULED'],
    ['SCHEDUL', 'SCHEDULED'],
    ['UNKNOWN', 'UNKNOWN'],
    ['FAILED', 'UNKNOWN'],
    ['DELIVERY_FAILED', 'UNKNOWN'],
    ['DELIV', 'UNKNOWN'],
    ['__proto__', 'UNKNOWN'],
    ['', 'UNKNOWN'],
  ])('stat:%s is %s', (word, state) => {
    expect(parseReceipt(`id:1 stat:${word} err:000`)?.state).toBe(state)
  })

  test('the words of a message never make its receipt that of another', () => {
    expect(parseReceipt('stat:DELIVRD err:000 text:id:666')?.carrierMessageId).toBeNull()
    expect(parseReceipt('id:7 text:id:666 stat:DELIVRD')).toMatchObject({
      carrierMessageId: '7',
      state: 'DELIVRD',
    })
  })

  test.each([
    ['0', '0'],
    ['0000', '0000'],
    ['0x1F', '0x1F'],
    ['1F', '1F'],
    ['EC_ABSENT_SUBSCRIBER', 'EC_ABSENT_SUBSCRIBER'],
    ['-1', '-1'],
    ['', null],
  ])('err:%s is kept as written', (written, rawCode) => {
    expect(parseReceipt(`id:7 stat:UNDELIV err:${written} text:hi`)?.rawCode).toBe(rawCode)
  })

  test('numbers and words that are not of Appendix B are no state: every carrier means something else', () => {
    for (const word of ['1', '2', '5', 'OK', 'FAILED', 'SUCCESS'])
      expect(parseReceipt(`id:7 stat:${word}`)).toMatchObject({ state: 'UNKNOWN', vendorState: word })
  })

  test('fields that are missing are null', () => {
    expect(parseReceipt('id:7')).toEqual({
      carrierMessageId: '7',
      state: 'UNKNOWN',
      vendorState: null,
      rawCode: null,
      networkType: null,
      mccmnc: null,
    })
    expect(parseReceipt('stat:DELIVRD')).toMatchObject({ carrierMessageId: null, state: 'DELIVRD' })
  })

  test('dates, which are by the clock of the carrier, are passed over', () => {
    const receipt = parseReceipt('id:7 submit date:2024-01-01 12:00:05 done date: 240101120005 stat:DELIVRD')
    expect(receipt).toMatchObject({ carrierMessageId: '7', state: 'DELIVRD' })
  })

  test.each([
    ['mccmnc:310260', '310260'],
    ['mccmnc:23415', '23415'],
    ['MCCMNC: 310260', '310260'],
    ['mcc:310 mnc:260', '310260'],
    ['mnc=01 mcc=234', '23401'],
    ['mcc:310', null],
    ['network:24001', '24001'],
    ['network:Telia', null],
    ['mccmnc:3102', null],
    ['mccmnc:3102601', null],
    ['mccmnc:31026x', null],
  ])('%s', (field, mccmnc) => {
    expect(parseReceipt(`id:7 stat:DELIVRD err:000 ${field} text:hi`)?.mccmnc).toBe(mccmnc)
    expect(parseReceipt(`id:7 stat:DELIVRD err:000 text:${field}`)?.mccmnc).toBeNull()
  })

  test.each(['', 'Hello there', 'text:nothing', 'uuid:5 restat:DELIVRD', ':::', 'id:'])(
    '%j is no receipt',
    (text) => {
      expect(parseReceipt(text)).toBeNull()
    },
  )
})

describe('receiptText', () => {
  const utf16le = Buffer.from(STANDARD, 'utf16le')
  const utf16be = Buffer.from(utf16le).swap16()

  test.each([
    ['ASCII', Buffer.from(STANDARD)],
    ['ASCII with a NUL at the end', Buffer.from(`${STANDARD}\0`)],
    ['UCS-2', utf16be],
    ['UCS-2 with a byte order mark', Buffer.concat([Buffer.from('feff', 'hex'), utf16be])],
    ['UCS-2 with an odd octet at the end', Buffer.concat([utf16be, Buffer.of(0)])],
    ['UTF-16 in the other order', utf16le],
    ['UTF-16 in the other order with a mark', Buffer.concat([Buffer.from('fffe', 'hex'), utf16le])],
  ])('%s', (_name, octets) => {
    expect(parseReceipt(receiptText(octets))).toEqual(FULL)
  })

  test('an id keeps its underscore, in ASCII and in the GSM alphabet', () => {
    for (const id of ['a_7$', 'a\x117$'])
      expect(parseReceipt(receiptText(Buffer.from(`id:${id} stat:DELIVRD`)))).toMatchObject({
        carrierMessageId: 'a_7$',
      })
  })

  test('any octets give well-formed text without U+0000', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (octets) => {
        const text = receiptText(Buffer.from(octets))
        expect([text.isWellFormed(), text.includes('\0')]).toEqual([true, false])
      }),
    )
  })
})

describe('the TLV form', () => {
  test('TLVs win over the text', () => {
    const tlvs = {
      receipted_message_id: 'abc\0',
      message_state: 5,
      network_error_code: Buffer.from([3, 0, 6]),
    }
    expect(parseReceipt(STANDARD, tlvs)).toEqual({
      ...FULL,
      carrierMessageId: 'abc',
      state: 'UNDELIV',
      rawCode: '006',
      networkType: 3,
    })
  })

  test.each<[number, ReceiptState]>([
    [0, 'SCHEDULED'],
    [1, 'ENROUTE'],
    [2, 'DELIVRD'],
    [3, 'EXPIRED'],
    [4, 'DELETED'],
    [5, 'UNDELIV'],
    [6, 'ACCEPTD'],
    [7, 'UNKNOWN'],
    [8, 'REJECTD'],
    [9, 'SKIPPED'],
    [200, 'UNKNOWN'],
  ])('message_state %i alone is %s', (messageState, state) => {
    expect(parseReceipt('', { receipted_message_id: '1', message_state: messageState })?.state).toBe(state)
  })

  test('an unreadable TLV leaves the text its say', () => {
    const tlvs = {
      receipted_message_id: '\0',
      message_state: 77,
      network_error_code: Buffer.from([3]),
    }
    expect(parseReceipt(STANDARD, tlvs)).toEqual(FULL)
    expect(parseReceipt(STANDARD, { message_state: 0 })?.state).toBe('DELIVRD')
  })
})

describe('any text', () => {
  const hostile = fc.oneof(
    anyText({ maxLength: 500 }),
    fc
      .array(fc.constantFrom('id', 'stat', ':', ' ', 'submit', 'date', '=', '"', 'text', 'x', '\0', 'é'), {
        maxLength: 200,
      })
      .map((words) => words.join('')),
  )

  test('is read without throwing, in bounded values', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const receipt = parseReceipt(text)
        for (const value of Object.values(receipt ?? {})) {
          if (typeof value === 'string') expect(value.length).toBeLessThanOrEqual(64)
        }
      }),
      { numRuns: 2000 },
    )
  })

  test('what lies beyond the bound is not read', () => {
    expect(parseReceipt(`${' '.repeat(5000)}${STANDARD}`)).toBeNull()
    expect(parseReceipt(`${STANDARD} ${'date :'.repeat(1_000_000)}`)).toEqual(FULL)
  })
})

const TEXT =
  'id:a1 sub:001 dlvrd:001 submit date:2601020304 done date:2601020304 stat:DELIVRD err:000 text:hej'

test('the text and every TLV: texts and numbers as they are, octets in hexadecimal', () => {
  const kept = keptReceipt(TEXT, [
    ['receipted_message_id', 'a1'],
    ['message_state', 2],
    ['network_error_code', Buffer.from([3, 0, 6])],
    ['0x1403', Buffer.from('x')],
  ])
  expect(kept).toEqual({
    text: TEXT,
    tlvs: {
      receipted_message_id: 'a1',
      message_state: '2',
      network_error_code: '0x030006',
      '0x1403': '0x78',
    },
  })
  expect(readKept(kept)).toEqual({ carrierMessageId: 'a1', carrierCode: 'DELIVRD 006' })
})

test('a receipt of TLVs alone is read again as it was', () => {
  const kept = keptReceipt('', [
    ['receipted_message_id', 'a1'],
    ['message_state', 5],
    ['network_error_code', Buffer.from([3, 0, 6])],
  ])
  expect(readKept(kept)).toEqual({ carrierMessageId: 'a1', carrierCode: 'UNDELIV 006' })
})

test('at most 1,024 characters, of which a long TLV squeezes out neither the text nor shorter TLVs', () => {
  const kept = keptReceipt('t'.repeat(5_000), [
    ['0x1500', Buffer.alloc(3_000)],
    ['message_state', 2],
  ])
  expect(kept.tlvs).toEqual({ message_state: '2' })
  expect(kept.text.length).toBe(1_024 - 'message_state2'.length)
  const many = Array.from({ length: 100 }, (_, n) => [`0x${n}`, 'v'.repeat(20)] as const)
  expect(JSON.stringify(keptReceipt(TEXT, many)).length).toBeLessThan(1_200)
})

test('what PostgreSQL does not store is left out: NUL, and half of a character at the cut', () => {
  expect(keptReceipt(`a\0b\ud83d`, [['receipted_message_id', 'x\0']])).toEqual({
    text: 'ab\ufffd',
    tlvs: { receipted_message_id: 'x' },
  })
  const cut = keptReceipt(`${'t'.repeat(1_023)}😀`, []).text
  expect(cut.isWellFormed()).toBe(true)
})

test('what is no receipt has neither id nor words', () => {
  expect(readKept({ text: 'hello', tlvs: {} })).toEqual({ carrierMessageId: null, carrierCode: null })
})

describe('withoutText', () => {
  const tlvs = { message_state: '2', message_payload: '0x636f64652031323334' }

  test.each([
    ['as in Appendix B', `${TEXT.slice(0, -3)}code 1234\nsecond line`, TEXT.slice(0, -3)],
    ['capitals', 'ID:a1 STAT:DELIVRD ERR:000 TEXT:CODE 1234', 'ID:a1 STAT:DELIVRD ERR:000 TEXT:'],
    ['equals signs', 'id=a1 stat=DELIVRD err=000 text=code 1234', 'id=a1 stat=DELIVRD err=000 text='],
    ['spaces before colons', 'id :a1 stat :DELIVRD text : code 1234', 'id :a1 stat :DELIVRD text :'],
    [
      'JSON',
      '{"id":"a1","stat":"DELIVRD","err":"000","text":"code 1234"}',
      'id":a1 stat":DELIVRD err":000 text":',
    ],
    [
      'XML',
      '<dlr><id>a1</id><stat>DELIVRD</stat><err>000</err><text>code 1234</text></dlr>',
      'id>a1 stat>DELIVRD err>000 text>',
    ],
    [
      'an element with an attribute',
      '<id>a1</id><stat>DELIVRD</stat><text lang="en">code 1234</text>',
      'id>a1 stat>DELIVRD text>',
    ],
    ['text before text', 'id:a1 stat:DELIVRD text:code text:1234', 'id:a1 stat:DELIVRD text:'],
    ['another name', 'id:a1 stat:DELIVRD err:000 content:"code 1234" id: 1234', 'id:a1 stat:DELIVRD err:000'],
    ['no name', 'id:a1 stat:DELIVRD code 1234', 'id:a1 stat:DELIVRD'],
  ])('%s: no word of the message, and the rest is read alike', (_name, text, expected) => {
    const kept = { text, tlvs }
    const without = withoutText(kept)
    expect(without).toEqual({ text: expected, tlvs: { message_state: '2' } })
    expect(readKept(without)).toEqual(readKept(kept))
  })

  test.each([
    ['before the state', '{"text":"code 1234","id":"a1","stat":"DELIVRD"}', 'text":'],
    ['alone, beside TLVs', 'code 1234', ''],
  ])('a text %s goes with all that may be its words', (_name, text, expected) => {
    expect(withoutText({ text, tlvs }).text).toBe(expected)
  })

  test('everything behind the text goes, for any text; a receipt without one reads the same', () => {
    const pieces = ['id', 'stat', 'err', 'submit', 'date', 'code', 'x1', ':', '=', ' ', '"', '<', '>', ',']
    const words = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(words, (text) => {
        expect(withoutText({ text: STANDARD + text, tlvs }).text).toBe(STANDARD.slice(0, -'Hello'.length))
        expect(readKept(withoutText({ text, tlvs }))).toEqual(readKept({ text, tlvs }))
      }),
    )
  })
})

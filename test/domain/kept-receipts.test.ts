import { expect, test } from 'vitest'
import { keptReceipt, readKept } from '../../src/domain/kept-receipts.ts'

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

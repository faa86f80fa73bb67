import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalId, everyForm, ID_RULES, type IdRule } from '../../../src/domain/carriers/message-ids.ts'
import { anyText } from '../../support/any-text.ts'

/** rule, id of submit_sm_resp, id of the receipt, whether they are one message. */
const PAIRS: ReadonlyArray<[IdRule, string, string, boolean]> = [
  ['exact', 'aB', 'aB', true],
  ['exact', 'aB', 'AB', false],
  ['exact', '007', '7', false],
  ['exact', 'a7 ', 'a7', true],
  ['exact', 'x'.repeat(70), 'x'.repeat(64), true],
  ['normalised', 'aB', 'AB', true],
  ['normalised', '007', '7', true],
  ['normalised', ' 7', '7 ', true],
  ['normalised', '0', '000', true],
  ['normalised', '10', '16', false],
  ['decimal-hex', '10', '16', true],
  ['decimal-hex', '0000001A', '26', true],
  ['decimal-hex', '1a', '0000000026', true],
  ['decimal-hex', '10', '10', false],
  ['decimal-hex', 'ffffffffffffffff', '18446744073709551615', true],
  ['decimal-hex', 'FFFF', 'ffff', true],
  ['decimal-hex', 'id-9', 'ID-9', true],
  ['decimal-hex', '0', '0', true],
  ['hex-decimal', '16', '10', true],
  ['hex-decimal', '26', '0000001A', true],
  ['hex-decimal', '18446744073709551615', 'FFFFFFFFFFFFFFFF', true],
  ['hex-decimal', '10', '10', false],
]

describe('canonicalId', () => {
  test.each(PAIRS)('%s: submit %s, receipt %s: %s', (rule, submitted, receipted, same) => {
    expect(canonicalId(submitted, rule, 'submit') === canonicalId(receipted, rule, 'receipt')).toBe(same)
  })

  test('numbers of any size match, different ones do not', () => {
    const number = fc.bigInt({ min: 0n, max: 10n ** 48n })
    fc.assert(
      fc.property(number, number, (a, b) => {
        const receipt = canonicalId(b.toString(10), 'decimal-hex', 'receipt')
        expect(canonicalId(a.toString(16), 'decimal-hex', 'submit') === receipt).toBe(a === b)
        expect(canonicalId(b.toString(16).toUpperCase(), 'decimal-hex', 'submit')).toBe(receipt)
      }),
    )
  })

  test('no id throws, not even a very long one', () => {
    fc.assert(
      fc.property(anyText(), fc.constantFrom(...ID_RULES), (id, rule) => {
        expect(typeof canonicalId(id, rule, 'submit')).toBe('string')
        expect(typeof canonicalId(id, rule, 'receipt')).toBe('string')
      }),
    )
    expect(canonicalId('9'.repeat(1_000_000), 'normalised', 'submit')).toHaveLength(64)
  })
})

test('an id is looked for in every form in which it may be stored', () => {
  expect(everyForm('0000001F4').sort()).toEqual(['0000001F4', '1f4', '500'])
  expect(everyForm('500').sort()).toEqual(['1280', '1f4', '500'])
  expect(everyForm('AB-1').sort()).toEqual(['AB-1', 'ab-1'])
})

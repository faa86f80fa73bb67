import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { formatAmount, parseAmount } from '../../src/domain/amounts.ts'

const MOST = 99_999_999_999_999n

describe('parseAmount', () => {
  test.each([
    ['0', 0n],
    ['0.000000', 0n],
    ['0.0075', 7_500n],
    ['0.007500', 7_500n],
    ['00.10', 100_000n],
    ['12', 12_000_000n],
    ['99999999.999999', MOST],
  ])('%s', (text, millionths) => {
    expect(parseAmount(text)).toBe(millionths)
  })

  test.each([
    '',
    ' 1',
    '1 ',
    '1\n',
    '-1',
    '+1',
    '.5',
    '1.',
    '1,5',
    '1e-3',
    '0x1',
    '1.0000000',
    '100000000',
    'NaN',
    '١',
  ])('%j is no amount', (text) => {
    expect(parseAmount(text)).toBeNull()
  })
})

describe('formatAmount', () => {
  test.each([
    [0n, '0'],
    [1n, '0.000001'],
    [7_500n, '0.0075'],
    [100_000n, '0.1'],
    [10_000_000n, '10'],
    [MOST, '99999999.999999'],
    [MOST + 1n, '99999999.999999'],
  ])('%s', (millionths, text) => {
    expect(formatAmount(millionths)).toBe(text)
  })

  it('writes what is read back as the same amount, and as a JSON number loses nothing', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MOST }), (millionths) => {
        const text = formatAmount(millionths)
        expect(parseAmount(text)).toBe(millionths)
        expect(text).not.toMatch(/\.$|\.\d*0$/)
        expect(parseAmount(Number(text).toFixed(6))).toBe(millionths)
      }),
    )
  })
})

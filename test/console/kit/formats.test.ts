import { expect, it } from 'vitest'
import { count, countryName, duration, money } from '../../../console/src/kit/formats.ts'

it.each([
  [0, '0 ms'],
  [259.6, '260 ms'],
  [4_200, '4.20 s'],
  [42_000, '42.0 s'],
  [60_000, '1 min'],
  [725_000, '12 min 5 s'],
  [8_040_000, '2 h 14 min'],
  [273_600_000, '3 d 4 h'],
])('a duration of %d ms is %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

it('numbers, prices and countries', () => {
  expect(count(1_234_567)).toBe('1,234,567')
  expect(money(0.0075, 'EUR')).toBe('0.0075 EUR')
  expect(money(12, null)).toBe('12.00')
  expect([countryName('DE'), countryName('?')]).toEqual(['Germany', '?'])
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PrefixTable } from '../../src/domain/prefixes.ts'

it('gives the value of the longest prefix', () => {
  const table = new PrefixTable([
    ['+4', 'four'],
    ['+4477', 'mobile'],
    ['+44', 'GB'],
  ])
  expect(table.longest('+447700900123')).toBe('mobile')
  expect(table.longest('+44')).toBe('GB')
  expect(table.longest('+4915112345678')).toBe('four')
  expect(table.longest('+15551230000')).toBeUndefined()
  expect(new PrefixTable([]).longest('+15551230000')).toBeUndefined()
})

it('gives what comparing every prefix gives', () => {
  const prefix = fc.stringMatching(/^\+[1-3]{1,6}$/)
  fc.assert(
    fc.property(
      fc.array(prefix, { maxLength: 40 }),
      fc.stringMatching(/^\+[1-3]{3,9}$/),
      (prefixes, number) => {
        const fitting = prefixes.filter((each) => number.startsWith(each))
        const longest = fitting.sort((a, b) => b.length - a.length)[0]
        expect(new PrefixTable(prefixes.map((each) => [each, each])).longest(number)).toBe(longest)
      },
    ),
  )
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  internationalPrefix,
  prefixesOfRegex,
  readUnifiedPrefix,
} from '../../../src/commands/import/prefix-routing.ts'

describe('internationalPrefix', () => {
  it.each([
    ['+44', '', '+44'],
    ['0044', '', '+44'],
    ['447', '', '+447'],
    ['040', '', null],
    ['040', '+358,00358,0;+,00', '+35840'],
    ['00358', '+358,00358,0;+,00', '+358'],
    ['0046', '+358,00358,0;+,00', '+46'],
    ['+35840', '+35850,050;+35840,040', '+35840'],
    ['+35840', '-,+', '+35840'],
    ['', '', null],
    ['x', '', null],
  ])('%s by %s is %s', (prefix, unified, expected) => {
    expect(internationalPrefix(prefix, readUnifiedPrefix(unified))).toBe(expected)
  })
})

describe('prefixesOfRegex', () => {
  it.each<[string, readonly string[] | null]>([
    ['^44', ['44']],
    [String.raw`^\+?44\d+$`, ['+44', '44']],
    ['^0(40|50)', ['040', '050']],
    ['^0[457-9]0.*', ['040', '050', '070', '080', '090']],
    ['^44.*|^49', ['44', '49']],
    ['.*', ['']],
    ['^$', null],
    ['^85111$', null],
    ['^44+', null],
    ['^(?=44)', null],
    ['^4[^4]', null],
    ['44', null],
    [`^${'[0-9]'.repeat(20)}1`, null],
  ])('%s', (pattern, expected) => {
    expect(prefixesOfRegex(pattern, false)).toEqual(expected)
  })

  it('agrees with the regular expression about every number, whatever is written', () => {
    const part = fc.constantFrom(
      '4',
      '9',
      '0',
      '(4|9)',
      '[4-9]',
      '[09]',
      '4?',
      String.raw`\d+`,
      '.*',
      '|',
      '^',
      '$',
    )
    const pattern = fc.array(part, { maxLength: 8 }).map((parts) => `^${parts.join('')}`)
    const number = fc.stringMatching(/^[0459]{8,12}$/)
    fc.assert(
      fc.property(pattern, fc.array(number, { minLength: 20, maxLength: 20 }), (text, numbers) => {
        const prefixes = prefixesOfRegex(text, true)
        if (prefixes === null) return
        const found = (each: string) => prefixes.some((prefix) => each.startsWith(prefix))
        // Anchored as re.match of Python is.
        const regex = new RegExp(`^(?:${text})`)
        expect(numbers.filter(found)).toEqual(numbers.filter((each) => regex.test(each)))
      }),
      { numRuns: 2_000 },
    )
  })
})

import fc from 'fast-check'
import { type MetadataJson, parsePhoneNumberFromString } from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/min/metadata'
import examples from 'libphonenumber-js/mobile/examples'
import { describe, expect, it, test } from 'vitest'
import type { RecipientMatch } from '../../../src/domain/configuration/configuration.ts'
import {
  countryOf,
  isCountryCode,
  normalizeCountry,
  recipientMatchFaults,
  specificity,
} from '../../../src/domain/routing/recipients.ts'
import { ALL, COUNTRY, NETWORK, to } from '../../support/recipient-matches.ts'

it('compares destinations as it finds them', () => {
  const ranks = ALL.map(specificity)
  expect(ranks).toEqual([...new Set(ranks)].sort((a, b) => a - b))
  expect(specificity(to({ prefix: '+4' }))).toBeGreaterThan(specificity(COUNTRY))
  expect(specificity(NETWORK)).toBeGreaterThan(specificity(to({ prefix: '+123456789012345' })))
})

it('names the fields of a destination that do not go together', () => {
  for (const right of [...ALL, to({ country: 'XK' })]) expect(recipientMatchFaults(right)).toEqual([])
  const fields = (changes: Partial<RecipientMatch>) =>
    recipientMatchFaults(to(changes)).map(({ field, code }) => `${field} ${code}`)
  expect(fields({ prefix: '+44', country: 'GB' })).toEqual(['country EXCLUSIVE'])
  expect(fields({ prefix: '+44', mccmnc: '23415' })).toEqual(['mccmnc EXCLUSIVE'])
  expect(fields({ mccmnc: '23415', country: 'XX' })).toEqual(['mccmnc EXCLUSIVE', 'country NOT_FOUND'])
})

describe('countries', () => {
  describe('countryOf', () => {
    test.each([
      ['+15551230001', 'US'],
      ['+12125550100', 'US'],
      ['+18005550123', 'US'],
      ['+14165550123', 'CA'],
      ['+14161110123', 'CA'],
      ['+18765550123', 'JM'],
      ['+17875550123', 'PR'],
      ['+447700900123', 'GB'],
      ['+441534888888', 'JE'],
      ['+77011234567', 'KZ'],
      ['+79111234567', 'RU'],
      ['+393331234567', 'IT'],
      ['+390669812345', 'VA'],
      ['+262639012345', 'YT'],
      ['+262692123456', 'RE'],
      ['+61412345678', 'AU'],
      ['+4915112345678', 'DE'],
      ['+919812345678', 'IN'],
      ['+38344123456', 'XK'],
      ['+8835100000000', null],
      ['+80012345678', null],
      ['+9991234567', null],
    ])('%s is %s', (number, country) => {
      expect(countryOf(number)).toBe(country)
      expect(countryOf(number)).toBe(country)
    })

    // Their mobile numbers are ranges of the country named, told apart by no plan of numbers.
    const SHARED = new Map(
      Object.entries({ AX: 'FI', BL: 'GP', MF: 'GP', CC: 'AU', CX: 'AU', EH: 'MA', SJ: 'NO', VA: 'IT' }),
    )

    test("every country's example of a mobile number is its own, or that of the country whose ranges it uses", () => {
      const data = metadata as MetadataJson
      const codes = Object.keys(data.countries) as (keyof typeof data.countries)[]
      expect(codes.length).toBeGreaterThan(240)
      const wrong = codes.filter((code) => {
        const number = `+${data.countries[code]![0]}${(examples as Record<string, string>)[code]}`
        return countryOf(number) !== (SHARED.get(code) ?? code)
      })
      expect(wrong).toEqual([])
    })

    test.each([
      ['+35818123456', 'AX'],
      ['+590590271234', 'BL'],
      ['+61891621234', 'CC'],
      ['+61891641234', 'CX'],
      ['+4779123456', 'SJ'],
      ['+447924123456', 'IM'],
      ['+447624123456', 'IM'],
      ['+447923123456', 'GB'],
    ])('%s of a shared numbering plan is %s', (number, country) => {
      expect(countryOf(number)).toBe(country)
    })

    test.each([
      [['201', '212', '305', '415', '808', '907', '939', '671', '684', '670', '340'], null],
      [
        [
          '204',
          '236',
          '250',
          '306',
          '343',
          '403',
          '416',
          '438',
          '506',
          '514',
          '604',
          '647',
          '709',
          '778',
          '867',
        ],
        'CA',
      ],
    ])('area codes %j', (areas, country) => {
      const others = new Map(Object.entries({ 939: 'PR', 671: 'GU', 684: 'AS', 670: 'MP', 340: 'VI' }))
      for (const area of areas) {
        expect(countryOf(`+1${area}5550123`), area).toBe(country ?? others.get(area) ?? 'US')
      }
    })

    test('what the leading digits tell is what the whole number tells, in every shared code but 1', () => {
      const data = metadata as MetadataJson
      const shared = Object.entries(data.country_calling_codes).filter(
        ([code, countries]) => code !== '1' && countries.length > 1,
      )
      const number = fc
        .tuple(fc.constantFrom(...shared), fc.stringMatching(/^[0-9]{7,11}$/))
        .map(([[code, countries], national]) => ({ e164: `+${code}${national}`, main: countries[0] }))
        .filter(({ e164 }) => !e164.startsWith('+447924'))
      fc.assert(
        fc.property(number, ({ e164, main }) => {
          expect(countryOf(e164)).toBe(parsePhoneNumberFromString(e164, data)?.country ?? main)
        }),
        { numRuns: 3000 },
      )
    })

    test('every country given is a country code', () => {
      fc.assert(
        fc.property(fc.stringMatching(/^\+[1-9][0-9]{6,14}$/), (number) => {
          const country = countryOf(number)
          expect(country === null || isCountryCode(country)).toBe(true)
        }),
      )
    })
  })

  test.each([
    ['US', 'US'],
    ['us', 'US'],
    ['Gb', 'GB'],
    ['XK', 'XK'],
    ['ZZ', null],
    ['UK', null],
    ['USA', null],
    ['U', null],
    ['', null],
    ['U\n', null],
    ['ıs', null],
  ])('normalizeCountry(%j) is %j', (input, country) => {
    expect(normalizeCountry(input)).toBe(country)
  })

  test('isCountryCode takes upper case only', () => {
    expect(isCountryCode('US')).toBe(true)
    expect(isCountryCode('us')).toBe(false)
    expect(isCountryCode('constructor')).toBe(false)
  })
})

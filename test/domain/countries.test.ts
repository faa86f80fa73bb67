import fc from 'fast-check'
import { type MetadataJson, parsePhoneNumberFromString } from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/min/metadata'
import { describe, expect, test } from 'vitest'
import { countryOf, isCountryCode, normalizeCountry } from '../../src/domain/countries.ts'

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

  test('what the leading digits tell is what the whole number tells, in every shared code but 1', () => {
    const data = metadata as MetadataJson
    const shared = Object.entries(data.country_calling_codes).filter(
      ([code, countries]) => code !== '1' && countries.length > 1,
    )
    const number = fc
      .tuple(fc.constantFrom(...shared), fc.stringMatching(/^[0-9]{7,11}$/))
      .map(([[code, countries], national]) => ({ e164: `+${code}${national}`, main: countries[0] }))
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

import { type MetadataJson, parsePhoneNumberFromString } from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/min/metadata'
import { type Fault, fault } from '../../errors.ts'
import type { RecipientMatch } from '../configuration/configuration.ts'

/** What is known of a recipient: its number, and the country and the network it is in. */
export interface RecipientArea {
  readonly recipient: string
  readonly country: string | null
  readonly mccmnc: string | null
}

/** Faults that the form of each field does not show: more than one field is given, or there is no such country. */
export function recipientMatchFaults({ prefix, country, mccmnc }: RecipientMatch): Fault[] {
  const faults: Fault[] = []
  const given = Object.entries({ prefix, country, mccmnc }).filter(([, value]) => value !== null)
  if (given.length > 1) {
    const [name] = given[1]!
    faults.push(
      fault(name, 'EXCLUSIVE', 'must be omitted: only one of prefix, country and mccmnc is allowed'),
    )
  }
  if (country !== null && !isCountryCode(country)) {
    faults.push(fault('country', 'NOT_FOUND', 'must be a country code of ISO 3166-1'))
  }
  return faults
}

/** Longer than any prefix, because nothing about a recipient is more specific than its network. */
const MCCMNC_SPECIFICITY = 100
/** `+` and one digit, the shortest prefix, has 2. */
const COUNTRY_SPECIFICITY = 1

/** A higher number is more specific: mccmnc, then the longer prefix, then country, then none. */
export function specificity({ prefix, country, mccmnc }: RecipientMatch): number {
  if (mccmnc !== null) return MCCMNC_SPECIFICITY
  if (prefix !== null) return prefix.length
  return country === null ? 0 : COUNTRY_SPECIFICITY
}

// The country of a number (ISO 3166-1 alpha-2), from the metadata of libphonenumber.

/** All officially assigned codes; XK (Kosovo), AC and TA are not, but numbers have them as their country. */
const CODES = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD
  CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF
  GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN
  KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA
  NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI
  SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI
  VN VU WF WS YE YT ZA ZM ZW XK AC TA`.split(/\s+/),
)

const MAX_CALLING_CODE_LENGTH = 3

/**
 * Digits that decide the country: in North America the area code; elsewhere no pattern of a smaller country needs more
 * than 6.
 */
const NANP = '1'
const NANP_AREA_LENGTH = 3
const TELLING_LENGTH = 6

/** Calling code -> its countries, the main one first. */
const COUNTRIES = new Map<string, readonly string[]>(
  Object.entries((metadata as MetadataJson).country_calling_codes),
)

/** Ranges that the metadata gives to two countries, although they belong to the smaller one (Ofcom: 07924 is Manx). */
const CLAIMED_TWICE = new Map([['+447924', 'IM']])
const CLAIM_LENGTH = 7

/**
 * Results by leading digits and length as one number: a text that was just cut would first be added to V8's table of unique
 * texts. Each has one place of 9 octets, where a later one replaces it. A busy shared code (7, 39, 44, 61) has up to 100,000
 * mobile prefixes.
 */
const PLACES_BITS = 19
const keptKeys = new Float64Array(2 ** PLACES_BITS)
/** Indexes in the countries of the calling code. */
const keptCountries = new Uint8Array(2 ** PLACES_BITS)
const LENGTHS = 32
/** 2^32 divided by the golden ratio: consecutive prefixes get places far from each other (Knuth, TAOCP 3, §6.4). */
const SPREAD = 0x9e3779b1

/**
 * The country of an E.164 number, or null when its calling code belongs to none (882, 883 …). If several countries share
 * a calling code, a number that none of them assigns counts for the main one: +1 555 … is US. Most codes have one
 * country, found by a look-up. Parsing a number costs about 10 µs, so the results for a shared code are cached by leading
 * digits.
 */
export function countryOf(e164: string): string | null {
  for (let length = 1; length <= MAX_CALLING_CODE_LENGTH; length += 1) {
    const callingCode = e164.slice(1, 1 + length)
    const countries = COUNTRIES.get(callingCode)
    if (countries === undefined) continue
    return countries.length === 1 ? (countries[0] as string) : sharedCountry(e164, callingCode, countries)
  }
  return null
}

/** An alpha-2 code in upper case, from either case; null when it is not one. */
export function normalizeCountry(input: string): string | null {
  if (!/^[A-Za-z]{2}$/.test(input)) return null
  const code = input.toUpperCase()
  return CODES.has(code) ? code : null
}

/** Whether the input is an alpha-2 code in upper case. */
export function isCountryCode(input: string): boolean {
  return CODES.has(input)
}

function sharedCountry(e164: string, callingCode: string, countries: readonly string[]): string {
  const isNanp = callingCode === NANP
  const tellingLength = 1 + callingCode.length + (isNanp ? NANP_AREA_LENGTH : TELLING_LENGTH)
  const telling = e164.slice(0, tellingLength)
  // Outside NANP, patterns with the same digits differ by length. In NANP, any exchange stands for its area code.
  const digits = Number(telling)
  const key = digits * LENGTHS + (isNanp ? 0 : e164.length)
  const place = Math.imul(digits + e164.length, SPREAD) >>> (32 - PLACES_BITS)
  if (keptKeys[place] === key) return countries[keptCountries[place]!]!
  const sample = isNanp ? `${telling}2002000` : e164
  const country =
    CLAIMED_TWICE.get(e164.slice(0, CLAIM_LENGTH)) ??
    parsePhoneNumberFromString(sample, metadata as MetadataJson)?.country
  // The main one, if none is found.
  const index = Math.max(0, countries.indexOf(country ?? ''))
  keptKeys[place] = key
  keptCountries[place] = index
  return countries[index]!
}

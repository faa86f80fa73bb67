import type { RecipientMatch } from '../configuration/configuration.ts'
import type { RecipientArea } from './recipients.ts'

/**
 * Recipients as numbers: a prefix or a network is its digits behind a 1, which keeps zeros in front of them. Networks are
 * negative, and countries are below all networks.
 */

const ZERO = 0x30
const MAX_DIGITS = 15
const ANYWHERE = 0
const COUNTRIES = -10_000_000
const CHARACTERS = 256

function digitsCode(text: string, from: number, to: number): number {
  let code = 1
  for (let at = from; at < to; at += 1) code = code * 10 + text.charCodeAt(at) - ZERO
  return code
}

function prefixCode(e164: string): number {
  return digitsCode(e164, 1, Math.min(e164.length, 1 + MAX_DIGITS))
}

function networkCode(mccmnc: string): number {
  return -digitsCode(mccmnc, 0, mccmnc.length)
}

function countryCode(country: string): number {
  return COUNTRIES - country.charCodeAt(0) * CHARACTERS - country.charCodeAt(1)
}

function codeOf({ prefix, country, mccmnc }: RecipientMatch): number {
  if (mccmnc !== null) return networkCode(mccmnc)
  if (prefix !== null) return prefixCode(prefix)
  return country === null ? ANYWHERE : countryCode(country)
}

function matchOf(code: number): RecipientMatch {
  const match = { prefix: null, country: null, mccmnc: null }
  if (code > ANYWHERE) return { ...match, prefix: `+${String(code).slice(1)}` }
  if (code === ANYWHERE) return match
  if (code > COUNTRIES) return { ...match, mccmnc: String(-code).slice(1) }
  const letters = COUNTRIES - code
  return { ...match, country: String.fromCharCode(Math.floor(letters / CHARACTERS), letters % CHARACTERS) }
}

/** Which kinds of match a group has: a bit for each length of a prefix, in digits, and these. */
const HAS_ANYWHERE = 1
const HAS_COUNTRY = 1 << 16
const HAS_NETWORK = 1 << 17

function kindOf({ prefix, country, mccmnc }: RecipientMatch): number {
  if (mccmnc !== null) return HAS_NETWORK
  if (prefix !== null) return 1 << (prefix.length - 1)
  return country === null ? HAS_ANYWHERE : HAS_COUNTRY
}

const NONE = -1
const TWO_32 = 4_294_967_296

/**
 * Finds the most specific match of a recipient within a group: one of its network, of the longest prefix, of its country,
 * of any recipient. No two matches of a group may be the same. They are numbered as they are added, from 0 on.
 *
 * There may be 200,000, so they are kept in arrays of numbers. As objects in Maps they took 200 bytes each instead of 30, and
 * each full collection of garbage marked them all.
 */
export class RecipientTable {
  readonly #groups: Int32Array
  readonly #codes: Float64Array
  /** An open hash table: the number of a match + 1 is in the first place that was free from its hash on. 0: free. */
  readonly #places: Uint32Array
  readonly #kinds = new Map<number, number>()
  #size = 0

  /** `room`: the most matches that it will have. */
  constructor(room: number) {
    this.#groups = new Int32Array(room)
    this.#codes = new Float64Array(room)
    this.#places = new Uint32Array(2 ** Math.ceil(Math.log2(2 * room + 1)))
  }

  get size(): number {
    return this.#size
  }

  /** Returns its number. */
  add(group: number, match: RecipientMatch): number {
    const entry = this.#size
    if (entry === this.#codes.length) throw new RangeError('the table of recipients is full')
    const code = codeOf(match)
    this.#groups[entry] = group
    this.#codes[entry] = code
    this.#places[this.#placeOf(group, code)] = entry + 1
    this.#kinds.set(group, (this.#kinds.get(group) ?? 0) | kindOf(match))
    this.#size += 1
    return entry
  }

  groupOf(entry: number): number {
    return this.#groups[entry]!
  }

  matchOf(entry: number): RecipientMatch {
    return matchOf(this.#codes[entry]!)
  }

  /** The number of the match; null: none fits. */
  mostSpecific(group: number, { recipient, country, mccmnc }: RecipientArea): number | null {
    const kinds = this.#kinds.get(group)
    if (kinds === undefined) return null
    let found = NONE
    if (kinds & HAS_NETWORK && mccmnc !== null) found = this.#find(group, networkCode(mccmnc))
    let code = prefixCode(recipient)
    for (let digits = Math.min(recipient.length - 1, MAX_DIGITS); found === NONE && digits > 0; digits -= 1) {
      if (kinds & (1 << digits)) found = this.#find(group, code)
      code = Math.floor(code / 10)
    }
    if (found === NONE && kinds & HAS_COUNTRY && country !== null)
      found = this.#find(group, countryCode(country))
    if (found === NONE && kinds & HAS_ANYWHERE) found = this.#find(group, ANYWHERE)
    return found === NONE ? null : found
  }

  #find(group: number, code: number): number {
    return this.#places[this.#placeOf(group, code)]! - 1
  }

  /** The place of the match, or the free one where it would be. */
  #placeOf(group: number, code: number): number {
    const mask = this.#places.length - 1
    for (let place = hashOf(group, code) & mask; ; place = (place + 1) & mask) {
      const entry = this.#places[place]! - 1
      if (entry === NONE || (this.#codes[entry] === code && this.#groups[entry] === group)) return place
    }
  }
}

function hashOf(group: number, code: number): number {
  const mixed = Math.imul(group, 0x9e3779b1) ^ Math.imul(code / TWO_32, 0x85ebca6b) ^ code
  const hash = Math.imul(mixed ^ (mixed >>> 16), 0xc2b2ae35)
  return hash ^ (hash >>> 15)
}

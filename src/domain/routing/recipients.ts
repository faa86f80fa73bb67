import { type Fault, fault } from '../../errors.ts'
import type { RecipientMatch } from '../configuration/configuration.ts'
import { isCountryCode } from './countries.ts'

/** Values by prefix of an E.164 number (`+` and digits). A look-up tries only the lengths that occur, longest first. */
export class PrefixTable<T> {
  readonly #values = new Map<string, T>()
  /** The longest first. */
  #lengths: readonly number[] = []

  constructor(entries: Iterable<readonly [string, T]> = []) {
    for (const [prefix, value] of entries) this.add(prefix, value)
  }

  add(prefix: string, value: T): void {
    this.#values.set(prefix, value)
    if (!this.#lengths.includes(prefix.length))
      this.#lengths = [...this.#lengths, prefix.length].sort((a, b) => b - a)
  }

  /** The value of the longest prefix that the number begins with. */
  longest(e164: string): T | undefined {
    for (const length of this.#lengths) {
      // A prefix longer than the number cannot be its beginning, though `slice` would give the whole number.
      if (length > e164.length) continue
      const value = this.#values.get(e164.slice(0, length))
      if (value !== undefined) return value
    }
    return undefined
  }
}

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

/** Finds the most specific match of a recipient. No two of them may be the same. */
export class RecipientTable<T extends RecipientMatch> {
  readonly #byMccmnc = new Map<string, T>()
  readonly #byPrefix = new PrefixTable<T>()
  readonly #byCountry = new Map<string, T>()
  #anywhere: T | undefined

  constructor(matches: Iterable<T> = []) {
    for (const match of matches) this.add(match)
  }

  add(match: T): void {
    const { prefix, country, mccmnc } = match
    if (mccmnc !== null) this.#byMccmnc.set(mccmnc, match)
    if (prefix !== null) this.#byPrefix.add(prefix, match)
    if (country !== null) this.#byCountry.set(country, match)
    if (specificity(match) === 0) this.#anywhere = match
  }

  mostSpecific({ recipient, country, mccmnc }: RecipientArea): T | null {
    return (
      (mccmnc === null ? undefined : this.#byMccmnc.get(mccmnc)) ??
      this.#byPrefix.longest(recipient) ??
      (country === null ? undefined : this.#byCountry.get(country)) ??
      this.#anywhere ??
      null
    )
  }
}

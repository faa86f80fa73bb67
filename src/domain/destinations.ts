import type { Destination } from './configuration.ts'
import { isCountryCode } from './countries.ts'
import { type Fault, fault } from './faults.ts'
import { PrefixTable } from './prefixes.ts'

/** What is known of a recipient: its number, and the country and the network it is in. */
export interface Place {
  readonly recipient: string
  readonly country: string | null
  readonly mccmnc: string | null
}

/** Faults that the form of each field does not show: more than one field is given, or there is no such country. */
export function destinationFaults({ prefix, country, mccmnc }: Destination): Fault[] {
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

/** Longer than any prefix, because nothing about a destination is more specific than its network. */
const MCCMNC_SPECIFICITY = 100
/** `+` and one digit, the shortest prefix, has 2. */
const COUNTRY_SPECIFICITY = 1

/** A higher number is more specific: mccmnc, then the longer prefix, then country, then none. */
export function specificity({ prefix, country, mccmnc }: Destination): number {
  if (mccmnc !== null) return MCCMNC_SPECIFICITY
  if (prefix !== null) return prefix.length
  return country === null ? 0 : COUNTRY_SPECIFICITY
}

/** Finds the most specific of several destinations. No two of them may be the same. */
export class DestinationTable<T extends Destination> {
  readonly #byMccmnc: ReadonlyMap<string, T>
  readonly #byPrefix: PrefixTable<T>
  readonly #byCountry: ReadonlyMap<string, T>
  readonly #anywhere: T | undefined

  constructor(destinations: readonly T[]) {
    const keyed = (key: keyof Destination) =>
      destinations.flatMap((one): [string, T][] => (one[key] === null ? [] : [[one[key], one]]))
    this.#byMccmnc = new Map(keyed('mccmnc'))
    this.#byPrefix = new PrefixTable(keyed('prefix'))
    this.#byCountry = new Map(keyed('country'))
    this.#anywhere = destinations.find((one) => specificity(one) === 0)
  }

  mostSpecific({ recipient, country, mccmnc }: Place): T | null {
    return (
      (mccmnc === null ? undefined : this.#byMccmnc.get(mccmnc)) ??
      this.#byPrefix.longest(recipient) ??
      (country === null ? undefined : this.#byCountry.get(country)) ??
      this.#anywhere ??
      null
    )
  }
}

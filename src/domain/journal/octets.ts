import { writeUuid } from '../identifiers.ts'

/** Values as octets, in the form of the journal: small numbers take little room. */

const UUID_OCTETS = 16
/** Seven bits per octet, least significant first; the eighth says that more follow. */
const MORE = 0x80
const FIRST_OCTETS = 65_536
/** Most that a writer keeps when it begins anew. */
const MOST_KEPT_OCTETS = 1_024 * 1_024

/** At most, in UTF-8. */
const OCTETS_OF_UNIT = 3

export class Writer {
  #buffer = Buffer.allocUnsafeSlow(FIRST_OCTETS)
  #length = 0

  /** Begins anew. What `written` returned is written over. */
  begin(): void {
    this.#length = 0
    if (this.#buffer.length > MOST_KEPT_OCTETS) this.#buffer = Buffer.allocUnsafeSlow(FIRST_OCTETS)
  }

  get written(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  whole(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('a journal entry holds whole numbers')
    this.#reserve(8)
    let rest = value
    while (rest >= MORE) {
      // Right for numbers beyond 32 bits too, for which `%` would be slow.
      this.#buffer[this.#length++] = (rest & (MORE - 1)) | MORE
      rest = Math.floor(rest / MORE)
    }
    this.#buffer[this.#length++] = rest
  }

  bits(value: bigint): void {
    this.text(value.toString(16))
  }

  text(value: string): void {
    const most = OCTETS_OF_UNIT * value.length
    this.#reserve(most + 1)
    if (most < MORE) {
      const octets = this.#buffer.write(value, this.#length + 1)
      this.#buffer[this.#length] = octets
      this.#length += 1 + octets
      return
    }
    const octets = Buffer.byteLength(value)
    this.whole(octets)
    this.#reserve(octets)
    this.#length += this.#buffer.write(value, this.#length)
  }

  uuid(value: string): void {
    this.#reserve(UUID_OCTETS)
    this.#length = writeUuid(this.#buffer, this.#length, value)
  }

  #reserve(octets: number): void {
    if (this.#length + octets <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(2 * this.#buffer.length + octets)
    this.#buffer.copy(larger)
    this.#buffer = larger
  }
}

export class Reader {
  readonly #data: Buffer
  #at = 0

  constructor(data: Buffer) {
    this.#data = data
  }

  get isAtEnd(): boolean {
    return this.#at === this.#data.length
  }

  whole(): number {
    let value = 0
    for (let factor = 1; factor <= Number.MAX_SAFE_INTEGER; factor *= MORE) {
      const octet = this.#data[this.#pass(1)]!
      value += (octet % MORE) * factor
      if (octet < MORE && Number.isSafeInteger(value)) return value
    }
    throw new RangeError('a journal entry has a number that is too long')
  }

  bits(): bigint {
    const digits = this.text()
    if (!/^[0-9a-f]+$/.test(digits)) throw new RangeError('a journal entry has bits that cannot be read')
    return BigInt(`0x${digits}`)
  }

  text(): string {
    const octets = this.whole()
    const start = this.#pass(octets)
    return this.#data.toString('utf8', start, start + octets)
  }

  uuid(): string {
    const start = this.#pass(UUID_OCTETS)
    const hex = this.#data.toString('hex', start, start + UUID_OCTETS)
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  }

  /** Where the next octets begin, which are read now. */
  #pass(octets: number): number {
    const start = this.#at
    if (start + octets > this.#data.length) throw new RangeError('a journal entry is cut short')
    this.#at += octets
    return start
  }
}

/** How a value is written and read. */
export interface Field<T> {
  write(to: Writer, value: T): void
  read(from: Reader): T
}

export const whole: Field<number> = { write: (to, value) => to.whole(value), read: (from) => from.whole() }
export const flag: Field<boolean> = {
  write: (to, value) => to.whole(value ? 1 : 0),
  read: (from) => from.whole() === 1,
}
export const bits: Field<bigint> = { write: (to, value) => to.bits(value), read: (from) => from.bits() }
export const text: Field<string> = { write: (to, value) => to.text(value), read: (from) => from.text() }

export function optional<T>(field: Field<T>): Field<T | null> {
  return {
    write(to, value) {
      flag.write(to, value !== null)
      if (value !== null) field.write(to, value)
    },
    read: (from) => (flag.read(from) ? field.read(from) : null),
  }
}

export function oneOf<const T extends string>(...values: readonly T[]): Field<T> {
  return {
    write: (to, value) => to.whole(values.indexOf(value)),
    read(from) {
      const value = values[from.whole()]
      if (value === undefined) throw new RangeError('a journal entry has a value that is not known')
      return value
    },
  }
}

/** The fields of an object, in the order in which they are written. */
export type Fields = Readonly<Record<string, Field<unknown>>>
export type Values<F> = { readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never }

/** An object as one field. */
export function all<F extends Fields>(fields: F): Field<Values<F>> {
  const each = Object.entries(fields) as [string, Field<unknown>][]
  return {
    write(to, value) {
      for (const [name, field] of each) field.write(to, (value as Record<string, unknown>)[name])
    },
    read: (from) => Object.fromEntries(each.map(([name, field]) => [name, field.read(from)])) as Values<F>,
  }
}

import { Distinct } from '../../collections/distinct.ts'
import type { Rate } from '../configuration/configuration.ts'
import { RecipientTable } from './recipient-table.ts'
import type { RecipientArea } from './recipients.ts'

/**
 * Amounts of money: exact decimals with up to 6 places. They are text outside and whole millionths (bigint) in
 * calculations. No float is involved: 3 × 0.1 is 0.3, not 0.30000000000000004.
 */

const PLACES = 6
const MILLION = 1_000_000n
const AMOUNT = /^([0-9]{1,8})(?:\.([0-9]{1,6}))?$/

/** The most that numeric(14, 6) holds. */
const MAX_MILLIONTHS = 99_999_999_999_999n

/** `0.0075` -> 7500n. Null for anything but 1-8 digits with up to 6 places: signs, exponents, separators, spaces. */
export function parseAmount(text: string): bigint | null {
  const parts = AMOUNT.exec(text)
  if (parts === null) return null
  return BigInt(parts[1]!) * MILLION + BigInt((parts[2] ?? '').padEnd(PLACES, '0'))
}

/**
 * 7500n -> `0.0075`: no trailing zeros, no exponent. An amount that numeric(14, 6) cannot hold becomes the largest it
 * can.
 */
export function formatAmount(millionths: bigint): string {
  const bounded = millionths > MAX_MILLIONTHS ? MAX_MILLIONTHS : millionths
  const places = String(bounded % MILLION)
    .padStart(PLACES, '0')
    .replace(/0+$/, '')
  return places === '' ? String(bounded / MILLION) : `${bounded / MILLION}.${places}`
}

/** What a message's price depends on, apart from its segments. */
export interface Priced extends RecipientArea {
  readonly planId: number
}

/** What a message costs: exact decimals that numeric(14, 6) holds. */
export interface Charge {
  readonly price: string
  readonly ptf: string
  readonly currency: string
}

/** The group of the rates for every plan without one of its own; ids of plans begin at 1. */
const SHARED = 0

/** All rates, indexed because one is looked up for each message. */
export class RateTable {
  readonly #recipients: RecipientTable
  readonly #ids: Int32Array
  /** By rate: its amounts among the distinct ones, which are few. */
  readonly #amounts: Uint32Array
  readonly #distinct = new Distinct<Charge>()
  /** Those that have been looked up. */
  readonly #made = new Map<number, Rate>()
  #hasNetworks = false

  /** `room`: the most rates that it will have. */
  constructor(room: number) {
    this.#recipients = new RecipientTable(room)
    this.#ids = new Int32Array(room)
    this.#amounts = new Uint32Array(room)
  }

  add(rate: Rate): void {
    const { id, planId, price, ptf, currency } = rate
    const entry = this.#recipients.add(planId ?? SHARED, rate)
    this.#ids[entry] = id
    this.#amounts[entry] = this.#distinct.numberOf(`${price} ${ptf} ${currency}`, () => ({
      price,
      ptf,
      currency,
    }))
    if (rate.mccmnc !== null) this.#hasNetworks = true
  }

  get size(): number {
    return this.#recipients.size
  }

  /** Whether a receipt that names another network can change a price. */
  get hasNetworks(): boolean {
    return this.#hasNetworks
  }

  /**
   * The most specific rate: by network, then by the longest prefix, by country, for anywhere. A plan's own rates come
   * before even more specific ones for all plans, because they were agreed with the customer. Returns the same object for the
   * same rate each time.
   */
  rateFor(message: Priced): Rate | null {
    const entry =
      this.#recipients.mostSpecific(message.planId, message) ?? this.#recipients.mostSpecific(SHARED, message)
    return entry === null ? null : (this.#made.get(entry) ?? this.#make(entry))
  }

  #make(entry: number): Rate {
    const group = this.#recipients.groupOf(entry)
    const rate = {
      id: this.#ids[entry]!,
      planId: group === SHARED ? null : group,
      ...this.#recipients.matchOf(entry),
      ...this.#distinct.at(this.#amounts[entry]!),
    }
    this.#made.set(entry, rate)
    return rate
  }
}

/** The exact cost of this many segments at a rate. */
export function chargeFor(rate: Pick<Rate, 'price' | 'ptf' | 'currency'>, segments: number): Charge {
  return { price: times(rate.price, segments), ptf: times(rate.ptf, segments), currency: rate.currency }
}

/** `amount` as numeric(14, 6) writes it. */
function times(amount: string, segments: number): string {
  return formatAmount((parseAmount(amount) ?? 0n) * BigInt(segments))
}

/** Exact decimals in the database, JSON numbers on the wire. */
export function decimal(text: string | null): number | null {
  return text === null ? null : Number(text)
}

import type { Rate } from '../configuration/configuration.ts'
import { type RecipientArea, RecipientTable } from './recipients.ts'

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

/** All rates, indexed because one is looked up for each message. */
export class RateTable {
  readonly #shared = new RecipientTable<Rate>()
  readonly #ofPlans = new Map<number | null, RecipientTable<Rate>>([[null, this.#shared]])
  #hasNetworks = false

  constructor(rates: Iterable<Rate> = []) {
    for (const rate of rates) this.add(rate)
  }

  add(rate: Rate): void {
    const own = this.#ofPlans.get(rate.planId) ?? new RecipientTable()
    this.#ofPlans.set(rate.planId, own)
    own.add(rate)
    if (rate.mccmnc !== null) this.#hasNetworks = true
  }

  /** Whether a receipt that names another network can change a price. */
  get hasNetworks(): boolean {
    return this.#hasNetworks
  }

  /**
   * The most specific rate: by network, then by the longest prefix, by country, for anywhere. A plan's own rates come
   * before even more specific ones for all plans, because they were agreed with the customer.
   */
  rateFor(message: Priced): Rate | null {
    return this.#ofPlans.get(message.planId)?.mostSpecific(message) ?? this.#shared.mostSpecific(message)
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

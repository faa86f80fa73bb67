import { formatAmount, parseAmount } from './amounts.ts'
import type { Rate } from './directory.ts'
import { PrefixTable } from './prefixes.ts'

/** What a message is and where it goes, as far as its price depends on it. */
export interface Priced {
  readonly planId: number
  /** E.164. */
  readonly recipient: string
  readonly country: string | null
  readonly mccmnc: string | null
}

/** What a message costs: exact decimals that numeric(14, 6) holds. */
export interface Charge {
  readonly price: string
  readonly ptf: string
  readonly currency: string
}

/** The rates of one plan, or those for all plans. */
interface Tariff {
  readonly networks: ReadonlyMap<string, Rate>
  readonly prefixes: PrefixTable<Rate>
  readonly countries: ReadonlyMap<string, Rate>
  readonly anywhere: Rate | null
}

/** Every rate there is, found by look-ups: this is asked for each message. */
export class RateTable {
  readonly #shared: Tariff | undefined
  readonly #ofPlans: ReadonlyMap<number, Tariff>
  /** Whether a receipt that names another network can change a price. */
  readonly hasNetworks: boolean

  constructor(rates: readonly Rate[]) {
    const byPlan = Map.groupBy(rates, (rate) => rate.planId)
    const tariffs = new Map([...byPlan].map(([planId, own]) => [planId, tariffOf(own)]))
    this.#shared = tariffs.get(null)
    tariffs.delete(null)
    this.#ofPlans = tariffs as Map<number, Tariff>
    this.hasNetworks = rates.some((rate) => rate.mccmnc !== null)
  }

  /**
   * The most specific rate: by network, then by the longest prefix, by country, for anywhere. A plan's own rates come
   * before those for all plans, whatever they name: what was agreed with a customer holds.
   */
  rateFor(message: Priced): Rate | null {
    return rateIn(this.#ofPlans.get(message.planId), message) ?? rateIn(this.#shared, message) ?? null
  }
}

function tariffOf(rates: readonly Rate[]): Tariff {
  return {
    networks: keyed(rates, 'mccmnc'),
    prefixes: new PrefixTable(keyed(rates, 'prefix')),
    countries: keyed(rates, 'country'),
    anywhere: rates.find((rate) => (rate.mccmnc ?? rate.prefix ?? rate.country) === null) ?? null,
  }
}

function keyed(rates: readonly Rate[], field: 'mccmnc' | 'prefix' | 'country'): Map<string, Rate> {
  const found = new Map<string, Rate>()
  for (const rate of rates) {
    const key = rate[field]
    if (key !== null) found.set(key, rate)
  }
  return found
}

function rateIn(tariff: Tariff | undefined, { recipient, country, mccmnc }: Priced): Rate | null {
  if (tariff === undefined) return null
  return (
    (mccmnc === null ? undefined : tariff.networks.get(mccmnc)) ??
    tariff.prefixes.longest(recipient) ??
    (country === null ? undefined : tariff.countries.get(country)) ??
    tariff.anywhere
  )
}

/** What so many segments cost at a rate, to the last millionth. */
export function chargeFor(rate: Pick<Rate, 'price' | 'ptf' | 'currency'>, segments: number): Charge {
  return { price: times(rate.price, segments), ptf: times(rate.ptf, segments), currency: rate.currency }
}

/** `amount` as numeric(14, 6) writes it. */
function times(amount: string, segments: number): string {
  return formatAmount((parseAmount(amount) ?? 0n) * BigInt(segments))
}

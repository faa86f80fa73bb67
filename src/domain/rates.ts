import { formatAmount, parseAmount } from './amounts.ts'
import type { Rate } from './configuration.ts'
import { DestinationTable, type Place } from './destinations.ts'

/** What a message's price depends on, beside its segments. */
export interface Priced extends Place {
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
  readonly #shared: DestinationTable<Rate> | undefined
  readonly #ofPlans: ReadonlyMap<number | null, DestinationTable<Rate>>
  /** Whether a receipt that names another network can change a price. */
  readonly hasNetworks: boolean

  constructor(rates: readonly Rate[]) {
    const byPlan = Map.groupBy(rates, (rate) => rate.planId)
    this.#ofPlans = new Map([...byPlan].map(([planId, own]) => [planId, new DestinationTable(own)]))
    this.#shared = this.#ofPlans.get(null)
    this.hasNetworks = rates.some((rate) => rate.mccmnc !== null)
  }

  /**
   * The most specific rate: by network, then by the longest prefix, by country, for anywhere. A plan's own rates come
   * before those for all plans, whatever they name: what was agreed with a customer holds.
   */
  rateFor(message: Priced): Rate | null {
    return (
      this.#ofPlans.get(message.planId)?.mostSpecific(message) ?? this.#shared?.mostSpecific(message) ?? null
    )
  }
}

/** What so many segments cost at a rate, to the last millionth. */
export function chargeFor(rate: Pick<Rate, 'price' | 'ptf' | 'currency'>, segments: number): Charge {
  return { price: times(rate.price, segments), ptf: times(rate.ptf, segments), currency: rate.currency }
}

/** `amount` as numeric(14, 6) writes it. */
function times(amount: string, segments: number): string {
  return formatAmount((parseAmount(amount) ?? 0n) * BigInt(segments))
}

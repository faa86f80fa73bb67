import type { Route, RoutingRule, ServicePlan } from './configuration.ts'
import { DestinationTable, type Place, specificity } from './destinations.ts'

/** Rules by the plan and the sender they are limited to; null: all. */
const key = (planId: number | null, sender: string | null) => `${planId ?? ''}:${sender ?? ''}`

/**
 * Finds the rule for a message: a sender's before any other, then the more specific destination, then the plan's own
 * (docs/adr/0007-order-of-routing-rules.md).
 */
export class RoutingRules {
  readonly #tables: ReadonlyMap<string, DestinationTable<RoutingRule>>
  /** By plan; null: for every plan. */
  readonly #routes: ReadonlyMap<number | null, ReadonlySet<Route>>

  constructor(rules: readonly RoutingRule[]) {
    const byPlan = Map.groupBy(rules, ({ planId }) => planId)
    this.#routes = new Map(
      [...byPlan].map(([planId, own]) => [planId, new Set(own.map(({ route }) => route))]),
    )
    const groups = Map.groupBy(rules, ({ planId, sender }) => key(planId, sender))
    this.#tables = new Map([...groups].map(([group, members]) => [group, new DestinationTable(members)]))
  }

  get none(): boolean {
    return this.#tables.size === 0
  }

  mostSpecific(planId: number, sender: string, place: Place): RoutingRule | null {
    return this.#limitedTo(planId, sender, place) ?? this.#limitedTo(planId, null, place)
  }

  /** The plan's own route and the routes over which rules may send its messages. */
  routesOf({ id, route }: ServicePlan): ReadonlySet<Route> {
    const own = route === null ? [] : [route]
    return new Set([...own, ...(this.#routes.get(id) ?? []), ...(this.#routes.get(null) ?? [])])
  }

  #limitedTo(planId: number, sender: string | null, place: Place): RoutingRule | null {
    const own = this.#tables.get(key(planId, sender))?.mostSpecific(place) ?? null
    const common = this.#tables.get(key(null, sender))?.mostSpecific(place) ?? null
    if (own === null || common === null) return own ?? common
    return specificity(own) >= specificity(common) ? own : common
  }
}

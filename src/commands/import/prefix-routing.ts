import type { ImportedConfiguration, Settings } from './imported-configuration.ts'

/** Routes and routing rules that choose as another gateway does, whose choice depends on the sender and the prefix. */

export interface RouteCarrier {
  readonly carrier: string
  readonly priority: number
  readonly weight: number
}

/** What the other gateway does with messages to a number. `number` is a prefix in E.164; empty: a number of none. */
export type Choose = (number: string, sender: string | null) => readonly RouteCarrier[]

export interface PlanRouting {
  /** Name of the plan's own route. */
  readonly route: string
  readonly rules: readonly RoutingRule[]
  /** Some of its messages have no carrier. */
  readonly hasGaps: boolean
}

/** What a plan with gaps is reported to have. */
export const GAPS =
  'recipients that nothing takes are not refused: they have the route nowhere, and fail when their validity ends'

interface RoutingRule {
  readonly from: string | null
  readonly prefix: string | null
  readonly route: string
}

/** Routes by what they have, so that plans share them. */
export class ImportedRoutes {
  readonly #imported: ImportedConfiguration
  readonly #names = new Map<string, string>()
  /** The name of the route without carriers. */
  #empty: string | null = null

  constructor(imported: ImportedConfiguration) {
    this.#imported = imported
  }

  /** The name of the route over these carriers, which is added if there is none yet. */
  nameOf(carriers: readonly RouteCarrier[]): string {
    const settings: Settings = { carriers: carriers.toSorted(inOrder) }
    const content = JSON.stringify(settings)
    const known = this.#names.get(content)
    if (known !== undefined) return known
    const name = this.#imported.linkName('routes', wordsFor(carriers))
    if (carriers.length === 0) this.#empty = name
    const origin = carriers.length === 0 ? 'no carrier: messages wait until their validity ends' : ''
    this.#imported.add('routes', name, settings, origin)
    this.#names.set(content, name)
    return name
  }

  isEmpty(name: string): boolean {
    return name === this.#empty
  }
}

/**
 * The route and the rules of a plan. The choice may change only at `prefixes`, and for `senders`. A rule that names a sender
 * decides before those that do not (docs/routing.md), so a sender with a rule has rules for every prefix that needs one.
 */
export function planRouting(
  routes: ImportedRoutes,
  prefixes: readonly string[],
  senders: readonly string[],
  choose: Choose,
): PlanRouting {
  // Shorter ones first: the prefix around another one comes before it.
  const ordered = [...new Set(prefixes)].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  const routeFor = (number: string, sender: string | null) => routes.nameOf(choose(number, sender))
  const own = routeFor('', null)
  const rules = rulesByPrefix(ordered, null, own, routeFor)
  for (const sender of new Set(senders)) {
    const differs = ['', ...ordered].some((prefix) => routeFor(prefix, sender) !== routeFor(prefix, null))
    if (!differs) continue
    const all = routeFor('', sender)
    rules.push({ from: sender, prefix: null, route: all }, ...rulesByPrefix(ordered, sender, all, routeFor))
  }
  const hasGaps = [own, ...rules.map(({ route }) => route)].some((name) => routes.isEmpty(name))
  return { route: own, rules, hasGaps }
}

/** A rule for each prefix whose route is not that of the prefix around it. */
function rulesByPrefix(
  prefixes: readonly string[],
  from: string | null,
  otherwise: string,
  routeFor: (number: string, sender: string | null) => string,
): RoutingRule[] {
  const routes = new Map<string, string>()
  const rules: RoutingRule[] = []
  for (const prefix of prefixes) {
    const route = routeFor(prefix, from)
    if (route !== around(prefix, routes, otherwise)) rules.push({ from, prefix, route })
    routes.set(prefix, route)
  }
  return rules
}

function around(prefix: string, routes: ReadonlyMap<string, string>, otherwise: string): string {
  for (let length = prefix.length - 1; length > 0; length -= 1) {
    const route = routes.get(prefix.slice(0, length))
    if (route !== undefined) return route
  }
  return otherwise
}

function inOrder(a: RouteCarrier, b: RouteCarrier): number {
  return a.priority - b.priority || (a.carrier < b.carrier ? -1 : a.carrier > b.carrier ? 1 : 0)
}

/** `acme`, `acme-beta`, `acme-then-beta`; more than four carriers are counted. */
function wordsFor(carriers: readonly RouteCarrier[]): string {
  if (carriers.length === 0) return 'nowhere'
  if (carriers.length > 4) return `${carriers.length}-carriers`
  const levels = Map.groupBy(carriers.toSorted(inOrder), ({ priority }) => priority)
  return [...levels.values()].map((level) => level.map(({ carrier }) => carrier).join('-')).join('-then-')
}

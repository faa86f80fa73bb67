import { Distinct } from '../../collections/distinct.ts'
import type { Route, RoutingRule, ServicePlan } from '../configuration/configuration.ts'
import { RecipientTable } from './recipient-table.ts'
import { type RecipientArea, specificity } from './recipients.ts'

/** Rules by the plan and the sender they are limited to; null: all. */
const key = (planId: number | null, sender: string | null) => `${planId ?? ''}:${sender ?? ''}`

const FNV_BASIS = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** FNV-1a of the text, continued from `hash`. */
function fnv(hash: number, text: string): number {
  let mixed = hash
  for (let at = 0; at < text.length; at += 1) mixed = Math.imul(mixed ^ text.charCodeAt(at), FNV_PRIME)
  return mixed
}

/** A rule by the id of its route. */
interface RuleOfRoute extends Omit<RoutingRule, 'route'> {
  readonly route: number
}

/** All rules, of which snapshots of the configuration with other routes have the same ones. */
export class RuleTable {
  readonly #recipients: RecipientTable
  readonly #ids: Int32Array
  readonly #routes: Int32Array
  /** The plans and senders that rules are limited to. Each is a group of the recipients. */
  readonly #limits = new Distinct<Pick<RoutingRule, 'planId' | 'sender'>>()
  /** By plan; null: for every plan. */
  readonly #routesOf = new Map<number | null, Set<number>>()
  #fingerprint = FNV_BASIS

  /** `room`: the most rules that it will have. */
  constructor(room: number) {
    this.#recipients = new RecipientTable(room)
    this.#ids = new Int32Array(room)
    this.#routes = new Int32Array(room)
  }

  add(rule: RuleOfRoute): void {
    const { id, planId, sender, route, prefix, country, mccmnc } = rule
    const limits = key(planId, sender)
    const entry = this.#recipients.add(
      this.#limits.numberOf(limits, () => ({ planId, sender })),
      rule,
    )
    this.#ids[entry] = id
    this.#routes[entry] = route
    this.#routesOf.set(planId, (this.#routesOf.get(planId) ?? new Set()).add(route))
    this.#fingerprint = fnv(this.#fingerprint, [limits, prefix, country, mccmnc, route].join())
  }

  /** Differs between sets of rules, but for one pair in four thousand million. */
  get fingerprint(): number {
    return this.#fingerprint
  }

  get size(): number {
    return this.#recipients.size
  }

  /** The ids of the routes of the rules for this plan; null: for every plan. */
  routesOf(planId: number | null): Iterable<number> {
    return this.#routesOf.get(planId) ?? []
  }

  /** The number of the most specific rule with these limits. */
  find(planId: number | null, sender: string | null, area: RecipientArea): number | null {
    const group = this.#limits.known(key(planId, sender))
    return group === undefined ? null : this.#recipients.mostSpecific(group, area)
  }

  at(entry: number): RuleOfRoute {
    return {
      id: this.#ids[entry]!,
      ...this.#limits.at(this.#recipients.groupOf(entry)),
      ...this.#recipients.matchOf(entry),
      route: this.#routes[entry]!,
    }
  }
}

/**
 * Finds the rule for a message: a sender's before any other, then the more specific match, then the plan's own
 * (docs/adr/0007-order-of-routing-rules.md).
 */
export class RoutingRules {
  readonly table: RuleTable
  readonly #routes: ReadonlyMap<number, Route>
  /** Those that have been looked up. */
  readonly #made = new Map<number, RoutingRule>()

  /** `routes`: by id. Those of all rules are among them. */
  constructor(table: RuleTable, routes: ReadonlyMap<number, Route>) {
    this.table = table
    this.#routes = routes
  }

  get none(): boolean {
    return this.table.size === 0
  }

  /** Returns the same object for the same rule each time. */
  mostSpecific(planId: number, sender: string, area: RecipientArea): RoutingRule | null {
    return this.#limitedTo(planId, sender, area) ?? this.#limitedTo(planId, null, area)
  }

  /** The plan's own route and the routes over which rules may send its messages. */
  routesOf({ id, route, sandbox }: ServicePlan): ReadonlySet<Route> {
    const own = route === null ? [] : [route]
    if (sandbox) return new Set(own)
    const ids = [...this.table.routesOf(id), ...this.table.routesOf(null)]
    return new Set([...own, ...ids.map((each) => this.#routes.get(each)!)])
  }

  #limitedTo(planId: number, sender: string | null, area: RecipientArea): RoutingRule | null {
    const own = this.#find(planId, sender, area)
    const common = this.#find(null, sender, area)
    if (own === null || common === null) return own ?? common
    return specificity(own) >= specificity(common) ? own : common
  }

  #find(planId: number | null, sender: string | null, area: RecipientArea): RoutingRule | null {
    const entry = this.table.find(planId, sender, area)
    return entry === null ? null : (this.#made.get(entry) ?? this.#make(entry))
  }

  #make(entry: number): RoutingRule {
    const rule = this.table.at(entry)
    const made = { ...rule, route: this.#routes.get(rule.route)! }
    this.#made.set(entry, made)
    return made
  }
}

/** out-of-use: its figures in this route fell below the route's floor. silent: it answers no submit. */
export type CarrierCondition =
  | 'usable'
  | 'stopped'
  | 'draining'
  | 'unbound'
  | 'throttled'
  | 'out-of-use'
  | 'silent'

export interface Choice {
  readonly carrierId: number
  /** For people; at most 200 characters. Stored with the message. */
  readonly reason: string
}

/** The route of a message. Texts that are the same for every message are made once. */
export interface Routed {
  readonly route: Route
  /** Null: it is the plan's own route. */
  readonly rule: RoutingRule | null
  /** Names of the route's carriers, in its order. */
  readonly carrierNames: readonly string[]
  /** The choice for each of the route's carriers when none had to be passed over. */
  readonly plainChoices: readonly Choice[]
}

const MAX_REASON_LENGTH = 200

/** It is better to send a message late over a throttled carrier, or badly over one out of use, than not at all. */
const LAST_RESORTS = ['usable', 'throttled', 'out-of-use', 'silent'] as const

export function routed(
  route: Route,
  rule: RoutingRule | null,
  nameOf: (carrierId: number) => string,
): Routed {
  const origin = describeOrigin(route, rule)
  return {
    route,
    rule,
    carrierNames: route.carriers.map(({ carrierId }) => nameOf(carrierId)),
    plainChoices: route.carriers.map(({ carrierId, priority, weight }) => ({
      carrierId,
      reason: reasonOf(origin, [describeShare(route, priority, weight)]),
    })),
  }
}

/**
 * Chooses the carrier for a message: by weight among the usable ones of the lowest priority number. If none is usable,
 * throttled ones are taken, then those out of use, then silent ones. Null when there are none of these either. `random`:
 * 0 to below 1.
 */
export function chooseCarrier(
  routed: Routed,
  conditionOf: (carrierId: number) => CarrierCondition,
  random: number,
): Choice | null {
  const open = openTo(routed.route, conditionOf)
  if (open === null) return null
  let left = random * open.weights
  const chosen = open.candidates.find((index) => {
    left -= routed.route.carriers[index]!.weight
    return left < 0
  })
  return explained(routed, open, chosen!)
}

/** Ids of the carriers that `chooseCarrier` chooses from at present. */
export function candidateCarriers(
  route: Route,
  conditionOf: (carrierId: number) => CarrierCondition,
): number[] {
  return openTo(route, conditionOf)?.candidates.map((index) => route.carriers[index]!.carrierId) ?? []
}

/** Every choice that `chooseCarrier` makes at present, and the share of the messages (0 to 1) that get it. */
export function possibleChoices(
  routed: Routed,
  conditionOf: (carrierId: number) => CarrierCondition,
): { choice: Choice; share: number }[] {
  const open = openTo(routed.route, conditionOf)
  if (open === null) return []
  return open.candidates.map((index) => ({
    choice: explained(routed, open, index),
    share: routed.route.carriers[index]!.weight / open.weights,
  }))
}

/** The carriers of a route that messages are shared among at present. */
interface Open {
  /** Of every carrier of the route. */
  readonly conditions: readonly CarrierCondition[]
  /** Indices in the route's carriers. */
  readonly candidates: readonly number[]
  readonly weights: number
}

function openTo({ carriers }: Route, conditionOf: (carrierId: number) => CarrierCondition): Open | null {
  const conditions = carriers.map(({ carrierId }) => conditionOf(carrierId))
  const condition = LAST_RESORTS.find((one) => conditions.includes(one))
  if (condition === undefined) return null
  let candidates: number[] = []
  let lowest = Number.POSITIVE_INFINITY
  let weights = 0
  for (const [index, { priority, weight }] of carriers.entries()) {
    if (conditions[index] !== condition || priority > lowest) continue
    if (priority < lowest) {
      candidates = []
      weights = 0
    }
    lowest = priority
    candidates.push(index)
    weights += weight
  }
  return { conditions, candidates, weights }
}

/** The plain choice, unless a carrier of a better or the same priority was passed over. */
function explained(routed: Routed, { conditions, weights }: Open, chosen: number): Choice {
  const { route, rule, carrierNames, plainChoices } = routed
  const { carrierId, priority, weight } = route.carriers[chosen]!
  const condition = conditions[chosen]!
  const isPlain = condition === 'usable' && !route.carriers.some(isPassedOver)
  if (isPlain) return plainChoices[chosen]!
  const passedOver = route.carriers.flatMap((other, index) =>
    isPassedOver(other, index) ? [`${carrierNames[index]} (${described(conditions[index]!)})`] : [],
  )
  const how: string[] = []
  if (passedOver.length === 0) how.push(describeShare(route, priority, weight))
  else if (weight < weights) how.push(`weight ${weight} of ${weights}`)
  if (passedOver.length > 0) how.push(`after ${passedOver.join(', ')}`)
  if (condition !== 'usable') how.push(`though ${described(condition)}`)
  return { carrierId, reason: reasonOf(describeOrigin(route, rule), how) }

  function isPassedOver(other: { priority: number }, index: number): boolean {
    return other.priority <= priority && conditions[index] !== condition
  }
}

/** `plan's route default`, `rule +4479 → route uk`, `plan's rule from 12345, GB → route uk`. */
export function describeOrigin(route: Route, rule: RoutingRule | null): string {
  if (rule === null) return `plan's route ${route.name}`
  const limits: string[] = []
  if (rule.sender !== null) limits.push(`from ${rule.sender}`)
  const recipients = rule.mccmnc ?? rule.prefix ?? rule.country
  if (recipients !== null) limits.push(recipients)
  const whose = rule.planId === null ? 'rule' : "plan's rule"
  return `${[whose, limits.join(', ')].join(' ').trimEnd()} → route ${route.name}`
}

function describeShare({ carriers }: Route, priority: number, weight: number): string {
  if (carriers.length === 1) return 'only carrier'
  const beside = carriers.filter((other) => other.priority === priority)
  if (beside.length === 1) return 'first by priority'
  return `weight ${weight} of ${beside.reduce((sum, other) => sum + other.weight, 0)}`
}

function described(condition: CarrierCondition): string {
  return condition === 'out-of-use' ? 'out of use' : condition
}

function reasonOf(origin: string, how: readonly string[]): string {
  const reason = `${origin}: ${how.join(', ')}`
  return reason.length <= MAX_REASON_LENGTH ? reason : `${reason.slice(0, MAX_REASON_LENGTH - 1)}…`
}

/** What one node can do with a carrier over its own sessions, best first. */
export const LINK_CONDITIONS = ['usable', 'throttled', 'silent', 'unbound'] as const

export type LinkCondition = (typeof LINK_CONDITIONS)[number]

/** By carrier id; a carrier that is missing is unbound. */
export type LinkConditions = ReadonlyMap<number, LinkCondition>

/** Whether `a` is as good as `b`, or better. */
export function isAsGood(a: LinkCondition, b: LinkCondition): boolean {
  return LINK_CONDITIONS.indexOf(a) <= LINK_CONDITIONS.indexOf(b)
}

/** What several nodes can do together: the best condition of each carrier on any of them. */
export function bestConditions(nodes: readonly Readonly<Record<string, LinkCondition>>[]): LinkConditions {
  const best = new Map<number, LinkCondition>()
  for (const node of nodes) {
    for (const [id, condition] of Object.entries(node)) {
      const known = best.get(Number(id)) ?? 'unbound'
      if (!isAsGood(known, condition)) best.set(Number(id), condition)
    }
  }
  return best
}

import type { LongMessages, Rate, Route, RoutingRule, ServicePlan } from './configuration.ts'
import { countryOf } from './countries.ts'
import type { Directory } from './directory.ts'
import { type Charge, chargeFor } from './rates.ts'
import { judgeSender, type SenderRefusal } from './send-requests.ts'
import { chooseEncoding } from './text/encoding-choice.ts'
import type { Encoding } from './text/segments.ts'

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

/** The plain choice, unless a carrier before or beside the chosen one was passed over. */
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
function describeOrigin(route: Route, rule: RoutingRule | null): string {
  if (rule === null) return `plan's route ${route.name}`
  const limits: string[] = []
  if (rule.sender !== null) limits.push(`from ${rule.sender}`)
  const destination = rule.mccmnc ?? rule.prefix ?? rule.country
  if (destination !== null) limits.push(destination)
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

export interface Question {
  readonly plan: ServicePlan
  readonly from: string
  /** E.164. */
  readonly to: string
  /** Null: any text of one segment. */
  readonly body: string | null
}

interface ExplainedCarrier {
  readonly carrier: string
  readonly priority: number
  readonly weight: number
  readonly condition: CarrierCondition
  /** Percentage of the messages that it gets at present. */
  readonly share: number
  /** As stored with a message; null when it gets none. */
  readonly reason: string | null
}

/** What would happen to a message, and why. */
export interface RouteExplanation {
  readonly country: string | null
  readonly mccmnc: string | null
  readonly isActive: boolean
  /** The plan has a route of its own. Without one it cannot send, whatever rules match. */
  readonly isComplete: boolean
  readonly senderRefusal: SenderRefusal | null
  /** Null: no rule fits, and the plan has no route. */
  readonly route: string | null
  /** Null: the route is the plan's own. */
  readonly rule: RoutingRule | null
  readonly carriers: readonly ExplainedCarrier[]
  /** Null without a text. */
  readonly encoding: Encoding | null
  readonly segments: number
  /** Null: no rate fits. */
  readonly rate: Rate | null
  readonly charge: Charge | null
}

/** Answers with the look-ups of the message path itself. */
export function explainRoute(
  directory: Directory,
  question: Question,
  conditionOf: (carrierId: number, routeId: number) => CarrierCondition,
): RouteExplanation {
  const { plan, from, to } = question
  const country = countryOf(to)
  const mccmnc = directory.mccmncOf(to)
  const routed = directory.routeFor(plan, from, to)
  const carriers = routed === null ? [] : explainCarriers(routed, conditionOf)
  const { encoding, segments } = textOf(question, formOf(directory, carriers))
  const rate = directory.rateFor({ planId: plan.id, recipient: to, country, mccmnc })
  return {
    country,
    mccmnc,
    isActive: plan.active,
    isComplete: plan.route !== null,
    senderRefusal: judgeSender(directory, plan, { from, to }),
    route: routed?.route.name ?? null,
    rule: routed?.rule ?? null,
    carriers,
    encoding,
    segments,
    rate,
    charge: rate && chargeFor(rate, segments),
  }
}

function explainCarriers(
  routed: Routed,
  conditionOf: (carrierId: number, routeId: number) => CarrierCondition,
): ExplainedCarrier[] {
  const { route, carrierNames } = routed
  const conditions = new Map(
    route.carriers.map(({ carrierId }) => [carrierId, conditionOf(carrierId, route.id)]),
  )
  const choices = possibleChoices(routed, (carrierId) => conditions.get(carrierId)!)
  return route.carriers.map(({ carrierId, priority, weight }, index) => {
    const chosen = choices.find(({ choice }) => choice.carrierId === carrierId)
    return {
      carrier: carrierNames[index]!,
      priority,
      weight,
      condition: conditions.get(carrierId)!,
      share: Math.round((chosen?.share ?? 0) * 1_000) / 10,
      reason: chosen?.choice.reason ?? null,
    }
  })
}

/** How the carrier that gets most of the messages wants long ones. Other forms of headers leave less room. */
function formOf({ contents }: Directory, carriers: readonly ExplainedCarrier[]): LongMessages {
  const [most] = carriers.toSorted((a, b) => b.share - a.share)
  return contents.carriers.find(({ name }) => name === most?.carrier)?.longMessages ?? 'udh'
}

function textOf(
  { plan, body }: Question,
  form: LongMessages,
): { encoding: Encoding | null; segments: number } {
  if (body === null) return { encoding: null, segments: 1 }
  const { language, segments } = chooseEncoding(body, plan, form)
  return { encoding: language === null ? 'UCS2' : 'GSM7', segments }
}

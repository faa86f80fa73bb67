import type { Fault } from '../../errors.ts'
import type { LongMessages, Rate, RoutingRule, ServicePlan } from '../configuration/configuration.ts'
import type { Directory } from '../configuration/directory.ts'
import { judgeRecipient, type LimitRefusal } from '../limits/plan-limits.ts'
import { nearestName } from '../near-names.ts'
import { type Charge, chargeFor } from '../routing/rates.ts'
import { countryOf } from '../routing/recipients.ts'
import {
  type CarrierCondition,
  candidateCarriers,
  describeOrigin,
  possibleChoices,
  type Routed,
} from '../routing/routing.ts'
import { chooseEncoding } from '../text/encoding-choice.ts'
import { type Encoding, explainText, type TextExplanation } from '../text/segments.ts'
import { classifySender, isE164, readE164, type SenderType } from './addresses.ts'
import { judgeSender, type SenderRefusal } from './send-requests.ts'

/**
 * What would become of a send, by the look-ups of the message path itself: `preflight` tells its customer what a customer may
 * know (docs/preflight.md), `explainRoute` tells an operator everything.
 */

/** As far as its customer may know. What cannot be told is null. */
export interface Preflight {
  readonly text: TextExplanation | null
  readonly sender: {
    readonly type: SenderType | null
    readonly isAllowed: boolean | null
    readonly refusal: SenderRefusal | null
  }
  readonly recipient: {
    readonly isValid: boolean
    /** The number as a send has to write it. */
    readonly msisdn: string | null
    readonly country: string | null
    readonly mccmnc: string | null
  }
  readonly route: PreflightRoute | null
  readonly charge: Charge | null
  /** Null: the request has none. */
  readonly callbackUrl: { readonly isAllowed: boolean; readonly fault: Fault | null } | null
  readonly unknownFields: readonly UnknownField[]
}

/**
 * Which carriers it has is the operator's business, and how busy they are follows from what other customers send. Whether any
 * carrier takes messages is the customer's business too: without one, they wait.
 */
interface PreflightRoute {
  readonly name: string
  readonly reason: string
  readonly isAvailable: boolean
}

interface UnknownField {
  readonly field: string
  readonly suggestion: string | null
}

export interface PreflightQuestion {
  readonly directory: Directory
  /** Null: the token has no such plan. */
  readonly plan: ServicePlan | null
  /** The body of the request, unchecked. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The faults that a send would be refused for. */
  readonly faults: readonly Fault[]
  /** Names of the fields that a send has. */
  readonly known: readonly string[]
  readonly conditionOf: (carrierId: number, routeId: number) => CarrierCondition
}

/** A request of 64 KiB could have thousands. */
const MAX_UNKNOWN_FIELDS = 50

export function preflight(question: PreflightQuestion): Preflight {
  const { directory, plan, fields, faults, known } = question
  const sound = (field: string): string | null => {
    const value = fields[field]
    return typeof value === 'string' && !faults.some((one) => one.field === field) ? value : null
  }
  const [from, to, body] = [sound('from'), sound('to'), sound('body')]
  const recipient = recipientOf(directory, fields.to)
  const text = plan === null || body === null ? null : explainText(body, plan)
  const sender = senderOf(directory, plan, from, to)
  const isRouted = plan !== null && plan.route !== null && to !== null && sender.isAllowed === true
  const isPriced = plan !== null && to !== null && text !== null
  return {
    text,
    sender,
    recipient,
    route: isRouted ? routeOf(question, plan, from!, to) : null,
    charge: isPriced ? chargeOf(directory, plan, to, text.segments.length) : null,
    callbackUrl: fields.callbackUrl === undefined ? null : callbackUrlOf(faults),
    unknownFields: unknownFields(Object.keys(fields), known),
  }
}

function recipientOf(directory: Directory, to: unknown): Preflight['recipient'] {
  const msisdn = typeof to === 'string' ? readE164(to) : null
  return {
    isValid: typeof to === 'string' && isE164(to),
    msisdn,
    country: msisdn === null ? null : countryOf(msisdn),
    mccmnc: msisdn === null ? null : directory.mccmncOf(msisdn),
  }
}

function senderOf(
  directory: Directory,
  plan: ServicePlan | null,
  from: string | null,
  to: string | null,
): Preflight['sender'] {
  const type = from === null ? null : classifySender(from)
  if (plan === null || from === null || to === null) return { type, isAllowed: null, refusal: null }
  const refusal = judgeSender(directory, plan, { from, to })
  return { type, isAllowed: refusal === null, refusal }
}

function routeOf(
  { directory, conditionOf }: PreflightQuestion,
  plan: ServicePlan,
  from: string,
  to: string,
): PreflightRoute | null {
  const routed = directory.routeFor(plan, from, to)
  if (routed === null) return null
  const { route, rule } = routed
  const open = candidateCarriers(route, (carrierId) => conditionOf(carrierId, route.id))
  return { name: route.name, reason: describeOrigin(route, rule), isAvailable: open.length > 0 }
}

function chargeOf(directory: Directory, plan: ServicePlan, to: string, segments: number): Charge | null {
  const rate = directory.rateOf(plan.id, to)
  return rate && chargeFor(rate, segments)
}

function callbackUrlOf(faults: readonly Fault[]): Preflight['callbackUrl'] {
  const fault = faults.find(({ field }) => field === 'callbackUrl') ?? null
  return { isAllowed: fault === null, fault }
}

function unknownFields(names: readonly string[], known: readonly string[]): UnknownField[] {
  return names
    .filter((name) => !known.includes(name))
    .slice(0, MAX_UNKNOWN_FIELDS)
    .map((field) => ({ field, suggestion: nearestName(field, known) }))
}

/** What an operator asks. */
export interface RouteQuestion {
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
  /** The plan has a route of its own. Without one it cannot send, even if a rule matches. */
  readonly isComplete: boolean
  readonly senderRefusal: SenderRefusal | null
  readonly recipientRefusal: LimitRefusal | null
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

export function explainRoute(
  directory: Directory,
  question: RouteQuestion,
  conditionOf: (carrierId: number, routeId: number) => CarrierCondition,
): RouteExplanation {
  const { plan, from, to } = question
  const country = countryOf(to)
  const mccmnc = directory.mccmncOf(to)
  const routed = directory.routeFor(plan, from, to)
  const carriers = routed === null ? [] : explainCarriers(routed, conditionOf)
  const { encoding, segments } = textOf(question, formOf(directory, carriers))
  const rate = directory.rateOf(plan.id, to, mccmnc)
  return {
    country,
    mccmnc,
    isActive: plan.active,
    isComplete: plan.route !== null,
    senderRefusal: judgeSender(directory, plan, { from, to }),
    recipientRefusal: judgeRecipient(plan, to),
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
  { plan, body }: RouteQuestion,
  form: LongMessages,
): { encoding: Encoding | null; segments: number } {
  if (body === null) return { encoding: null, segments: 1 }
  const { language, segments } = chooseEncoding(body, plan, form)
  return { encoding: language === null ? 'UCS2' : 'GSM7', segments }
}

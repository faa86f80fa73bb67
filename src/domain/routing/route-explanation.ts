import type { LongMessages, Rate, RoutingRule, ServicePlan } from '../configuration/configuration.ts'
import type { Directory } from '../configuration/directory.ts'
import { judgeRecipient, type LimitRefusal } from '../limits/plan-limits.ts'
import { judgeSender, type SenderRefusal } from '../messages/send-requests.ts'
import { chooseEncoding } from '../text/encoding-choice.ts'
import type { Encoding } from '../text/segments.ts'
import { type Charge, chargeFor } from './rates.ts'
import { countryOf } from './recipients.ts'
import { type CarrierCondition, possibleChoices, type Routed } from './routing.ts'

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
  { plan, body }: Question,
  form: LongMessages,
): { encoding: Encoding | null; segments: number } {
  if (body === null) return { encoding: null, segments: 1 }
  const { language, segments } = chooseEncoding(body, plan, form)
  return { encoding: language === null ? 'UCS2' : 'GSM7', segments }
}

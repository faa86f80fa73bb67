import { atOnce, mapOfInSteps, type Steps } from '../../collections/steps.ts'
import type { Operator } from '../credentials.ts'
import type { SenderType } from '../messages/addresses.ts'
import type { NetworkTable } from '../routing/networks.ts'
import type { Priced, RateTable } from '../routing/rates.ts'
import { countryOf } from '../routing/recipients.ts'
import { type Routed, type RoutingRules, routed } from '../routing/routing.ts'
import { isSandbox } from '../sandbox.ts'
import type {
  Account,
  Carrier,
  InboundNumber,
  Rate,
  Route,
  RoutingRule,
  SenderRule,
  SendsmsUser,
  ServicePlan,
  Token,
} from './configuration.ts'

export interface DirectoryContents {
  readonly version: string
  /** By table of the database, the version of its last change. */
  readonly tableVersions: Readonly<Record<string, number>>
  /**
   * What is wrong with each secret that cannot be decrypted. Its carrier is stopped; the webhooks of its account, or to its URL,
   * wait.
   */
  readonly unreadable: Readonly<Record<'accounts' | 'carriers' | 'plans', readonly string[]>>
  readonly accounts: readonly Account[]
  readonly plans: readonly ServicePlan[]
  /** By SHA-256 of the token, hex. Revoked tokens are not here. */
  readonly tokens: ReadonlyMap<string, Token>
  /** By SHA-256 of the operator token, hex. Revoked tokens are not here. */
  readonly operators: ReadonlyMap<string, Operator>
  /** Subscription status by `senderKey(planId, sender)`. */
  readonly senders: ReadonlyMap<string, string>
  readonly carriers: readonly Carrier[]
  readonly routes: readonly Route[]
  readonly rules: RoutingRules
  readonly networks: NetworkTable
  readonly rates: RateTable
  readonly senderRules: readonly SenderRule[]
  readonly inboundNumbers: ReadonlyMap<string, InboundNumber>
  /** By username. */
  readonly sendsmsUsers: ReadonlyMap<string, SendsmsUser>
}

export function senderKey(planId: number, sender: string): string {
  return `${planId}:${sender}`
}

/** Plans by their keys: there may be 10,000 or more. */
interface PlanTables {
  readonly byId: ReadonlyMap<number, ServicePlan>
  readonly byPublicId: ReadonlyMap<string, ServicePlan>
}

function* planTablesOf({ plans }: DirectoryContents): Steps<PlanTables> {
  const byId = yield* mapOfInSteps(plans, (plan) => [plan.id, plan])
  return { byId, byPublicId: yield* mapOfInSteps(plans, (plan) => [plan.servicePlanId, plan]) }
}

export function* directoryOf(contents: DirectoryContents): Steps<Directory> {
  return new Directory(contents, yield* planTablesOf(contents))
}

/** An immutable snapshot of the whole configuration, with the look-ups the message path needs. */
export class Directory {
  readonly contents: DirectoryContents
  readonly #plans: PlanTables
  readonly #carriersById: ReadonlyMap<number, Carrier>
  /** Made when first needed: at most one for each route and rule. */
  readonly #routed = new Map<Route | RoutingRule, Routed>()
  readonly #routesOf = new Map<ServicePlan, ReadonlySet<Route>>()
  readonly #senderRules: ReadonlyMap<string, SenderRule>
  readonly #readable = new Map<Token, readonly number[]>()

  constructor(contents: DirectoryContents, plans: PlanTables = atOnce(planTablesOf(contents))) {
    this.contents = contents
    this.#plans = plans
    this.#carriersById = new Map(contents.carriers.map((carrier) => [carrier.id, carrier]))
    this.#senderRules = new Map(contents.senderRules.map((rule) => [`${rule.planId}:${rule.country}`, rule]))
  }

  /** What is wrong with secrets, those of all kinds. */
  get unreadable(): readonly string[] {
    return Object.values(this.contents.unreadable).flat()
  }

  tokenByHash(sha256Hex: string): Token | undefined {
    return this.contents.tokens.get(sha256Hex)
  }

  /** Plan ids compare case-insensitively. */
  planByPublicId(servicePlanId: string): ServicePlan | undefined {
    return this.#plans.byPublicId.get(servicePlanId.toLowerCase())
  }

  planById(id: number): ServicePlan | undefined {
    return this.#plans.byId.get(id)
  }

  carrierById(id: number): Carrier | undefined {
    return this.#carriersById.get(id)
  }

  /** Whether the carrier is the simulator of the sandbox plans. */
  isSandboxCarrier(id: number): boolean {
    const carrier = this.#carriersById.get(id)
    return carrier !== undefined && isSandbox(carrier)
  }

  /** Subscription status: `approved`, `pending`, `denied`, or anything else an operator wrote. */
  senderStatus(planId: number, sender: string): string | undefined {
    return this.contents.senders.get(senderKey(planId, sender))
  }

  inboundNumber(msisdn: string): InboundNumber | undefined {
    return this.contents.inboundNumbers.get(msisdn)
  }

  /** What a segment from the plan to the recipient costs; null when no rate fits. `mccmnc`: if it is known already. */
  rateOf(planId: number, recipient: string, mccmnc = this.mccmncOf(recipient)): Rate | null {
    if (this.contents.rates.size === 0) return null
    return this.rateFor({ planId, recipient, country: countryOf(recipient), mccmnc })
  }

  /** What a segment of the message costs; null when no rate fits, or the plan is a sandbox. */
  rateFor(message: Priced): Rate | null {
    return this.planById(message.planId)?.sandbox === true ? null : this.contents.rates.rateFor(message)
  }

  /** Whether a receipt that names another network can change a price. */
  get hasNetworkRates(): boolean {
    return this.contents.rates.hasNetworks
  }

  /** Types of sender allowed by the plan's own rule, or else by the rule for all plans; null: no rule. */
  senderTypesTowards(planId: number, country: string | null): ReadonlySet<SenderType> | null {
    if (country === null || this.#senderRules.size === 0) return null
    const rule = this.#senderRules.get(`${planId}:${country}`) ?? this.#senderRules.get(`null:${country}`)
    return rule?.senderTypes ?? null
  }

  /** Network of a number by the longest prefix known. */
  mccmncOf(recipient: string): string | null {
    return this.contents.networks.networkOf(recipient)
  }

  /**
   * Where a message goes: by the most specific rule, else by the plan's own route; null when it has none. No rule matches
   * messages of a sandbox plan.
   */
  routeFor(plan: ServicePlan, sender: string, recipient: string): Routed | null {
    const isRuled = !plan.sandbox && !this.contents.rules.none
    const rule = !isRuled
      ? null
      : this.contents.rules.mostSpecific(plan.id, sender, {
          recipient,
          country: countryOf(recipient),
          mccmnc: this.mccmncOf(recipient),
        })
    const route = rule?.route ?? plan.route
    if (route === null) return null
    const known = this.#routed.get(rule ?? route)
    if (known !== undefined) return known
    const made = routed(route, rule, (id) => this.carrierById(id)?.name ?? String(id))
    this.#routed.set(rule ?? route, made)
    return made
  }

  /** Every route that a message of the plan may take. */
  routesOf(plan: ServicePlan): ReadonlySet<Route> {
    const known = this.#routesOf.get(plan)
    if (known !== undefined) return known
    const made = this.contents.rules.routesOf(plan)
    this.#routesOf.set(plan, made)
    return made
  }

  /** The ids of all plans whose records the token may read. */
  readablePlanIds(token: Token): readonly number[] {
    const known = this.#readable.get(token)
    if (known !== undefined) return known
    const plans = this.contents.plans.filter((plan) => plan.account.id === token.account.id)
    const ids = plans.filter((plan) => covers(token, plan)).map((plan) => plan.id)
    this.#readable.set(token, ids)
    return ids
  }
}

/** Why a token may not send with a plan, in the order of the checks. */
type PlanRefusal =
  | 'SERVICE_PLAN_NOT_FOUND'
  | 'FORBIDDEN'
  | 'SERVICE_PLAN_INACTIVE'
  | 'SERVICE_PLAN_INCOMPLETE'

/** Whether the token's account owns the plan and the token is not limited to others. */
function covers(token: Token, plan: ServicePlan): boolean {
  return token.planIds === null || token.planIds.has(plan.id)
}

/** The plan to send with, or the refusal. A foreign plan and one that does not exist are refused alike. */
export function planForSending(
  directory: Directory,
  token: Token,
  servicePlanId: string,
): ServicePlan | PlanRefusal {
  const plan = directory.planByPublicId(servicePlanId)
  if (plan === undefined || plan.account.id !== token.account.id) return 'SERVICE_PLAN_NOT_FOUND'
  if (!covers(token, plan)) return 'FORBIDDEN'
  if (!plan.active) return 'SERVICE_PLAN_INACTIVE'
  return plan.route === null ? 'SERVICE_PLAN_INCOMPLETE' : plan
}

/** The plan, active or not, whose records the token may read; null is 403, whether the plan exists elsewhere or nowhere. */
export function planForReading(
  directory: Directory,
  token: Token,
  servicePlanId: string,
): ServicePlan | null {
  const plan = directory.planByPublicId(servicePlanId)
  if (plan === undefined || plan.account.id !== token.account.id || !covers(token, plan)) return null
  return plan
}

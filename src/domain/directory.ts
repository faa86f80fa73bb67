import type { SenderKind } from './addresses.ts'
import type { IdRule } from './carrier-message-ids.ts'
import { countryOf } from './countries.ts'
import { PrefixTable } from './prefixes.ts'
import { type Priced, RateTable } from './rates.ts'
import { type Routed, routed } from './routing.ts'
import { RoutingRules } from './routing-rules.ts'
import type { SubmitOutcome } from './submit-outcomes.ts'

/** A customer. `id` is the database key; `accountId` is the public 24-hex identifier. */
export interface Account {
  readonly id: number
  readonly accountId: string
  readonly name: string
  readonly defaultDlrUrl: string | null
  /** Standard Webhooks secrets (`whsec_…`), the current one first; two while one is being rotated. */
  readonly webhookSecrets: readonly string[]
  readonly rateLimit: RateLimit | null
}

/** Token bucket: `perSecond` messages, up to `burst` at once. */
export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

/** What to do with a message that may or may not have reached the carrier. */
export type AmbiguousSubmits = 'resubmit' | 'unknown'

export interface ServicePlan {
  readonly id: number
  /** 24 hex digits, lower case. */
  readonly servicePlanId: string
  readonly account: Account
  readonly name: string
  readonly active: boolean
  /** A plan without a route is incomplete: it cannot send. */
  readonly route: Route | null
  readonly inboundUrl: string | null
  readonly rateLimit: RateLimit | null
  readonly senderTypes: ReadonlySet<SenderKind>
  readonly ambiguousSubmits: AmbiguousSubmits
  /** Typographic characters are replaced where that makes the whole text GSM 7-bit. */
  readonly smartEncoding: boolean
  /** National language identifiers (3GPP 23.038) that texts may be sent in, the preferred one first. */
  readonly nationalLanguages: readonly number[]
  /** Null: STOP, START and HELP are messages like any other. */
  readonly optOut: OptOutSettings | null
}

/** The words of STOP, START and HELP, and the text each is answered with; null: with none. */
export interface OptOutSettings {
  readonly stopWords: readonly string[]
  readonly startWords: readonly string[]
  readonly helpWords: readonly string[]
  readonly stopReply: string | null
  readonly startReply: string | null
  readonly helpReply: string | null
}

export interface Token {
  readonly id: number
  readonly account: Account
  /** Plans the token is limited to; null: every plan of the account. */
  readonly planIds: ReadonlySet<number> | null
}

export interface Route {
  readonly id: number
  readonly name: string
  /** Lowest priority number first; equal priorities share by weight. */
  readonly carriers: readonly { carrierId: number; priority: number; weight: number }[]
  readonly qualityFloor: QualityFloor | null
}

/** Takes a carrier out of use in a route for `pauseMinutes` when too few of its messages were delivered. */
export interface QualityFloor {
  /** Percent of the messages with a final receipt. */
  readonly minDelivered: number
  /** How far back is looked. */
  readonly windowMinutes: number
  /** With fewer messages in the window nothing is judged. */
  readonly minMessages: number
  readonly pauseMinutes: number
}

/** Where a message goes: all but one of prefix, country and mccmnc are null. */
export interface Destination {
  /** `+` and digits. */
  readonly prefix: string | null
  readonly country: string | null
  readonly mccmnc: string | null
}

/** Messages that fit take `route` instead of their plan's own; what is null fits all. */
export interface RoutingRule extends Destination {
  readonly id: number
  readonly planId: number | null
  readonly sender: string | null
  readonly route: Route
}

/** What one segment costs; exact decimals with up to 6 places. */
export interface Rate extends Destination {
  readonly id: number
  /** Null: every plan without a rate of its own. */
  readonly planId: number | null
  readonly price: string
  readonly ptf: string
  readonly currency: string
}

/** Kinds of sender allowed towards a country. */
export interface SenderRule {
  /** Null: every plan without a rule of its own. */
  readonly planId: number | null
  readonly country: string
  readonly senderTypes: ReadonlySet<SenderKind>
}

export type BindMode = 'transceiver' | 'transmitter' | 'receiver' | 'transmitter+receiver'

/** draining: bound, but nothing new is submitted. */
export type OperatingState = 'started' | 'draining' | 'stopped'

/**
 * How a text of several segments goes out: with a user data header that has an 8-bit or a 16-bit reference, with the
 * sar_* TLVs, or whole in message_payload.
 */
export type LongMessages = 'udh' | 'udh16' | 'sar' | 'payload'

export interface Carrier {
  readonly id: number
  readonly name: string
  readonly state: OperatingState
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /** PEM of the authorities its certificate may come from; null: the system's. */
  readonly tlsCa: string | null
  /** Name its certificate must have; null: its host. */
  readonly tlsServerName: string | null
  readonly bindMode: BindMode
  /** Binds of each kind, in the whole installation. */
  readonly binds: number
  readonly systemId: string
  readonly password: string
  readonly systemType: string
  readonly window: number
  readonly messagesPerSecond: number | null
  /** Of one sender. */
  readonly senderMessagesPerSecond: number | null
  readonly longMessages: LongMessages
  /** By command_status, in place of the table of all carriers. */
  readonly submitOutcomes: ReadonlyMap<number, SubmitOutcome>
  readonly idRule: IdRule | 'auto'
  /** What `auto` has learned; null: nothing yet. */
  readonly learnedIdRule: IdRule | null
}

export interface InboundNumber {
  readonly number: string
  readonly plan: ServicePlan
  readonly keywords: readonly string[]
}

export interface DirectoryContents {
  readonly version: string
  /** Of `numberRanges` and `rates`: they may be large, and are read and sorted anew only when this changes. */
  readonly bulkVersion: string
  readonly accounts: readonly Account[]
  readonly plans: readonly ServicePlan[]
  /** By SHA-256 of the token, hex. Revoked tokens are not here. */
  readonly tokens: ReadonlyMap<string, Token>
  /** Subscription status by `senderKey(planId, sender)`. */
  readonly senders: ReadonlyMap<string, string>
  readonly carriers: readonly Carrier[]
  readonly routes: readonly Route[]
  readonly routingRules: readonly RoutingRule[]
  /** mccmnc by prefix (`+` and digits). */
  readonly numberRanges: ReadonlyMap<string, string>
  readonly rates: readonly Rate[]
  readonly senderRules: readonly SenderRule[]
  readonly inboundNumbers: ReadonlyMap<string, InboundNumber>
}

export function senderKey(planId: number, sender: string): string {
  return `${planId}:${sender}`
}

/** An immutable snapshot of the whole configuration, with the look-ups the message path needs. */
export class Directory {
  readonly contents: DirectoryContents
  readonly #plansById: ReadonlyMap<number, ServicePlan>
  readonly #plansByPublicId: ReadonlyMap<string, ServicePlan>
  readonly #accountsById: ReadonlyMap<number, Account>
  readonly #carriersById: ReadonlyMap<number, Carrier>
  readonly #rules: RoutingRules
  readonly #networks: PrefixTable<string>
  /** Made when first needed: at most one for each route and rule. */
  readonly #routed = new Map<Route | RoutingRule, Routed>()
  readonly #routesOf = new Map<ServicePlan, ReadonlySet<Route>>()
  readonly #rates: RateTable
  readonly #senderRules: ReadonlyMap<string, SenderRule>

  /** `previous`: the snapshot before, whose large tables are kept where they are still the same. */
  constructor(contents: DirectoryContents, previous: Directory | null = null) {
    this.contents = contents
    this.#plansById = new Map(contents.plans.map((plan) => [plan.id, plan]))
    this.#plansByPublicId = new Map(contents.plans.map((plan) => [plan.servicePlanId, plan]))
    this.#accountsById = new Map(contents.accounts.map((account) => [account.id, account]))
    this.#carriersById = new Map(contents.carriers.map((carrier) => [carrier.id, carrier]))
    this.#rules = new RoutingRules(contents.routingRules)
    const kept = previous?.contents.bulkVersion === contents.bulkVersion ? previous : null
    this.#networks = kept === null ? new PrefixTable(contents.numberRanges) : kept.#networks
    this.#rates = kept === null ? new RateTable(contents.rates) : kept.#rates
    this.#senderRules = new Map(contents.senderRules.map((rule) => [`${rule.planId}:${rule.country}`, rule]))
  }

  tokenByHash(sha256Hex: string): Token | undefined {
    return this.contents.tokens.get(sha256Hex)
  }

  /** Plan ids compare case-insensitively (design: HTTP 3). */
  planByPublicId(servicePlanId: string): ServicePlan | undefined {
    return this.#plansByPublicId.get(servicePlanId.toLowerCase())
  }

  planById(id: number): ServicePlan | undefined {
    return this.#plansById.get(id)
  }

  accountById(id: number): Account | undefined {
    return this.#accountsById.get(id)
  }

  carrierById(id: number): Carrier | undefined {
    return this.#carriersById.get(id)
  }

  /** Subscription status: `approved`, `pending`, `denied`, or anything else an operator wrote. */
  senderStatus(planId: number, sender: string): string | undefined {
    return this.contents.senders.get(senderKey(planId, sender))
  }

  inboundNumber(msisdn: string): InboundNumber | undefined {
    return this.contents.inboundNumbers.get(msisdn)
  }

  /** What a segment of the message costs; null when no rate fits. */
  rateFor(message: Priced): Rate | null {
    return this.#rates.rateFor(message)
  }

  /** Whether a receipt that names another network can change a price. */
  get hasNetworkRates(): boolean {
    return this.#rates.hasNetworks
  }

  /** Kinds of sender that the plan's own rule, else the one for all plans, allows; null: no rule. */
  senderTypesTowards(planId: number, country: string | null): ReadonlySet<SenderKind> | null {
    if (country === null || this.#senderRules.size === 0) return null
    const rule = this.#senderRules.get(`${planId}:${country}`) ?? this.#senderRules.get(`null:${country}`)
    return rule?.senderTypes ?? null
  }

  /** Network of a number by the longest prefix known. */
  mccmncOf(recipient: string): string | null {
    return this.#networks.longest(recipient) ?? null
  }

  /** Where a message goes: by the most specific rule, else by the plan's own route; null when it has none. */
  routeFor(plan: ServicePlan, sender: string, recipient: string): Routed | null {
    const rule = this.#rules.none
      ? null
      : this.#rules.mostSpecific(plan.id, sender, {
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
    const made = this.#rules.routesOf(plan)
    this.#routesOf.set(plan, made)
    return made
  }
}

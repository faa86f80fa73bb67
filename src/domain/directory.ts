import type { SenderKind } from './addresses.ts'
import type { IdRule } from './carrier-message-ids.ts'

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
}

export type BindMode = 'transceiver' | 'transmitter' | 'receiver' | 'transmitter+receiver'

export interface Carrier {
  readonly id: number
  readonly name: string
  readonly enabled: boolean
  readonly host: string
  readonly port: number
  readonly tls: boolean
  readonly bindMode: BindMode
  readonly systemId: string
  readonly password: string
  readonly systemType: string
  readonly window: number
  readonly messagesPerSecond: number | null
  readonly idRule: IdRule
}

export interface InboundNumber {
  readonly number: string
  readonly plan: ServicePlan
  readonly keywords: readonly string[]
}

export interface DirectoryContents {
  readonly version: string
  readonly accounts: readonly Account[]
  readonly plans: readonly ServicePlan[]
  /** By SHA-256 of the token, hex. Revoked tokens are not here. */
  readonly tokens: ReadonlyMap<string, Token>
  /** Subscription status by `senderKey(planId, sender)`. */
  readonly senders: ReadonlyMap<string, string>
  readonly carriers: readonly Carrier[]
  readonly routes: readonly Route[]
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

  constructor(contents: DirectoryContents) {
    this.contents = contents
    this.#plansById = new Map(contents.plans.map((plan) => [plan.id, plan]))
    this.#plansByPublicId = new Map(contents.plans.map((plan) => [plan.servicePlanId, plan]))
    this.#accountsById = new Map(contents.accounts.map((account) => [account.id, account]))
    this.#carriersById = new Map(contents.carriers.map((carrier) => [carrier.id, carrier]))
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
}

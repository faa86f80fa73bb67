/** What operators configure, as the message path sees it. Read whole into memory: the Directory. */

import type { SenderKind } from './addresses.ts'
import type { IdRule } from './carrier-message-ids.ts'
import type { SubmitOutcome } from './submit-outcomes.ts'
import type { TokenScope } from './tokens.ts'

/** A customer. `id` is the database key; `accountId` is the public 24-hex identifier. */
export interface Account {
  readonly id: number
  readonly accountId: string
  readonly name: string
  readonly defaultDlrUrl: string | null
  /** Standard Webhooks secrets (`whsec_…`), the current one first; two while one is being rotated. */
  readonly webhookSecrets: readonly string[]
  /** Headers that its webhooks carry beside ours, by name: credentials for its receivers. */
  readonly webhookHeaders: Readonly<Record<string, string>>
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
  /** Time from acceptance until a message that no carrier took fails. */
  readonly validitySeconds: number
  /** Typographic characters are replaced where that makes the whole text GSM 7-bit. */
  readonly smartEncoding: boolean
  /** National language identifiers (3GPP 23.038) that texts may be sent in, the preferred one first. */
  readonly nationalLanguages: readonly number[]
  /** Null: STOP, START and HELP are messages like any other. */
  readonly optOut: OptOutSettings | null
}

/** The words of STOP, START and HELP, and the text that answers each; null: no answer. */
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
  /** What it may do; null: everything. */
  readonly scopes: ReadonlySet<TokenScope> | null
  /** Unix milliseconds from which the token is refused; null: never. */
  readonly expiresAtMs: number | null
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
  /** How far back the floor looks. */
  readonly windowMinutes: number
  /** With fewer messages in the window, nothing is judged. */
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

/** Messages that match take `route` instead of their plan's own. A field that is null matches all. */
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

/** How validity_period is written (SMPP 3.4 §7.1.1); none: it is omitted. */
export type ValidityFormat = 'relative' | 'absolute' | 'none'

/** draining: bound, but nothing new is submitted. */
export type OperatingState = 'started' | 'draining' | 'stopped'

/**
 * How a text of several segments is sent: with a user data header that has an 8-bit or a 16-bit reference, with the sar_*
 * TLVs, or whole in message_payload.
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
  /** Limit for each sender. */
  readonly senderMessagesPerSecond: number | null
  readonly longMessages: LongMessages
  /** Longest validity_period sent to it; null: until the message's own end. */
  readonly validitySeconds: number | null
  readonly validityFormat: ValidityFormat
  /** By command_status; takes the place of the table for all carriers. */
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

import type { IdRule } from '../carriers/message-ids.ts'
import type { ErrorOutcome } from '../carriers/statuses.ts'
import type { TokenScope } from '../credentials.ts'
import { parseIpAddress } from '../ip-addresses.ts'
import type { SenderType } from '../messages/addresses.ts'

/** What operators configure, as the message path sees it. Read whole into memory: the Directory. */

/** A customer. `id` is the database key; `accountId` is the public 24-hex identifier. */
export interface Account {
  readonly id: number
  readonly accountId: string
  readonly name: string
  readonly defaultDlrUrl: string | null
  /**
   * Standard Webhooks secrets (`whsec_…`), the current one first; two while one is being rotated. Null: a secret or the
   * headers cannot be decrypted, so its webhooks wait.
   */
  readonly webhookSecrets: readonly string[] | null
  /** Headers that its webhooks carry in addition to ours, by name: credentials for its receivers. */
  readonly webhookHeaders: Readonly<Record<string, string>>
  readonly rateLimit: RateLimit | null
}

/** An account whose webhooks can be signed. */
export type SigningAccount = Account & { readonly webhookSecrets: readonly string[] }

export function canSign(account: Account): account is SigningAccount {
  return account.webhookSecrets !== null
}

/** Token bucket: `perSecond` messages, up to `burst` at once. */
export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

/** How long the texts of messages are kept: as long as their records, or until the messages have ended. */
export const TEXT_RETENTIONS = ['keep', 'discard'] as const
type TextRetention = (typeof TEXT_RETENTIONS)[number]

/** What to do with a message that may or may not have reached the carrier. */
export const AMBIGUOUS_SUBMITS = ['resubmit', 'unknown'] as const
type AmbiguousSubmits = (typeof AMBIGUOUS_SUBMITS)[number]

export interface ServicePlan {
  readonly id: number
  /** 24 hex digits, lower case. */
  readonly servicePlanId: string
  readonly account: Account
  readonly name: string
  readonly active: boolean
  /** Its messages go to the simulator and cost nothing, whatever rules and rates say. Its route is the sandbox's. */
  readonly sandbox: boolean
  /** A plan without a route is incomplete: it cannot send. */
  readonly route: Route | null
  readonly inboundUrl: string | null
  readonly rateLimit: RateLimit | null
  readonly senderTypes: ReadonlySet<SenderType>
  readonly ambiguousSubmits: AmbiguousSubmits
  /** How long Aldis tries to submit a message before it is FAILED, counted from acceptance. A send may ask for another. */
  readonly validitySeconds: number
  readonly maxValiditySeconds: number
  /** ISO 3166-1 alpha-2; null: all. */
  readonly allowedCountries: ReadonlySet<string> | null
  readonly texts: TextRetention
  /** Null: none. */
  readonly caps: PlanCaps | null
  /** Null: none. */
  readonly pumpingGuard: PumpingGuard | null
  /** Its inbound URL is told of its limits. */
  readonly limitEvents: boolean
  /** Typographic characters are replaced where that makes the whole text GSM 7-bit. */
  readonly smartEncoding: boolean
  /** National language identifiers (3GPP 23.038) that texts may be sent in, the preferred one first. */
  readonly nationalLanguages: readonly number[]
  /** Null: STOP, START and HELP are messages like any other. */
  readonly optOut: OptOutSettings | null
}

/** Most messages and costs of a day and of a month (UTC); null: no cap. */
export interface PlanCaps {
  readonly messagesPerDay: number | null
  readonly messagesPerMonth: number | null
  /** Decimals, in `currency`: price and pass-through fee together. */
  readonly costPerDay: string | null
  readonly costPerMonth: string | null
  readonly currency: string | null
}

/** Pauses a country for `pauseMinutes` when the plan's messages to it look like artificial traffic. */
export interface PumpingGuard {
  /** Most messages an hour to numbers that differ in their last four digits only; null: any number. */
  readonly messagesPerPrefix: number | null
  /** Percent of a country's messages that have ended; null: any share. */
  readonly minDelivered: number | null
  /** With fewer in the window, the share is not judged. */
  readonly minMessages: number
  readonly windowMinutes: number
  readonly pauseMinutes: number
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
  readonly name: string
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

/** The recipients that a rule or a rate is for: at most one of prefix, country and mccmnc is not null. */
export interface RecipientMatch {
  /** `+` and digits. */
  readonly prefix: string | null
  readonly country: string | null
  readonly mccmnc: string | null
}

/** Messages that match take `route` instead of their plan's own. A field that is null matches all. */
export interface RoutingRule extends RecipientMatch {
  readonly id: number
  readonly planId: number | null
  readonly sender: string | null
  readonly route: Route
}

/** What one segment costs; exact decimals with up to 6 places. */
export interface Rate extends RecipientMatch {
  readonly id: number
  /** Null: every plan without a rate of its own. */
  readonly planId: number | null
  readonly price: string
  readonly ptf: string
  readonly currency: string
}

/** Types of sender allowed towards a country. */
export interface SenderRule {
  /** Null: every plan without a rule of its own. */
  readonly planId: number | null
  readonly country: string
  readonly senderTypes: ReadonlySet<SenderType>
}

export type BindType = 'transceiver' | 'transmitter' | 'receiver'
/** The n-th bind of a carrier is one session of each of these. */
export const BIND_TYPES = {
  transceiver: ['transceiver'],
  transmitter: ['transmitter'],
  receiver: ['receiver'],
  'transmitter+receiver': ['transmitter', 'receiver'],
} as const satisfies Record<string, readonly BindType[]>
export type BindMode = keyof typeof BIND_TYPES
export const BIND_MODES = Object.keys(BIND_TYPES) as BindMode[]

/** How validity_period is written (SMPP 3.4 §7.1.1); none: it is omitted. */
export const VALIDITY_FORMATS = ['relative', 'absolute', 'none'] as const
type ValidityFormat = (typeof VALIDITY_FORMATS)[number]

/** draining: bound, but nothing new is submitted. */
export const OPERATING_STATES = ['started', 'draining', 'stopped'] as const
type OperatingState = (typeof OPERATING_STATES)[number]

/**
 * How a text of several segments is sent: with a user data header that has an 8-bit or a 16-bit reference, with the sar_*
 * TLVs, or whole in message_payload.
 */
export const LONG_MESSAGES = ['udh', 'udh16', 'sar', 'payload'] as const
export type LongMessages = (typeof LONG_MESSAGES)[number]

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
  readonly submitOutcomes: ReadonlyMap<number, ErrorOutcome>
  readonly idRule: IdRule | 'auto'
  /** What `auto` has learned; null: nothing yet. */
  readonly learnedIdRule: IdRule | null
}

export interface InboundNumber {
  readonly number: string
  readonly plan: ServicePlan
  readonly keywords: readonly string[]
}

/** Who sends with /cgi-bin/sendsms. */
export interface SendsmsUser {
  readonly username: string
  readonly plan: ServicePlan
  /** As `hashPassword` writes it. */
  readonly passwordHash: string
  /** The sender of requests without one; null: they are refused. */
  readonly defaultSender: string | null
  /** Takes the place of any sender in a request. */
  readonly forcedSender: string | null
  /** Digits that take the place of the first 0 of a national number; null: such a number is refused. */
  readonly callingCode: string | null
  /** Where reports go that a request asks for without a URL of its own; null: to the account's default. */
  readonly dlrUrl: string | null
}

// Values an operator may choose among, and the rules of settings that a schema cannot express.

/** Receipts are awaited until 48 h after the longest validity; then submissions are kept for another 72 h. */
export const VALIDITY_SECONDS = { least: 60, most: 86_400 } as const
export const MAX_BINDS = 32
export const MAX_SUBMIT_OUTCOMES = 256

/** Paths take a name or a numeric id of a carrier or a route, so names begin with a letter. */
export const LINK_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,62}$/
/** A number that messages are sent to: E.164, or a short code. */
export const INBOUND_NUMBER = /^(?:\+[1-9][0-9]{6,14}|[0-9]{3,8})$/
/** Begins with a letter or a digit, so that no command takes it for an option. */
export const SENDSMS_USERNAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/
/** Where delivery reports go: percent signs are for escapes, which the host may not have. Credentials would be shown. */
export const SENDSMS_DLR_URL = /^(?=.{1,2048}$)https?:\/\/[^\s\p{Cc}/?#@%\\]+(?:[/?#][^\s\p{Cc}]*)?$/u
/** An international calling code (ITU-T E.164). */
export const CALLING_CODE = /^[1-9][0-9]{0,2}$/
/** Who an inbound message is from: carriers have short codes, names, national numbers and forms of their own. */
export const INBOUND_SENDER = /^(?=.{1,64}$)[^\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?$/u
/** Beginning of E.164 numbers, the calling code at least. */
export const NUMBER_PREFIX = /^\+[1-9][0-9]{0,14}$/
/** Mobile country code and network code (ITU-T E.212): 3 digits, then 2 or 3. */
export const MCCMNC = /^[0-9]{5,6}$/
/** One word, because it is matched against the first token of a message. No controls (PostgreSQL has no U+0000). */
export const KEYWORD = /^[^\s\p{Cc}\p{Cs}]{1,32}$/u

const HOST_LABEL = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/
const MAX_HOST_CHARACTERS = 253

/** A host name or an IP literal without brackets: where a carrier's SMSC is dialled. */
export function isCarrierHost(host: string): boolean {
  if (parseIpAddress(host) !== null) return true
  const labels = host.split('.')
  // A host of digits and dots only is an address that did not parse, and resolvers would read it as one.
  if (host.length > MAX_HOST_CHARACTERS || /^[0-9.]+$/.test(host)) return false
  return labels.every((label) => HOST_LABEL.test(label))
}

/** The first keyword that equals an earlier one apart from case, or null. */
export function repeatedKeyword(keywords: readonly string[]): string | null {
  const seen = new Set<string>()
  for (const keyword of keywords) {
    const folded = keyword.normalize('NFC').toLowerCase()
    if (seen.has(folded)) return keyword
    seen.add(folded)
  }
  return null
}

/** The first value that occurs twice, or null. */
export function repeatedValue(values: readonly string[]): string | null {
  return values.find((value, position) => values.indexOf(value) !== position) ?? null
}

/** A command_status (SMPP 3.4 §5.1.3) as `0x45` or `69`; null when it is neither. */
export function parseCommandStatus(text: string): number | null {
  if (!/^(?:0[xX][0-9a-fA-F]{1,8}|[0-9]{1,10})$/.test(text)) return null
  const status = Number(text)
  return status <= 0xffff_ffff ? status : null
}

/** `0x00000045` */
export function formatCommandStatus(status: number): string {
  return `0x${status.toString(16).padStart(8, '0')}`
}

/** Outcomes by command_status in decimal, as they are stored, by `0x00000045`. */
export function outcomesByHexStatus<T>(outcomes: Readonly<Record<string, T>>): Record<string, T> {
  const entries = Object.entries(outcomes).map(([status, outcome]): [string, T] => [
    formatCommandStatus(Number(status)),
    outcome,
  ])
  return Object.fromEntries(entries)
}

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[A-Za-z0-9+/=\s]+-----END \1-----/g

/** The certificates of a PEM text, one block each; null when it has none, or anything else between BEGIN and END. */
export function pemCertificates(text: string): readonly string[] | null {
  const blocks = [...text.matchAll(PEM_BLOCK)]
  const complete = blocks.length === (text.match(/-----BEGIN /g) ?? []).length
  if (!complete || blocks.length === 0 || blocks.some(([, label]) => label !== 'CERTIFICATE')) return null
  return blocks.map(([block]) => block)
}

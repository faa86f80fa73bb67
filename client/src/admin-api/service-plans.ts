// Made from the OpenAPI document by `npm run generate-client`.

import type { DisplayName, RateLimit, SenderType } from './several-tags.ts'

export type AmbiguousSubmits = 'resubmit' | 'unknown'

export type NationalLanguage =
  | 'turkish'
  | 'spanish'
  | 'portuguese'
  | 'bengali'
  | 'gujarati'
  | 'hindi'
  | 'kannada'
  | 'malayalam'
  | 'oriya'
  | 'punjabi'
  | 'tamil'
  | 'telugu'
  | 'urdu'

export interface OptOutSetting {
  /** Words that count as STOP; default: STOP, UNSUBSCRIBE, CANCEL …. */
  stopWords?: OptOutWordList | undefined
  /** Words that count as START; default: START, UNSTOP, YES. */
  startWords?: OptOutWordList | undefined
  /** Words that count as HELP; default: HELP, INFO. */
  helpWords?: OptOutWordList | undefined
  /** Reply that confirms an opt-out; null: no reply. */
  stopReply?: string | null | undefined
  /** Reply that confirms the end of an opt-out; null: no reply. */
  startReply?: string | null | undefined
  /** Reply to HELP; null: no reply. */
  helpReply?: string | null | undefined
}

export type OptOutWordList = string[]

export interface OptOutWords {
  /** Words that count as STOP; default: STOP, UNSUBSCRIBE, CANCEL …. */
  stopWords: OptOutWordList
  /** Words that count as START; default: START, UNSTOP, YES. */
  startWords: OptOutWordList
  /** Words that count as HELP; default: HELP, INFO. */
  helpWords: OptOutWordList
  /** Reply that confirms an opt-out; null: no reply. */
  stopReply: string | null
  /** Reply that confirms the end of an opt-out; null: no reply. */
  startReply: string | null
  /** Reply to HELP; null: no reply. */
  helpReply: string | null
}

export interface PlanCaps {
  messagesPerDay: number | null
  messagesPerMonth: number | null
  costPerDay: string | null
  costPerMonth: string | null
  /** Currency (ISO 4217). */
  currency: string | null
}

export interface PlanCapsSetting {
  messagesPerDay?: number | null | undefined
  messagesPerMonth?: number | null | undefined
  costPerDay?: string | number | null | undefined
  costPerMonth?: string | number | null | undefined
  /** Currency (ISO 4217). */
  currency?: string | null | undefined
}

export interface PumpingGuard {
  /** most messages an hour to numbers that differ in their last four digits only. */
  messagesPerPrefix: number | null
  /** least percentage of a country's messages that are delivered. */
  minDelivered: number | null
  /** with fewer, the share is not judged; default: 100. */
  minMessages: number
  /** how far the share looks back; default: 60. */
  windowMinutes: number
  /** how long a country is paused; default: 60. */
  pauseMinutes: number
}

export interface PumpingGuardSetting {
  /** most messages an hour to numbers that differ in their last four digits only. */
  messagesPerPrefix?: number | null | undefined
  /** least percentage of a country's messages that are delivered. */
  minDelivered?: number | null | undefined
  /** with fewer, the share is not judged; default: 100. */
  minMessages?: number | undefined
  /** how far the share looks back; default: 60. */
  windowMinutes?: number | undefined
  /** how long a country is paused; default: 60. */
  pauseMinutes?: number | undefined
}

export interface ServicePlan {
  servicePlanId: string
  accountId: string
  name: string
  /** whether its messages go to the built-in simulator, free of charge. */
  sandbox: boolean
  /** whether it has a route, and so can send. */
  complete: boolean
  /** Accept its messages; false: refuse them; default: true. */
  active: boolean
  route: string | null
  inboundUrl: string | null
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit: RateLimit | null
  /** Types of sender that it may use; default: all. */
  senderTypes: SenderType[]
  /** What to do with a message that may or may not have reached the carrier; default: resubmit. */
  ambiguousSubmits: AmbiguousSubmits
  /** How long a message may wait for a carrier before it fails; carriers are told the rest of it; default: 86400. */
  validitySeconds: number
  /** Longest validity that the sender of a message can ask for; default: 86400. */
  maxValiditySeconds: number
  /** Countries that it may send to (ISO 3166-1 alpha-2); empty: all; default: all. */
  allowedCountries: string[]
  /** Keep the texts of messages with their records, or discard each when its message has ended; default: keep. */
  texts: TextRetention
  caps: PlanCaps | null
  pumpingGuard: PumpingGuard | null
  /** Push events of its limits to its inbound URL; false: push none; default: none are pushed. */
  limitEvents: boolean
  /** Replace typographic characters if that makes the whole text fit the GSM alphabet; false: send texts as they are; default: texts are sent as they are. */
  smartEncoding: boolean
  /** Languages whose GSM tables may be used for texts, the preferred one first; empty: none; default: none. */
  nationalLanguages: NationalLanguage[]
  optOut: OptOutWords | null
  createdAt: string
}

export interface ServicePlanChange {
  /** Name to show. */
  name?: DisplayName | undefined
  /** Accept its messages; false: refuse them; default: true. */
  active?: boolean | undefined
  /** Route of its messages; null: none, so it cannot send. */
  route?: string | null | undefined
  /** URL that its inbound messages are pushed to; null: none. */
  inboundUrl?: string | null | undefined
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit?: RateLimit | null | undefined
  /** Types of sender that it may use; default: all. */
  senderTypes?: SenderType[] | undefined
  /** What to do with a message that may or may not have reached the carrier; default: resubmit. */
  ambiguousSubmits?: AmbiguousSubmits | undefined
  /** How long a message may wait for a carrier before it fails; carriers are told the rest of it; default: 86400. */
  validitySeconds?: number | undefined
  /** Longest validity that the sender of a message can ask for; default: 86400. */
  maxValiditySeconds?: number | undefined
  /** Countries that it may send to (ISO 3166-1 alpha-2); empty: all; default: all. */
  allowedCountries?: string[] | undefined
  /** Keep the texts of messages with their records, or discard each when its message has ended; default: keep. */
  texts?: TextRetention | undefined
  /** Most messages, and most costs (price and pass-through fee) in a currency, of a day and of a month (UTC); null: no caps. */
  caps?: PlanCapsSetting | null | undefined
  /** Pause a country when messages to it look like artificial traffic; null: pause none. */
  pumpingGuard?: PumpingGuardSetting | null | undefined
  /** Push events of its limits to its inbound URL; false: push none; default: none are pushed. */
  limitEvents?: boolean | undefined
  /** Replace typographic characters if that makes the whole text fit the GSM alphabet; false: send texts as they are; default: texts are sent as they are. */
  smartEncoding?: boolean | undefined
  /** Languages whose GSM tables may be used for texts, the preferred one first; empty: none; default: none. */
  nationalLanguages?: NationalLanguage[] | undefined
  /** Act on STOP, START and HELP; null: treat them like any other message. */
  optOut?: OptOutSetting | null | undefined
}

export interface ServicePlanCreation {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId?: string | undefined
  /** Id of the account, 24 hex digits. */
  accountId: string
  /** Name to show. */
  name: DisplayName
  /** Send its messages to the built-in simulator, free of charge, for good; false: send them to carriers; default: send them to carriers. */
  sandbox?: boolean | undefined
  /** Accept its messages; false: refuse them; default: true. */
  active?: boolean | undefined
  /** Route of its messages; null: none, so it cannot send. */
  route?: string | null | undefined
  /** URL that its inbound messages are pushed to; null: none. */
  inboundUrl?: string | null | undefined
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit?: RateLimit | null | undefined
  /** Types of sender that it may use; default: all. */
  senderTypes?: SenderType[] | undefined
  /** What to do with a message that may or may not have reached the carrier; default: resubmit. */
  ambiguousSubmits?: AmbiguousSubmits | undefined
  /** How long a message may wait for a carrier before it fails; carriers are told the rest of it; default: 86400. */
  validitySeconds?: number | undefined
  /** Longest validity that the sender of a message can ask for; default: 86400. */
  maxValiditySeconds?: number | undefined
  /** Countries that it may send to (ISO 3166-1 alpha-2); empty: all; default: all. */
  allowedCountries?: string[] | undefined
  /** Keep the texts of messages with their records, or discard each when its message has ended; default: keep. */
  texts?: TextRetention | undefined
  /** Most messages, and most costs (price and pass-through fee) in a currency, of a day and of a month (UTC); null: no caps. */
  caps?: PlanCapsSetting | null | undefined
  /** Pause a country when messages to it look like artificial traffic; null: pause none. */
  pumpingGuard?: PumpingGuardSetting | null | undefined
  /** Push events of its limits to its inbound URL; false: push none; default: none are pushed. */
  limitEvents?: boolean | undefined
  /** Replace typographic characters if that makes the whole text fit the GSM alphabet; false: send texts as they are; default: texts are sent as they are. */
  smartEncoding?: boolean | undefined
  /** Languages whose GSM tables may be used for texts, the preferred one first; empty: none; default: none. */
  nationalLanguages?: NationalLanguage[] | undefined
  /** Act on STOP, START and HELP; null: treat them like any other message. */
  optOut?: OptOutSetting | null | undefined
}

export interface ServicePlanPage {
  items: ServicePlan[]
  nextAfter: string | null
}

export type TextRetention = 'keep' | 'discard'

/** Each operation: its input, and its answer when it succeeds. */
export interface ServicePlansOperations {
  /** Create a service plan. Messages are sent and received under a service plan. It can send once it has a route; a sandbox plan can send at once. */
  createServicePlan: { input: ServicePlanCreation; answer: ServicePlan }
  /** List service plans. Sorted by name or number. */
  listServicePlans: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the account, 24 hex digits. */
      accountId?: string | undefined
      /** Name of their own route. */
      route?: string | undefined
      /** Beginning of their name, in any case. */
      search?: DisplayName | undefined
    }
    answer: ServicePlanPage
  }
  /** Show a service plan. Returns its settings and whether it can send. */
  getServicePlan: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
    }
    answer: ServicePlan
  }
  /** Update a service plan. Omitted fields keep their values. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  updateServicePlan: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
    } & ServicePlanChange
    answer: ServicePlan
  }
  /** Delete a service plan. A service plan that is in use cannot be deleted. */
  deleteServicePlan: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
    }
    answer: undefined
  }
}

// Made from the OpenAPI document by `npm run generate-client`.

import type { DeliveryReceipt, ErrorCode, Fault, MessageStatus, Pagination } from './several-tags.ts'

export interface CapUsage {
  per: 'day' | 'month'
  begins: string
  endsAt: string
  used: LimitCount
  cap: LimitCount
  /** of the cap, rounded down. */
  percent: number
}

export interface CountryPause {
  country: string
  since: string
  until: string
  reason: string
}

export interface CountsByStatus {
  QUEUED: number
  SENT: number
  DELIVERED: number
  FAILED: number
  UNKNOWN: number
}

export interface LimitCount {
  messages: number | null
  /** decimal; null: messages are counted. */
  cost: string | null
  currency: string | null
}

export interface MessageList {
  items: DeliveryReceipt[]
  pagination: Pagination
}

export interface MessageWait {
  msgId: string
  status: MessageStatus
  /** Whether it is still to be submitted. */
  waiting: boolean
  /** Why it waits: turn, carrier-answer, rate-limit, recipient, retry, in-doubt, carrier-unavailable, no-route, plan-inactive; null: it does not, or is about to move between nodes. */
  cause: string | null
  /** When it is tried again at the latest; null: as soon as it can be submitted. */
  nextAttemptAt: string | null
}

export interface OwnLimits {
  servicePlanId: string
  /** Of each cap; empty for a plan without caps. */
  usage: CapUsage[]
  /** Countries to which sends are answered 429 COUNTRY_PAUSED now. */
  pauses: CountryPause[]
}

export interface OwnSender {
  /** The from of a send. */
  sender: string
  /** short-code, e164 or alphanumeric. */
  type: string | null
  /** Of the subscription; other: one that a send is answered 422 for. */
  status: 'approved' | 'pending' | 'denied' | 'other'
  /** Whether a send from it is accepted, unless a rule for the country of the recipient forbids its type. */
  allowed: boolean
}

export interface OwnSenderList {
  items: OwnSender[]
  pagination: Pagination
}

export interface Preflight {
  /** What a send would be answered; null: it would be accepted. */
  refusal: SendRefusal | null
  /** Null if the plan or the text is not valid. */
  text: PreflightText | null
  sender: PreflightSender
  recipient: PreflightRecipient
  /** Null unless the plan has one, the sender is allowed and the recipient is valid. */
  route: PreflightRoute | null
  /** Null if the recipient or the text is not valid, or no rate applies. */
  charge: PreflightCharge | null
  /** The send would go to the simulator instead of a carrier, and cost nothing. Null if the plan is not valid. */
  sandbox: boolean | null
  /** Less what other processes have taken ahead; null if the plan is not valid. */
  headroom: PreflightHeadroom | null
  /** Null without one in the request. */
  callbackUrl: PreflightCallbackUrl | null
  /** Fields that a send ignores; at most 50. */
  unknownFields: UnknownField[]
}

export interface PreflightCallbackUrl {
  allowed: boolean
  /** of the fault. */
  code: string | null
  message: string | null
}

export interface PreflightCharge {
  /** of all segments, as the record will have it. */
  price: number | null
  /** pass-through fee of all segments. */
  ptf: number | null
  /** ISO 4217. */
  currency: string
}

export interface PreflightHeadroom {
  /** that may be sent now; null: there is no rate limit. */
  messages: number | null
  /** whose rate limit it is: account or plan. */
  limitedBy: string | null
}

export interface PreflightRecipient {
  valid: boolean
  /** the number as a send has to write it. */
  msisdn: string | null
  /** ISO 3166-1 alpha-2. */
  country: string | null
  /** of the number ranges; a receipt may correct it. */
  mccmnc: string | null
  /** a send would be accepted, and fail at once. */
  optedOut: boolean | null
}

export interface PreflightRoute {
  name: string
  /** the rule, or that it is the plan's own route. */
  reason: string
  /** Whether a carrier of it takes messages now; false: the send would be accepted, and the message would wait. */
  available: boolean
}

export interface PreflightSender {
  /** short-code, e164 or alphanumeric. */
  type: string | null
  allowed: boolean | null
  /** why it is not allowed. */
  errorCode: string | null
  errorMessage: string | null
}

export interface PreflightText {
  encoding: 'GSM7' | 'UCS2'
  /** As the record counts them. */
  segments: number
  /** The text that each segment carries. */
  segmentTexts: string[]
  /** Of a text in UCS-2: the characters that the GSM 7-bit alphabet lacks, each once. */
  ucs2Characters: Ucs2Character[]
  /** What smart encoding could replace, if the plan has it. Nothing is replaced if the text then still needs UCS-2. */
  smartReplacements: SmartReplacement[]
}

export interface SendRefusal {
  /** HTTP status of the response to the send. */
  status: number
  errorCode: ErrorCode
  errorMessage: string
  errors?: Fault[] | undefined
}

export interface SendSmsRequest {
  /** 24 hex digits. */
  servicePlanId: string
  channel: 'SMS'
  /** A sender of a type that plan and recipient allow: short code of 3-8 digits, E.164 number, or up to 11 letters, digits, space . _ - & with at least one letter. */
  from: string
  /** One E.164 number. */
  to: string
  /** Text, in code points; no U+0000. */
  body: string
  /** Public https URL for delivery receipts of this message. */
  callbackUrl?: string | undefined
}

export interface SmartReplacement {
  characters: string
  replacement: string
  /** of the first in the body, in code points from 0. */
  position: number
}

export interface StatusCounts {
  /** Messages that match; at most the newest 1000. */
  counted: number
  /** More match than were counted. */
  hasMore: boolean
  counts: CountsByStatus
}

export interface Ucs2Character {
  character: string
  /** such as U+2019. */
  codePoint: string
  /** of the first in the body, in code points from 0. */
  position: number
}

export interface UnknownField {
  field: string
  /** the field that may be meant. */
  suggestion: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface MessagesOperations {
  /** Send one SMS. Sends one message. The response comes once it is stored; receipts follow. */
  sendSms: { input: SendSmsRequest; answer: DeliveryReceipt }
  /** Tell what a send would do, without sending. Takes the body of a send. Sends and stores nothing, and does not count against the rate limits of sends. What the send would be refused for is part of the response. */
  preflightSms: { input: SendSmsRequest; answer: Preflight }
  /** Get the delivery record of a message. The record may not be readable immediately after the send: retry a 404. */
  getMessage: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** As it was answered when the message was sent. */
      msgId: string
    }
    answer: DeliveryReceipt
  }
  /** Get the delivery record of a message (the Location of a send). The record may not be readable immediately after the send: retry a 404. */
  getMessageAtLocation: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId?: string | undefined
      /** As it was answered when the message was sent. */
      msgId: string
    }
    answer: DeliveryReceipt
  }
  /** List messages, newest first. Needs servicePlanId and at least one filter or a cursor. */
  listMessages: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** Sender. */
      from?: string | undefined
      /** Recipient. */
      to?: string | undefined
      /** Current status. */
      status?: MessageStatus | undefined
      /** ISO 3166-1 alpha-2. */
      country?: string | undefined
      /** Mobile country code and network code. */
      mccmnc?: string | undefined
      /** Start of the createdAt window, inclusive. */
      fromDate?: string | undefined
      /** End, inclusive; at most 31 days after fromDate. */
      toDate?: string | undefined
      /** Values above 100 are 100. */
      limit?: number | undefined
      /** nextCursor of the previous page, unchanged. */
      cursor?: string | undefined
    }
    answer: MessageList
  }
  /** Count messages by status. Needs servicePlanId and at least one filter. Counts the newest 1,000 that match. */
  countMessages: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** Sender. */
      from?: string | undefined
      /** Recipient. */
      to?: string | undefined
      /** Current status. */
      status?: MessageStatus | undefined
      /** ISO 3166-1 alpha-2. */
      country?: string | undefined
      /** Mobile country code and network code. */
      mccmnc?: string | undefined
      /** Start of the createdAt window, inclusive. */
      fromDate?: string | undefined
      /** End, inclusive; at most 31 days after fromDate. */
      toDate?: string | undefined
    }
    answer: StatusCounts
  }
  /** Tell why a message waits. Of a message that is QUEUED: what it waits for until a carrier has it. */
  getMessageWait: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** As it was answered when the message was sent. */
      msgId: string
    }
    answer: MessageWait
  }
  /** List the senders of a service plan, by name. Returns every sender that the plan is subscribed to. A send from any other sender is answered 403. */
  listSenders: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** Values above 100 are 100. */
      limit?: number | undefined
      /** nextCursor of the previous page, unchanged. */
      cursor?: string | undefined
    }
    answer: OwnSenderList
  }
  /** Show the limits of a service plan. Returns how much of its caps the plan has used in this day and month (UTC), and the countries that are paused for it. What nodes hold for messages to come counts as used. */
  getLimits: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
    }
    answer: OwnLimits
  }
}

// Made from the OpenAPI document by `npm run generate-client`.

import type { StatusCounts } from '../api.ts'

export interface EventAttempt {
  /** 1, 2, … for the changes of status. */
  event: number
  attempt: number
  attemptedAt: string
  latencyMs: number
  responseStatus: number | null
  error: string | null
  /** Headers that were sent, or would have been with a connection, without Host, Connection and Content-Length. ***: the signature, and values of the account's own headers and credentials, as they are configured now. Null: these cannot be decrypted. */
  requestHeaders: Record<string, string> | null
  /** the first 1 KiB of the answer. */
  responseHead: string | null
}

export interface InspectedMessage {
  accountId: string
  servicePlanId: string
  msgId: string
  status: string
  from: string
  to: string
  /** null: discarded, because the message has ended. */
  body: string | null
  segments: number
  callbackUrl: string | null
  country: string | null
  mccmnc: string | null
  errorCode: string
  price: number | null
  ptf: number | null
  currency: string | null
  route: string | null
  /** why this carrier. */
  routeReason: string | null
  carrier: string | null
  /** the carrier's own status or error. */
  carrierCode: string | null
  attempts: SubmitAttempt[]
  submissions: SegmentSubmission[]
  receipts: Receipt[]
  /** why it is not submitted yet; null: it is not to be submitted, or not any more. */
  waiting: MessageWaiting | null
  webhookAttempts: EventAttempt[]
  webhookEvents: MessageEvent[]
  /** all of this in order, as readable text. */
  timeline: TimelineEntry[]
  createdAt: string
  sentAt: string | null
  updatedAt: string
}

export interface ListedMessage {
  accountId: string
  servicePlanId: string
  msgId: string
  status: string
  from: string
  to: string
  segments: number
  country: string | null
  mccmnc: string | null
  errorCode: string
  route: string | null
  carrier: string | null
  /** the carrier's own status or error. */
  carrierCode: string | null
  createdAt: string
  sentAt: string | null
  updatedAt: string
}

export interface ListedMessagePage {
  items: ListedMessage[]
  nextAfter: string | null
}

export interface MessageEvent {
  /** its webhook-id. */
  eventId: string
  event: number
  status: string
  state: 'pending' | 'delivered' | 'failed' | 'kept'
  attempts: number
  occurredAt: string
  deliveredAt: string | null
  /** null: no attempt is planned. */
  dueAt: string | null
}

export interface MessageWaiting {
  /** as in the backlog; null: it is about to move between nodes. */
  cause: string | null
  /** the node that has it in memory; null: none. */
  node: string | null
  /** null: as soon as it can be submitted. */
  nextAttemptAt: string | null
}

export interface Receipt {
  receivedAt: string
  /** when its message was found; null: at once, or less than a second later. */
  matchedAt: string | null
  carrier: string | null
  carrierMessageId: string | null
  /** how it was interpreted; SENT: an intermediate one, which changes nothing. */
  outcome: string
  errorCode: string
  /** the carrier's own words for its state and error. */
  carrierCode: string | null
  /** as received; text and tlvs together at most 1,024 characters. */
  text: string | null
  /** octets in hexadecimal. */
  tlvs: Record<string, string>
}

export interface SegmentSubmission {
  segment: number
  carrierMessageId: string
  carrier: string | null
  /** when its submit_sm was sent. */
  sentAt: string | null
  /** when its submit_sm_resp came. */
  answeredAt: string | null
  /** what its receipt said, if there are several segments. */
  outcome: string | null
  errorCode: string | null
  carrierCode: string | null
  receiptAt: string | null
}

export interface SubmitAttempt {
  /** when its first submit_sm was sent. */
  attemptedAt: string
  /** when its last answer came, or was no longer awaited. */
  endedAt: string | null
  /** null: deleted since, or not known because its node is gone. */
  carrier: string | null
  /** accepted, refused, retry or no-answer (in doubt). */
  outcome: string
  commandStatus: number | null
  /** from 0: the one that was not taken; null: all, or not known. */
  segment: number | null
  /** an earlier attempt may have reached the carrier. */
  resubmission: boolean
  reason: string | null
}

export interface TimelineEntry {
  at: string
  what: string
  detail: string
}

/** Each operation: its input, and its answer when it succeeds. */
export interface MessageSearchOperations {
  /** Show a message and its timeline. Returns every attempt, segment, receipt and webhook of the message, and a timeline of them. */
  getMessageOfPlans: {
    input: {
      /** UUID of the message. */
      msgId: string
    }
    answer: InspectedMessage
  }
  /** List messages of all service plans, or of one. Newest first; without `servicePlanId`, those of the last 24 hours unless a window is given. A page may have fewer items than the limit: go on until `nextAfter` is null. */
  listMessagesOfPlans: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
      /** Sender. */
      from?: string | undefined
      /** Recipient. */
      to?: string | undefined
      /** QUEUED, SENT, DELIVERED, FAILED or UNKNOWN. */
      status?: string | undefined
      /** Country (ISO 3166-1 alpha-2). */
      country?: string | undefined
      /** Network (MCC and MNC), 5 or 6 digits. */
      mccmnc?: string | undefined
      /** Start of the createdAt window, RFC 3339, inclusive. */
      fromDate?: string | undefined
      /** End of the window, RFC 3339, inclusive; without a service plan at most 24 hours after its start. */
      toDate?: string | undefined
      /** Error code, 3 digits. */
      errorCode?: string | undefined
      /** Carrier, by name or number. */
      carrier?: string | undefined
      /** Id that the carrier gave it in submit_sm_resp or a receipt, of the last 8 days. */
      carrierMessageId?: string | undefined
    }
    answer: ListedMessagePage
  }
  /** Count messages by status. Counts the newest 1,000 that match; without `servicePlanId`, of those of the last 24 hours unless a window is given. */
  countMessagesOfPlans: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
      /** Sender. */
      from?: string | undefined
      /** Recipient. */
      to?: string | undefined
      /** QUEUED, SENT, DELIVERED, FAILED or UNKNOWN. */
      status?: string | undefined
      /** Country (ISO 3166-1 alpha-2). */
      country?: string | undefined
      /** Network (MCC and MNC), 5 or 6 digits. */
      mccmnc?: string | undefined
      /** Start of the createdAt window, RFC 3339, inclusive. */
      fromDate?: string | undefined
      /** End of the window, RFC 3339, inclusive; without a service plan at most 24 hours after its start. */
      toDate?: string | undefined
      /** Error code, 3 digits. */
      errorCode?: string | undefined
      /** Carrier, by name or number. */
      carrier?: string | undefined
      /** Id that the carrier gave it in submit_sm_resp or a receipt, of the last 8 days. */
      carrierMessageId?: string | undefined
    }
    answer: StatusCounts
  }
}

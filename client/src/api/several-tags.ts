// Made from the OpenAPI document by `npm run generate-client`.

export interface DeliveryReceipt {
  /** Account that owns the message. */
  accountId: string | null
  /** Service plan that owns the message. */
  servicePlanId: string | null
  msgId: string
  channel: 'SMS' | 'MMS'
  /** MT. */
  direction: string
  /** Sender. */
  from: string | null
  /** Recipient. */
  to: string | null
  /** Text, exactly as sent; null: discarded, because the message has ended. */
  body: string | null
  status: MessageStatus
  /** 000 on success, otherwise the failure code. */
  errorCode: string
  errorMessage: string
  segments: number | null
  /** Of all segments, at most 6 decimals; null until the message is sent, or without a rate. */
  price: number | null
  /** Pass-through fee of all segments, as price. */
  ptf: number | null
  /** ISO 4217; of price and ptf. */
  currency: string | null
  /** Mobile country and network code; a receipt may correct it, and price, ptf and currency with it. */
  mccmnc: string | null
  /** ISO 3166-1 alpha-2. */
  country: string | null
  createdAt: string
  sentAt: string | null
  updatedAt: string
}

export interface ErrorBody {
  errorCode: ErrorCode
  errorMessage: string
  errors?: Fault[] | undefined
  /** Also in the x-request-id header, and in the log. */
  requestId: string
}

export type ErrorCode =
  | 'VALIDATION_ERROR'
  | 'SERVICE_PLAN_INCOMPLETE'
  | 'UNAUTHENTICATED'
  | 'SERVICE_PLAN_INACTIVE'
  | 'FORBIDDEN'
  | 'SENDER_NOT_AUTHORIZED'
  | 'COUNTRY_NOT_ALLOWED'
  | 'SERVICE_PLAN_NOT_FOUND'
  | 'MESSAGE_NOT_FOUND'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'REQUEST_TIMEOUT'
  | 'CONFLICT'
  | 'SENDER_PENDING_APPROVAL'
  | 'PRECONDITION_FAILED'
  | 'MESSAGE_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'EXPECTATION_FAILED'
  | 'SENDER_STATUS_UNKNOWN'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'RATE_LIMITED'
  | 'CAP_REACHED'
  | 'COUNTRY_PAUSED'
  | 'HEADERS_TOO_LARGE'
  | 'INTERNAL_ERROR'
  | 'SERVICE_UNAVAILABLE'

export interface Fault {
  /** Field, parameter or header; `request` for the whole. */
  field: string
  code: string
  message: string
}

export interface InboundSmsWebhook {
  /** Account that owns the message. */
  accountId: string
  /** Service plan that owns the number. */
  servicePlanId: string
  msgId: string
  channel: 'SMS'
  direction: 'MO'
  /** Sender. */
  from: string
  /** Number it was sent to. */
  to: string
  /** Keyword of the number that the text begins with. */
  keyword?: string | undefined
  body: string
  /** UTC. */
  receivedAt: string
}

export type MessageStatus = 'QUEUED' | 'SENT' | 'DELIVERED' | 'FAILED' | 'UNKNOWN'

export interface Pagination {
  limit: number
  hasMore: boolean
  nextCursor: string | null
}

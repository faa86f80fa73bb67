import { SUCCESSES } from '../../domain/error-codes.ts'
import type { InboundSmsWebhook, PublicMessage } from '../../domain/messages/messages.ts'
import { LATENCY_BOUNDS_MS } from '../../domain/statistics/query.ts'

/** Examples of answers of the customers' API. They tell one story: that of the message which the requests name. */

const OWNER = { accountId: '65f0c0ffee65f0c0ffee65f0', servicePlanId: '65f0c0ffee65f0c0ffee65f0' }
const MSG_ID = '019dab2c-7000-7a3b-8c4d-5e6f70819203'
/** The millisecond inside MSG_ID. */
const CREATED_AT = '2026-04-20T13:55:09.440Z'
const DESTINATION = 'https://hooks.example.com'
const LAST_PAGE = { limit: 20, hasMore: false, nextCursor: null }

export const QUEUED_MESSAGE: PublicMessage = {
  ...OWNER,
  msgId: MSG_ID,
  channel: 'SMS',
  direction: 'MT',
  from: 'Aldis',
  to: '+15551230001',
  body: 'Your code is 271828',
  status: 'QUEUED',
  errorCode: '000',
  errorMessage: SUCCESSES.QUEUED,
  segments: 1,
  price: null,
  ptf: null,
  currency: null,
  mccmnc: null,
  country: 'US',
  createdAt: CREATED_AT,
  sentAt: null,
  updatedAt: CREATED_AT,
}

export const DELIVERED_MESSAGE: PublicMessage = {
  ...QUEUED_MESSAGE,
  status: 'DELIVERED',
  errorMessage: SUCCESSES.DELIVERED,
  price: 0.0085,
  ptf: 0.003,
  currency: 'USD',
  mccmnc: '310260',
  sentAt: '2026-04-20T13:55:09.512Z',
  updatedAt: '2026-04-20T13:55:12.101Z',
}

/** Of the request that the documents show for a send. */
export const PREFLIGHT = {
  refusal: null,
  text: {
    encoding: 'GSM7',
    segments: 1,
    segmentTexts: [QUEUED_MESSAGE.body],
    ucs2Characters: [],
    smartReplacements: [],
  },
  sender: { type: 'alphanumeric', allowed: true, errorCode: null, errorMessage: null },
  recipient: { valid: true, msisdn: QUEUED_MESSAGE.to, country: 'US', mccmnc: '310260', optedOut: false },
  route: { name: 'main', reason: "plan's route main", available: true },
  charge: { price: 0.0085, ptf: 0.003, currency: 'USD' },
  sandbox: false,
  headroom: { messages: null, limitedBy: null },
  callbackUrl: { allowed: true, code: null, message: null },
  unknownFields: [],
}

export const SENDER_LIST = {
  items: [
    { sender: '71234', type: 'short-code', status: 'pending', allowed: false },
    { sender: QUEUED_MESSAGE.from, type: 'alphanumeric', status: 'approved', allowed: true },
  ],
  pagination: LAST_PAGE,
}

const NO_COUNT = { messages: null, cost: null, currency: null }

export const PLAN_LIMITS = {
  servicePlanId: OWNER.servicePlanId,
  usage: [
    {
      per: 'day',
      begins: '2026-04-20',
      endsAt: '2026-04-21T00:00:00.000Z',
      used: { ...NO_COUNT, messages: 8_100 },
      cap: { ...NO_COUNT, messages: 10_000 },
      percent: 81,
    },
  ],
  pauses: [
    {
      country: 'SE',
      since: '2026-04-20T13:20:00.000Z',
      until: '2026-04-20T14:20:00.000Z',
      reason: 'more than 200 messages to +467012… in an hour',
    },
  ],
}

export const SANDBOX_DESCRIPTION = {
  servicePlanId: OWNER.servicePlanId,
  numbers: [{ number: '71234', keywords: ['JOIN'] }],
  outcomes: [
    {
      lastDigits: '1001',
      summary: 'undeliverable: absent subscriber',
      status: 'FAILED',
      refusal: null,
      receipts: [{ state: 'UNDELIV', error: '027' }],
      receiptDelayMs: { least: 50, most: 300 },
    },
    {
      lastDigits: null,
      summary: 'delivered',
      status: 'DELIVERED',
      refusal: null,
      receipts: [{ state: 'DELIVRD', error: '000' }],
      receiptDelayMs: { least: 50, most: 300 },
    },
  ],
}

export const HANDSET_MESSAGE = {
  servicePlanId: OWNER.servicePlanId,
  from: '+15551230001',
  to: '71234',
  encoding: 'GSM7',
  parts: 1,
}

export const MESSAGE_LIST = { items: [DELIVERED_MESSAGE], pagination: LAST_PAGE }

export const MESSAGE_WAIT = {
  msgId: MSG_ID,
  status: 'QUEUED',
  waiting: true,
  cause: 'carrier-unavailable',
  nextAttemptAt: null,
}

export const STATUS_COUNTS = {
  counted: 1_000,
  hasMore: true,
  counts: { QUEUED: 3, SENT: 41, DELIVERED: 921, FAILED: 30, UNKNOWN: 5 },
}

export const INBOUND_MESSAGE: InboundSmsWebhook = {
  ...OWNER,
  msgId: MSG_ID,
  channel: 'SMS',
  direction: 'MO',
  from: '+15551230001',
  to: '71234',
  keyword: 'JOIN',
  body: 'Join the club',
  receivedAt: CREATED_AT,
}

export const INBOUND_MESSAGE_LIST = { items: [INBOUND_MESSAGE], pagination: LAST_PAGE }

export const EVENT_FEED = {
  items: [
    {
      eventId: `${MSG_ID}-2`,
      sequence: 2,
      occurredAt: DELIVERED_MESSAGE.updatedAt,
      type: 'deliveryReceipt',
      data: DELIVERED_MESSAGE,
    },
    {
      eventId: `${MSG_ID}-0`,
      sequence: 0,
      occurredAt: INBOUND_MESSAGE.receivedAt,
      type: 'inboundMessage',
      data: INBOUND_MESSAGE,
    },
  ],
  cursor: 'AhFezHnDiSI00dJtz1n1cjTbzi',
  hasMore: false,
  gap: false,
}

const WEBHOOK_EVENT = {
  eventId: `${MSG_ID}-1`,
  servicePlanId: OWNER.servicePlanId,
  msgId: MSG_ID,
  sequence: 1,
  type: 'deliveryReceipt',
  messageStatus: 'SENT',
  state: 'failed',
  occurredAt: '2026-04-20T13:55:09.512Z',
  deliveredAt: null,
  attempts: 1,
  nextAttemptAt: null,
  destination: DESTINATION,
  responseStatus: 503,
  error: 'HTTP_STATUS',
}

export const WEBHOOK_EVENT_LIST = { items: [WEBHOOK_EVENT], pagination: LAST_PAGE }

export const WEBHOOK_EVENT_DETAIL = {
  ...WEBHOOK_EVENT,
  attemptRecords: [
    {
      attempt: 1,
      attemptedAt: '2026-04-20T13:55:09.530Z',
      latencyMs: 12,
      responseStatus: 503,
      error: 'HTTP_STATUS',
      requestHeaders: {
        'user-agent': 'Aldis',
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        'webhook-id': `${MSG_ID}-1`,
        'webhook-timestamp': '1776693309',
        'webhook-signature': '***',
        'aldis-attempt': '1',
        'aldis-sequence': '1',
      },
      responseHead: 'busy',
    },
  ],
}

export const REDELIVERED_WEBHOOK_EVENT = {
  ...WEBHOOK_EVENT_DETAIL,
  state: 'pending',
  nextAttemptAt: '2026-04-20T14:10:00.000Z',
}

export const REDELIVERED = { redelivered: 1, nextAfter: null }

export const TEST_EVENT = {
  eventId: '019dab3a-6840-7c21-9d02-4f5e6a7b8c9d-2',
  url: `${DESTINATION}/receipts`,
  delivered: true,
  responseStatus: 200,
  latencyMs: 12,
  error: null,
  responseHead: 'ok',
}

const FAILING_DESTINATION = {
  destination: DESTINATION,
  state: 'delivering',
  since: null,
  error: null,
  pausedBy: null,
  waiting: 0,
  parked: 0,
  failed: 1,
}

export const WEBHOOK_DESTINATION_LIST = { items: [FAILING_DESTINATION], pagination: LAST_PAGE }

export const PAUSED_DESTINATION = {
  ...FAILING_DESTINATION,
  state: 'paused',
  since: '2026-04-20T14:10:00.000Z',
  pausedBy: 'customer',
}

export const RESUMED_DESTINATION = {
  ...FAILING_DESTINATION,
  state: 'recovering',
  since: '2026-04-20T14:20:00.000Z',
  parked: 1,
  failed: 0,
}

const SENT_TWO = {
  accepted: 2,
  sent: 2,
  delivered: 1,
  failed: 1,
  unknown: 0,
  inbound: 0,
  segments: 2,
  prices: [{ currency: 'USD', price: '0.017' }],
  latencyMs: {
    accept: { count: 2, p50: 3, p99: 5, buckets: [0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
    submit: { count: 2, p50: 75, p99: 100, buckets: [0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
    receipt: { count: 2, p50: 3_500, p99: 4_970, buckets: [0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
    webhook: null,
  },
}

const NOTHING_SENT = {
  ...{ accepted: 0, sent: 0, delivered: 0, failed: 0, unknown: 0, inbound: 0, segments: 0 },
  prices: [],
  latencyMs: { accept: null, submit: null, receipt: null, webhook: null },
}

export const STATISTICS = {
  from: '2026-04-20T12:00:00.000Z',
  to: '2026-04-20T14:00:00.000Z',
  interval: 'hour',
  groupBy: ['country'],
  completeUntil: '2026-04-20T13:59:20.000Z',
  latencyBoundsMs: LATENCY_BOUNDS_MS,
  series: [
    {
      group: { country: 'US' },
      totals: SENT_TWO,
      points: [
        { at: '2026-04-20T12:00:00.000Z', ...NOTHING_SENT },
        { at: '2026-04-20T13:00:00.000Z', ...SENT_TWO },
      ],
    },
  ],
}

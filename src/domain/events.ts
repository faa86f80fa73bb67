import type { ServicePlan } from './configuration/configuration.ts'
import { eventId, lowestIdAt } from './identifiers.ts'
import { DAY_MS } from './instants.ts'
import {
  type InboundSmsWebhook,
  type Message,
  type PublicMessage,
  publicMessage,
  SUBMISSION_DAYS,
  toInboundWebhook,
} from './messages/messages.ts'
import type { WebhookContents } from './webhooks/requests.ts'

/** A message that was sent to a number of a plan. */
export interface InboundMessage {
  readonly planId: number
  readonly msgId: string
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly keyword: string | null
}

/** What an event tells: an outbound message as it was after a change of its status, or an inbound message. */
export type EventPayload =
  | { readonly direction: 'MT'; readonly message: Message }
  | { readonly direction: 'MO'; readonly inbound: InboundMessage }

/** Who delivers events that are written now: the node `nodeId`, if it is not null, holds those of `buckets`. */
export interface EventHolder {
  readonly nodeId: number | null
  readonly buckets: readonly number[]
}

/** The events are left to the owners of their buckets. */
export const NO_HOLDER: EventHolder = { nodeId: null, buckets: [] }

/** Runs a statement that writes events, and tells it who is to deliver them. */
export type WriteEvents = <T>(write: (holder: EventHolder) => Promise<T>) => Promise<T>

/** Kinds of events, under the names the OpenAPI document gives their webhooks. */
export type EventType = 'deliveryReceipt' | 'inboundMessage'

/**
 * What has become of an event. `pending`: to be delivered, or in flight; `delivered`: answered 2xx; `failed`: waits until
 * somebody has it redelivered; `kept`: had no URL to go to.
 */
export const EVENT_STATES = ['pending', 'delivered', 'failed', 'kept'] as const
export type EventState = (typeof EVENT_STATES)[number]

export function eventType(sequence: number): EventType {
  return sequence === 0 ? 'inboundMessage' : 'deliveryReceipt'
}

/** The JSON body of its webhook. `plan` owns the message. */
export function eventBody(payload: EventPayload, plan: ServicePlan): PublicMessage | InboundSmsWebhook {
  return payload.direction === 'MT'
    ? publicMessage(payload.message, plan)
    : toInboundWebhook(payload.inbound, plan)
}

// An event that never happened, for testing a receiver.

/** Numbers that nobody has (NANP: 555-0100 to 555-0199). */
const SENDER = '+12025550100'
const RECIPIENT = '+12025550101'
const TEXT = 'This is a test event of Aldis.'

/** Has the form of any other event; `aldis-test` tells them apart. `msgId` belongs to no message. */
export function testEvent(
  type: EventType,
  plan: ServicePlan,
  { msgId, nowMs }: { msgId: string; nowMs: number },
): WebhookContents {
  const sequence = type === 'inboundMessage' ? 0 : 2
  return {
    eventId: eventId({ msgId, sequence }),
    attempt: 1,
    sequence,
    body: JSON.stringify(eventBody(made(type, plan.id, msgId, new Date(nowMs)), plan)),
    timestampMs: nowMs,
    isTest: true,
  }
}

function made(type: EventType, planId: number, msgId: string, at: Date): EventPayload {
  const texts = { planId, msgId, sender: SENDER, recipient: RECIPIENT, body: TEXT }
  if (type === 'inboundMessage') return { direction: 'MO', inbound: { ...texts, keyword: null } }
  const message = {
    ...texts,
    status: 'DELIVERED' as const,
    segments: 1,
    callbackUrl: null,
    country: 'US',
    mccmnc: null,
    errorCode: '000',
    price: null,
    ptf: null,
    currency: null,
    sentAt: at,
    updatedAt: at,
  }
  return { direction: 'MT', message }
}

/** The event after which a reader of the feed continues. */
export interface FeedPlace {
  /** `events.position`, digits: it may be beyond what a number holds. */
  readonly position: string
  readonly msgId: string
  readonly sequence: number
  /** When that position was reached or, if there was nothing more to read, when it was read. Unix milliseconds. */
  readonly atMs: number
}

export const DEFAULT_FEED_PAGE = 100
export const MAX_FEED_PAGE = 1_000
/** Bytes of text in a page; the last text may exceed it. */
const FEED_PAGE_BYTES = 1_400_000

const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const HIGHEST_SEQUENCE = 32_767

/**
 * A message's status changes for the last time within ten days: it is submitted for 24 h, and a receipt is matched for
 * 8 days.
 */
const LONGEST_LIFE_MS = (SUBMISSION_DAYS + 2) * DAY_MS

/** Behind everything up to `position`, read at `atMs`. */
export function placeBehind(position: string, atMs: number): FeedPlace {
  return { position, msgId: HIGHEST_ID, sequence: HIGHEST_SEQUENCE, atMs }
}

/** No event at `ms` or later belongs to a message with a lower id, so days before it need not be read. */
export function lowestIdWithEventsAt(ms: number): string {
  return lowestIdAt(ms - LONGEST_LIFE_MS)
}

/** The first of `events` that make one page: at most `limit`, and FEED_PAGE_BYTES of text. */
export function feedPage<Event extends { payload: EventPayload }>(
  events: readonly Event[],
  limit: number,
): Event[] {
  let bytes = 0
  const tooMany = events.findIndex((event, index) => {
    if (index === limit || bytes > FEED_PAGE_BYTES) return true
    bytes += textBytes(event.payload)
    return false
  })
  return tooMany < 0 ? [...events] : events.slice(0, tooMany)
}

function textBytes(payload: EventPayload): number {
  return Buffer.byteLength(payload.direction === 'MT' ? payload.message.body : payload.inbound.body)
}

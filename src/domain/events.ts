import type { ServicePlan } from './configuration.ts'
import { type DeliveryReceipt, deliveryReceipt } from './delivery-receipts.ts'
import { isUuid } from './identifiers.ts'
import { type InboundSmsWebhook, toInboundWebhook } from './inbound-webhooks.ts'
import type { Message } from './messages.ts'

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
export type Told =
  | { readonly direction: 'MT'; readonly message: Message }
  | { readonly direction: 'MO'; readonly inbound: InboundMessage }

/** Key of an event: the seq-th status change of an outbound message, or 0 for an inbound message. */
export interface EventKey {
  readonly msgId: string
  readonly seq: number
}

/** Who delivers events that are written now: the node `holder`, if it is not null, holds those of `buckets`. */
export interface EventHolder {
  readonly holder: number | null
  readonly buckets: readonly number[]
}

/** Runs a statement that writes events, and tells it who is to deliver them. */
export type WriteEvents = <T>(write: (events: EventHolder) => Promise<T>) => Promise<T>

/** Kinds of events, under the names the OpenAPI document gives their webhooks. */
export type EventType = 'deliveryReceipt' | 'inboundMessage'

/**
 * What has become of an event. `pending`: to be delivered, or in flight; `delivered`: answered 2xx; `failed`: waits until
 * somebody has it redelivered; `kept`: had no URL to go to.
 */
export const EVENT_STATES = ['pending', 'delivered', 'failed', 'kept'] as const
export type EventState = (typeof EVENT_STATES)[number]

const MAX_SEQ = 32_767

/** `{msgId}-{seq}`: the `webhook-id` of every attempt to deliver it. */
export function eventId({ msgId, seq }: EventKey): string {
  return `${msgId}-${seq}`
}

/** Null when the text is not an event id. */
export function parseEventId(text: string): EventKey | null {
  const at = text.lastIndexOf('-')
  const msgId = text.slice(0, Math.max(at, 0))
  const digits = text.slice(at + 1)
  if (!isUuid(msgId) || !/^(?:0|[1-9][0-9]{0,4})$/.test(digits) || Number(digits) > MAX_SEQ) return null
  return { msgId: msgId.toLowerCase(), seq: Number(digits) }
}

export function eventType(seq: number): EventType {
  return seq === 0 ? 'inboundMessage' : 'deliveryReceipt'
}

/** The JSON body of its webhook. `plan` owns the message. */
export function eventBody(told: Told, plan: ServicePlan): DeliveryReceipt | InboundSmsWebhook {
  return told.direction === 'MT' ? deliveryReceipt(told.message, plan) : toInboundWebhook(told.inbound, plan)
}

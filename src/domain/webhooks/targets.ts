import { LRUCache } from 'lru-cache'
import type { ServicePlan } from '../configuration/configuration.ts'
import type { EventPayload } from '../events.ts'
import type { Status } from '../messages/messages.ts'
import type { SecretKeys } from '../secrets.ts'
import { openCallbackUrl, originOf } from './callback-url.ts'
import { dlrUrl, isDlrUrl, isMasked } from './dlr-urls.ts'

/** Where an event is pushed to. */
export interface WebhookTarget {
  /** May have credentials in it. */
  readonly url: string
  /** Its scheme, host and port. */
  readonly destination: string
  /** The URL is the message's own callbackUrl, not a configured one. */
  readonly own: boolean
  /** The URL says it all: it is fetched, without a body. */
  readonly isDlrUrl: boolean
}

/**
 * The message's callbackUrl, or else the account's default; for an inbound message the plan's inbound URL. Null
 * when there is none, or when the message wants no report of this status. @throws SecretError sealed with another key.
 */
export function webhookTarget(
  payload: EventPayload,
  plan: ServicePlan,
  key: SecretKeys,
): WebhookTarget | null {
  const callbackUrl = payload.direction === 'MT' ? payload.message.callbackUrl : null
  const opened = openTarget(payload.direction, callbackUrl, plan, key)
  if (opened === null) return null
  const asksForReports = payload.direction === 'MT' && isDlrUrl(opened)
  const url = asksForReports ? dlrUrl(opened, payload.message) : opened
  if (url === null) return null
  return { url, destination: destinationOf(url), own: callbackUrl !== null, isDlrUrl: asksForReports }
}

/** The URL that it has in what is stored, opened. A URL for reports still has its escapes. @throws as `webhookTarget` */
export function openTarget(
  direction: EventPayload['direction'],
  callbackUrl: string | null,
  plan: ServicePlan,
  key: SecretKeys,
): string | null {
  const stored = callbackUrl ?? (direction === 'MO' ? plan.inboundUrl : plan.account.defaultDlrUrl)
  return stored === null ? null : openCallbackUrl(key, stored)
}

/** An account uses the same URL for most of its messages, and parsing one costs 1 µs. */
const destinations = new LRUCache<string, string>({ max: 1_000 })

function destinationOf(url: string): string {
  let destination = destinations.get(url)
  if (destination === undefined) {
    destination = originOf(url) ?? url
    destinations.set(url, destination)
  }
  return destination
}

/** Whether changes of a message, or this one, are pushed anywhere. A sealed URL cannot be read here: its changes count as pushed. */
export function isPushed(
  callbackUrl: string | null,
  plan: ServicePlan | undefined,
  change?: { readonly status: Status; readonly sentAtMs: number | null },
): boolean {
  if (callbackUrl === null) return plan !== undefined && plan.account.defaultDlrUrl !== null
  return change === undefined || !isMasked(callbackUrl, change)
}

/** A name of 253 characters, its scheme and its port. */
const MAX_DESTINATION = 267

/** Whether the text is a destination in the form that all of them have: `https://example.com:8443`. */
export function isDestination(text: string): boolean {
  return text.length <= MAX_DESTINATION && /^https?:/.test(text) && originOf(text) === text
}

/** A destination (scheme, host and port) of one plan: what has its own queue, breaker and pause. */
export interface Endpoint {
  readonly planId: number
  readonly destination: string
}

export function endpointKey({ planId, destination }: Endpoint): string {
  return `${planId} ${destination}`
}

import { parseEventId, sampleOf } from './identifiers.ts'
import type { WebhookContents } from './webhooks/requests.ts'

/**
 * The trace of a message, in the terms of W3C Trace Context. Its ids follow from the message id, so that every process that has
 * to do with the message continues the same trace, and nothing is stored.
 */

export interface SpanIds {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
}

/** Whether a message is traced, by its id or that of an event. `share`: of all messages, 0 to 1. Every node decides the same. */
export function isTraced(id: string, share: number): boolean {
  return sampleOf(id) < share
}

/** The span of its acceptance, the parent of its other spans: the message id without hyphens, and the second half of it. */
export function rootSpan(msgId: string): SpanIds {
  const traceId = msgId.replaceAll('-', '')
  return { traceId, spanId: traceId.slice(16) }
}

/**
 * The span of an attempt to deliver an event. The receiver is told its id before it exists. It differs from every root span,
 * whose first digit is 8 to b in a UUID.
 */
export function webhookSpan({ eventId, attempt }: Pick<WebhookContents, 'eventId' | 'attempt'>): SpanIds {
  const { msgId, sequence } = parseEventId(eventId)!
  const { traceId, spanId } = rootSpan(msgId)
  return { traceId, spanId: `4${spanId.slice(1, 8)}${hex4(sequence)}${hex4(attempt)}` }
}

function hex4(number: number): string {
  return (number & 0xffff).toString(16).padStart(4, '0')
}

const SAMPLED = '01'

function traceparent({ traceId, spanId }: SpanIds): string {
  return `00-${traceId}-${spanId}-${SAMPLED}`
}

/** What the receiver of a webhook is told; null: the message is not traced. A test event belongs to none. */
export function webhookTraceparent(
  webhook: Pick<WebhookContents, 'eventId' | 'attempt' | 'isTest'>,
  share: number,
): string | null {
  const isSent = share > 0 && !webhook.isTest && isTraced(webhook.eventId, share)
  return isSent ? traceparent(webhookSpan(webhook)) : null
}

/** A later version may have more fields. */
const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?<traceId>(?!0{32})[0-9a-f]{32})-(?<spanId>(?!0{16})[0-9a-f]{16})-[0-9a-f]{2}(?:$|-)/

/** The span that a request names as its cause; null: none, or not by the rules. */
export function parseTraceparent(header: string): SpanIds | null {
  const { traceId, spanId } = TRACEPARENT.exec(header)?.groups ?? {}
  return traceId === undefined || spanId === undefined ? null : { traceId, spanId }
}

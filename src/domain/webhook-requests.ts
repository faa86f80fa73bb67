import { signWebhook } from './webhook-signatures.ts'

export interface WebhookContents {
  /** The same at each attempt. */
  readonly eventId: string
  /** From 1. */
  readonly attempt: number
  /** Of the event within its message. */
  readonly sequence: number
  /** JSON text, sent as it is. */
  readonly body: string
  /** Of this attempt, Unix milliseconds. */
  readonly timestampMs: number
  /** It never happened: `aldis-test` says so. */
  readonly isTest: boolean
}

/** One attempt, before it is signed. */
export interface Webhook extends WebhookContents {
  readonly url: string
}

/** Headers of one attempt, signed with each secret. */
export function webhookHeaders(
  { eventId: id, attempt, sequence, body, timestampMs, isTest }: WebhookContents,
  secrets: readonly string[],
): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...signWebhook({ id, timestampMs, body }, secrets),
    'aldis-attempt': String(attempt),
    'aldis-sequence': String(sequence),
    ...(isTest && { 'aldis-test': 'true' }),
  }
}

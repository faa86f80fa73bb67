import { signWebhook } from './webhook-signatures.ts'

export interface WebhookContents {
  /** The same at each attempt. */
  readonly eventId: string
  /** From 1. */
  readonly attempt: number
  /** Of the event within its message. */
  readonly sequence: number
  readonly body: object
}

/** One attempt as it is sent: the JSON text, signed with each secret at `timestampMs`, and its headers. */
export function webhookRequest(
  { eventId, attempt, sequence, body }: WebhookContents,
  timestampMs: number,
  secrets: readonly string[],
): { body: string; headers: Record<string, string> } {
  const text = JSON.stringify(body)
  return {
    body: text,
    headers: {
      'content-type': 'application/json',
      ...signWebhook({ id: eventId, timestampMs, body: text }, secrets),
      'aldis-attempt': String(attempt),
      'aldis-sequence': String(sequence),
    },
  }
}

import type { WebhookEvent } from '../../../client/src/api.ts'
import { StatusBadge, type Tone } from './status-badge.tsx'

const TONES = {
  pending: 'info',
  delivered: 'good',
  failed: 'bad',
  kept: 'neutral',
} as const satisfies Record<WebhookEvent['state'], Tone>

/** Whether an event was delivered to the webhook. */
export function EventStateBadge({ state }: { state: WebhookEvent['state'] }) {
  return <StatusBadge tone={TONES[state]}>{state}</StatusBadge>
}

import { Placeholder } from '../../kit/placeholder.tsx'

/** The pages of this group, which is one chunk. */

export function CustomerWebhooks() {
  return <Placeholder title="Webhooks" />
}

export function CustomerWebhookEvent() {
  return <Placeholder title="Webhook event" />
}

export function OperatorWebhooks() {
  return <Placeholder title="Webhooks" />
}

export function OperatorWebhookEvent() {
  return <Placeholder title="Webhook event" />
}

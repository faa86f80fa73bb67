/** The pages of this group, which is one chunk. */

export { CustomerWebhookEvent, OperatorWebhookEvent } from './event.tsx'
export { CustomerWebhooks, OperatorWebhooks } from './webhooks.tsx'

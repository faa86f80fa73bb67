export {
  AldisClient,
  type Answer,
  type CallOptions,
  type ClientOptions,
  type FeedEvent,
  type Input,
  type ListId,
  type OperationId,
  type SendOptions,
} from './client.ts'
export { AldisError } from './errors.ts'
export type * from './operations.ts'
export type * from './schema.ts'
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookVerificationCode,
  WebhookVerificationError,
} from './webhooks.ts'

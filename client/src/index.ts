import { OPERATIONS, type Operations } from './api.ts'
import { type Client, clientClass, type ListOf } from './client.ts'

/** The customers' API with one token; `aldis-client/admin` has the operator's. */
export const AldisClient = clientClass<Operations>(OPERATIONS)
export type AldisClient = Client<Operations>

export type OperationId = keyof Operations
/** What an operation is given: parameters of path and query, and the fields of the body, in one object. */
export type Input<Id extends OperationId> = Operations[Id]['input']
/** What an operation answers when it succeeds. */
export type Answer<Id extends OperationId> = Operations[Id]['answer']
/** Operations that answer a page of a list. */
export type ListId = ListOf<Operations>
/** An event as the feed has it. */
export type FeedEvent = Answer<'listEvents'>['items'][number]

export type * from './api.ts'
export type { CallOptions, ClientOptions, SendOptions } from './client.ts'
export { AldisError } from './errors.ts'
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookVerificationCode,
  WebhookVerificationError,
} from './webhooks.ts'

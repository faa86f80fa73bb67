import type { Webhook } from '../domain/webhooks/requests.ts'
import type { DeliveryErrorName } from './delivery-errors.ts'
import type { SendLease } from './send-lease.ts'
import type { DeliveryOutcome, WebhookAccount } from './webhook-post.ts'

/**
 * Messages between WebhookSender and its thread: one flat array for many webhooks or outcomes. As objects they cost the main
 * thread 1.5 µs more for each webhook, and both threads together 3.4 µs.
 */
export type Flat = readonly (string | number | boolean | null)[]

/** A batch or a command. */
export type ToThread = WebhookBatch | LeaseOrder | 'abort' | 'close' | 'measure'

/** Webhooks that come from now on, or came under the same lease, are sent until it ends. Those of another lease are not. */
export interface LeaseOrder extends Readonly<SendLease> {
  /** The id of the node that has the lease. */
  readonly nodeId: number
}

export interface WebhookBatch {
  readonly webhooks: Flat
  /** Each account of the batch once, as JSON. The thread recognises an account by this text. */
  readonly accounts: readonly string[]
}

/** Outcomes, a measurement that was asked for, or defects in the thread itself. */
export type FromThread = Flat | ThreadLoad | WebhookDefects

/** Webhooks that hit an exception in the thread, reported at most once a minute. */
export interface WebhookDefects {
  /** How many since the last time. */
  readonly defects: number
  /** Where the last exception was thrown. Without its text, which may repeat a body or a URL. */
  readonly thrown: string
}

/** Measured since the last time. */
export interface ThreadLoad {
  /** Share of the time in which the thread was busy. */
  readonly utilization: number
  /** The 99th percentile of its event loop's delay, in seconds. */
  readonly lagP99: number
}

const WEBHOOK_VALUES = 9
const OUTCOME_VALUES = 6

/** `slot` names the webhook while it is in flight; `account` is an index into the accounts of its batch. */
export function flatWebhook(slot: number, account: number, webhook: Webhook): Flat {
  const { url, eventId, attempt, sequence, body, timestampMs, isTest } = webhook
  return [slot, account, url, eventId, attempt, sequence, body, timestampMs, isTest]
}

export function eachWebhook(
  { webhooks, accounts }: WebhookBatch,
  accountOf: (text: string) => WebhookAccount,
  take: (slot: number, account: WebhookAccount, webhook: Webhook) => void,
): void {
  const own = accounts.map(accountOf)
  for (let at = 0; at < webhooks.length; at += WEBHOOK_VALUES) {
    take(webhooks[at] as number, own[webhooks[at + 1] as number]!, {
      url: webhooks[at + 2] as string,
      eventId: webhooks[at + 3] as string,
      attempt: webhooks[at + 4] as number,
      sequence: webhooks[at + 5] as number,
      body: webhooks[at + 6] as string,
      timestampMs: webhooks[at + 7] as number,
      isTest: webhooks[at + 8] as boolean,
    })
  }
}

export function flatOutcome(slot: number, outcome: DeliveryOutcome): Flat {
  const { status, error, latencyMs, responseHead, retryAfterMs } = outcome
  return [slot, status, error, latencyMs, responseHead, retryAfterMs]
}

export function eachOutcome(outcomes: Flat, take: (slot: number, outcome: DeliveryOutcome) => void): void {
  for (let at = 0; at < outcomes.length; at += OUTCOME_VALUES) {
    const status = outcomes[at + 1] as number | null
    const error = outcomes[at + 2] as DeliveryErrorName | null
    take(outcomes[at] as number, {
      ok: error === null,
      status,
      error,
      latencyMs: outcomes[at + 3] as number,
      responseHead: outcomes[at + 4] as string,
      retryAfterMs: outcomes[at + 5] as number | null,
      gone: status === 410,
    })
  }
}

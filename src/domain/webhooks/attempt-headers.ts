import { canSign, type ServicePlan } from '../configuration/configuration.ts'
import { type EventKey, eventId } from '../identifiers.ts'
import { HIDDEN, orUnreadable, type SecretKeys } from '../secrets.ts'
import { webhookTraceparent } from '../trace-context.ts'
import { withoutCredentials } from './callback-url.ts'
import { isDlrUrl } from './dlr-urls.ts'
import { commonHeaders, type WebhookContents, webhookHeaders } from './requests.ts'
import { openTarget } from './targets.ts'

/** Headers of one attempt beside `commonHeaders`. `tracedShare`: share of all messages that are traced, from 0 to 1. */
export function attemptHeaders(
  webhook: WebhookContents,
  secrets: readonly string[],
  tracedShare: number,
): Record<string, string> {
  const traceparent = webhookTraceparent(webhook, tracedShare)
  return { ...webhookHeaders(webhook, secrets), ...(traceparent !== null && { traceparent }) }
}

/** What headers depend on beside the event and its plan. */
export interface HeaderSettings {
  readonly secretKey: SecretKeys
  readonly tracedShare: number
}

/** An event of a plan. */
export interface EventOfPlan extends EventKey {
  readonly plan: ServicePlan
  /** The message's own, as stored. */
  readonly callbackUrl: string | null
}

/**
 * The headers of an attempt that was made, by name, without those of the connection and the body's length. They are not
 * stored: they follow from the event, the time of the attempt, and what is configured now. The signature and the values of
 * headers that may be credentials are hidden. Null: what is configured cannot be decrypted.
 */
export function shownHeaders(
  { plan, callbackUrl, ...key }: EventOfPlan,
  { attempt, attemptedAt }: { readonly attempt: number; readonly attemptedAt: Date | string },
  { secretKey, tracedShare }: HeaderSettings,
): Record<string, string> | null {
  const { account } = plan
  const direction = key.sequence === 0 ? 'MO' : 'MT'
  const url = orUnreadable(() => ({ opened: openTarget(direction, callbackUrl, plan, secretKey) ?? '' }))
  if (url === 'unreadable' || !canSign(account)) return null
  const { opened } = url
  const hasCredentials = withoutCredentials(opened) !== opened
  const names = Object.keys({ ...account.webhookHeaders, ...(hasCredentials && { authorization: '' }) })
  const webhook = {
    eventId: eventId(key),
    attempt,
    sequence: key.sequence,
    // Of a body, only whether there is one makes a difference to the headers that are shown.
    body: direction === 'MT' && isDlrUrl(opened) ? '' : '{}',
    timestampMs: new Date(attemptedAt).getTime(),
    isTest: false,
  }
  return {
    ...commonHeaders(Object.fromEntries(names.map((name) => [name, HIDDEN]))),
    ...attemptHeaders(webhook, [], tracedShare),
    'webhook-signature': HIDDEN,
  }
}

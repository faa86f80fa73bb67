/** The body of the inbound webhook. */

import type { ServicePlan } from './configuration.ts'
import { createdAtMs } from './identifiers.ts'

export interface InboundSmsWebhook {
  readonly accountId: string
  readonly servicePlanId: string
  readonly msgId: string
  readonly channel: 'SMS'
  readonly direction: 'MO'
  readonly from: string
  readonly to: string
  /** Only when the message matched a configured keyword. */
  readonly keyword?: string
  readonly body: string
  /** RFC 3339, UTC. */
  readonly receivedAt: string
}

/** `plan` owns the number the message was sent to. receivedAt is the millisecond inside msgId. */
export function toInboundWebhook(
  inbound: { msgId: string; sender: string; recipient: string; body: string; keyword: string | null },
  plan: ServicePlan,
): InboundSmsWebhook {
  return {
    accountId: plan.account.accountId,
    servicePlanId: plan.servicePlanId,
    msgId: inbound.msgId,
    channel: 'SMS',
    direction: 'MO',
    from: inbound.sender,
    to: inbound.recipient,
    ...(inbound.keyword === null ? {} : { keyword: inbound.keyword }),
    body: inbound.body,
    receivedAt: new Date(createdAtMs(inbound.msgId)).toISOString(),
  }
}

import { classifySender } from '../../domain/messages/addresses.ts'
import { type Fault, fault, notFound, refuseAny } from '../../errors.ts'
import type { Transaction } from '../../store/database.ts'
import * as store from '../../store/sender-subscriptions.ts'
import { servicePlans } from '../../store/service-plans.ts'
import { keyOfPlanInPath, lockedRow, PLAN_GONE, sayConflicts } from './configuration-rows.ts'

/** Statuses of a subscription. Sends with any other are answered 422. */
export const SENDER_STATUSES = ['approved', 'pending', 'denied'] as const

/**
 * Subscribes a plan to a sender, or sets the status of its subscription. A status other than these three needs `force`, so
 * that a typing error does not stop a sender. Returns the subscription before and after.
 */
export async function setSenderSubscription(
  transaction: Transaction,
  servicePlanId: string,
  sender: string,
  { status, force = false }: { status: string; force?: boolean },
): Promise<{
  before: store.SenderSubscriptionRecord | undefined
  after: store.SenderSubscriptionRecord & { created: boolean }
}> {
  refuseAny(senderFaults(sender, { status, force }))
  // Locked, because two calls at once would both find no subscription.
  const { id: planId } = await lockedRow(transaction, servicePlans, servicePlanId)
  const before = await store.findSenderSubscription(transaction, planId, sender)
  const after = await sayConflicts({ inUse: PLAN_GONE }, () =>
    store.upsertSenderSubscription(transaction, planId, sender, status),
  )
  return { before, after }
}

export function senderFaults(
  sender: string,
  { status, force = false }: { readonly status: string; readonly force?: boolean },
): Fault[] {
  const faults: Fault[] = []
  if (classifySender(sender) === null)
    faults.push(
      fault(
        'sender',
        'INVALID_FORMAT',
        'must be 3-8 digits, an E.164 number, or 1-11 letters, digits, space . _ - & with at least one letter',
      ),
    )
  if (!force && !isUsualStatus(status))
    faults.push(
      fault('status', 'UNKNOWN_STATUS', 'must be approved, pending or denied; any other status needs force'),
    )
  return faults
}

export function isUsualStatus(status: string): boolean {
  return SENDER_STATUSES.some((usual) => usual === status)
}

/** Returns the subscription that there was. */
export async function removeSenderSubscription(
  transaction: Transaction,
  servicePlanId: string,
  sender: string,
): Promise<store.SenderSubscriptionRecord> {
  const planId = await keyOfPlanInPath(transaction, servicePlanId)
  const removed = await store.deleteSenderSubscription(transaction, planId, sender)
  if (removed === undefined) throw notFound('sender subscription')
  return removed
}

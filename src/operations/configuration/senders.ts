import type { Settings, WantedObject } from '../../domain/configuration/configuration-changes.ts'
import { classifySender } from '../../domain/messages/addresses.ts'
import { type Fault, fault, notFound, refuseAny } from '../../errors.ts'
import { mapInSlices } from '../../slices.ts'
import type { Transaction } from '../../store/database.ts'
import * as store from '../../store/sender-subscriptions.ts'
import { servicePlans } from '../../store/service-plans.ts'
import { keyOfPlanInPath, lockedRow, PLAN_GONE, sayConflicts } from '../manage/configuration-rows.ts'
import type { Kind } from './kind.ts'
import type { Scene } from './scene.ts'

/** Statuses of a subscription. Sends with any other are answered 422. */
export const SENDER_STATUSES = ['approved', 'pending', 'denied'] as const

type SendersOfPlan = Readonly<Record<string, { readonly status: string; readonly force?: boolean }>>

/** Keyed by plan, then by sender. */
export const SENDERS: Kind = {
  name: 'senders',
  noun: 'sender',
  secrets: [],
  urls: [],
  openUrls: [],
  references: {},
  required: [],
  names: { plans: ({ identity }) => [identity.split('/')[0]] },
  async each(scene, use) {
    const rows = await store.allSenderSubscriptions(scene.db)
    await mapInSlices(rows, ({ servicePlanId, sender, status }) => {
      const identity = `${servicePlanId}/${sender}`
      const name = `${scene.presentWith('plans', servicePlanId)!.name}/${sender}`
      use({ identity, name, key: identity, settings: { status } })
    })
  },
  want({ name, path, value }, scene) {
    const plan = scene.refer('plans', path, name)
    return Object.entries(value as SendersOfPlan).map(([sender, given]) => {
      const own = `${path}.${sender}`
      // The name of the sender is the key, so its fault is one of the whole entry.
      for (const each of senderFaults(sender, given))
        scene.faults.push({ ...each, field: each.field === 'sender' ? own : `${own}.${each.field}` })
      if (plan === null) return null
      const { status } = given
      return { identity: `${plan}/${sender}`, name: `${name}/${sender}`, path: own, settings: { status } }
    })
  },
  create: putSenders,
  learnKeys: async () => undefined,
  update: (scene, updates) =>
    putSenders(
      scene,
      updates.map(({ wanted }) => wanted),
    ),
  async delete(scene, objects) {
    await store.deleteSenderSubscriptions(
      scene.db,
      objects.map(({ identity }) => senderKey(scene, identity)),
    )
  },
}

/** A sender has no slash. */
function senderKey(scene: Scene, identity: string): { planId: number; sender: string } {
  const [plan, sender] = identity.split('/') as [string, string]
  return { planId: scene.keys.plans.get(plan)!, sender }
}

async function putSenders(scene: Scene, objects: readonly WantedObject[]): Promise<void> {
  const rows = objects.map(({ identity, settings }) => ({
    ...senderKey(scene, identity),
    status: settings.status as string,
  }))
  await store.putSenderSubscriptions(scene.db, rows)
}

/** A status that is not one of the usual ones needs `force` in a file too. */
export function senderInFile(status: unknown): Settings {
  return isUsualStatus(status as string) ? { status } : { status, force: true }
}

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

function senderFaults(
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

function isUsualStatus(status: string): boolean {
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

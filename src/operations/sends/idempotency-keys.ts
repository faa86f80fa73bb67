import { DAY_MS } from '../../domain/instants.ts'
import type { Queryable } from '../../store/database.ts'
import { takeIdempotencyKeys } from '../../store/idempotency-keys.ts'
import { NOT_QUEUED, type PendingSend } from './pending-sends.ts'

export function keyOf(planId: number, { keyHash }: { readonly keyHash: Buffer }): string {
  return `${planId}:${keyHash.toString('hex')}`
}

/** How long an Idempotency-Key is remembered. */
export const IDEMPOTENCY_LIFETIME_MS = DAY_MS

/** `first`: the items that are first with their key, or have none. `busy`: another transaction is taking their key. */
export interface OfKeys {
  readonly first: readonly PendingSend[]
  readonly busy: ReadonlySet<PendingSend>
}

export const NO_KEYS: OfKeys = { first: [], busy: new Set() }

/** Takes the keys of these items, except those whose clients have been answered. */
export async function firstOfKeys(tx: Queryable, all: readonly PendingSend[]): Promise<OfKeys> {
  const items = all.filter(({ deadline }) => deadline.mayStore())
  const firsts = new Map<string, PendingSend>()
  for (const item of items) {
    const key = item.idempotencyKey && keyOf(item.accepted.planId, item.idempotencyKey)
    if (key !== null && !firsts.has(key)) firsts.set(key, item)
  }
  if (firsts.size === 0) return { first: items, busy: NO_KEYS.busy }
  const keys = [...firsts.values()].map(({ msgId, accepted, idempotencyKey }) => ({
    ...idempotencyKey!,
    msgId,
    planId: accepted.planId,
  }))
  const { taken, busy } = await takeIdempotencyKeys(tx, keys, IDEMPOTENCY_LIFETIME_MS, NOT_QUEUED)
  const isBusy = ({ accepted, idempotencyKey: key }: PendingSend) =>
    key !== null && busy.has(firsts.get(keyOf(accepted.planId, key))!.msgId)
  return {
    first: items.filter(({ msgId, idempotencyKey }) => idempotencyKey === null || taken.has(msgId)),
    busy: busy.size === 0 ? NO_KEYS.busy : new Set(items.filter(isBusy)),
  }
}

import { CapShares } from '../services/limits/cap-shares.ts'
import { LimitEvents, type LimitEventsOptions } from '../services/limits/limit-events.ts'
import type { AppOptions } from './options.ts'
import type { Platform } from './platform.ts'
import type { ShutdownStack } from './shutdown.ts'

/** Counts messages towards the limits of their plans. Nothing of it runs before a plan has limits. */
export function makeLimits(
  { limitsMs: intervalMs }: AppOptions,
  shutdown: ShutdownStack,
  { parts, directoryService, secretKey, sender }: Platform,
) {
  const post: LimitEventsOptions['post'] = (account, webhook) =>
    new Promise((ended) => sender.post(account, webhook, ended))
  const events = new LimitEvents({ ...parts, secretKey, post, intervalMs })
  shutdown.add('limit events', () => events.stop())
  shutdown.add(
    'limit settings',
    directoryService.onChange(() => events.adopt()),
  )
  const shares = new CapShares({ ...parts, onReached: (reached) => events.add(reached), intervalMs })
  shutdown.add('cap shares', () => shares.stop())
  return shares
}

export type Limits = ReturnType<typeof makeLimits>

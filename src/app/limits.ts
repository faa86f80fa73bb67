import { hasDuty } from '../domain/nodes.ts'
import type { SendLimits } from '../operations/sends/accept-within-limits.ts'
import { CapShares } from '../services/limits/cap-shares.ts'
import { CountryPauses } from '../services/limits/country-pauses.ts'
import { LimitEvents, type LimitEventsOptions } from '../services/limits/limit-events.ts'
import { RateShares } from '../services/limits/rate-shares.ts'
import type { NodeLease } from '../services/node/node-lease.ts'
import type { AppOptions } from './options.ts'
import type { Platform } from './platform.ts'
import type { ShutdownStack } from './shutdown.ts'

/** Counts messages towards the limits of their plans and accounts. Nothing of it runs before a plan has limits. */
export function makeLimits(
  { limitsMs: intervalMs, nodeRole = 'all' }: AppOptions,
  shutdown: ShutdownStack,
  { parts, directoryService, secretKey, sender }: Platform,
  lease: Pick<NodeLease, 'isOnlyApi'>,
) {
  const post: LimitEventsOptions['post'] = (account, webhook) =>
    new Promise((ended) => sender.post(account, webhook, ended))
  const events = new LimitEvents({ ...parts, secretKey, post, intervalMs })
  shutdown.add('limit events', () => events.stop())
  const pauses = new CountryPauses({ ...parts, onPaused: (paused) => events.add(paused), intervalMs })
  shutdown.add('country pauses', () => pauses.stop())
  const adopt = () => {
    if (hasDuty(nodeRole, 'webhook')) events.adopt()
    pauses.adopt()
  }
  shutdown.add('limit settings', directoryService.onChange(adopt))
  const shares = new CapShares({ ...parts, onReached: (reached) => events.add(reached), intervalMs })
  shutdown.add('cap shares', () => shares.stop())
  const rateLimits = new RateShares({ ...parts, isAlone: () => lease.isOnlyApi })
  shutdown.add('rate shares', () => rateLimits.stop())
  const limits: SendLimits = {
    take: async (message) => {
      const refusal = pauses.refusalOf(message.plan, message.recipient)
      return refusal === null ? await shares.take(message) : { kind: 'refused', refusal }
    },
    accepted: ({ plan, recipient }) => pauses.count(plan, recipient),
  }
  return { ...limits, rateLimits, refreshPauses: () => pauses.refresh() }
}

export type Limits = ReturnType<typeof makeLimits>

import { SANDBOX, SANDBOX_MESSAGES_PER_SECOND } from '../../domain/sandbox.ts'
import type { SecretKeys } from '../../domain/secrets.ts'
import { carriers, reserveCarrierIds } from '../../store/carriers.ts'
import type { Transaction } from '../../store/database.ts'
import { lockDirectoryVersion } from '../../store/directory.ts'
import { replaceRouteCarriers, routes } from '../../store/routes.ts'
import { sealCarrierPassword } from './carriers.ts'

/** command_status of ESME_RTHROTTLED, in decimal. */
const THROTTLED = '88'

/**
 * Each node binds to its own simulator, whose address and password are not in the table. A throttled answer is part of an
 * outcome, and must not slow down the messages of other plans.
 */
const CARRIER = {
  name: SANDBOX,
  host: '127.0.0.1',
  port: 0,
  systemId: SANDBOX,
  window: 100,
  messagesPerSecond: SANDBOX_MESSAGES_PER_SECOND,
  idRule: 'exact',
  submitOutcomes: { [THROTTLED]: 'retry' },
} as const

/** The database key of the route of sandbox plans. It and its carrier are made with the first sandbox plan. */
export async function keyOfSandboxRoute(transaction: Transaction, secretKey: SecretKeys): Promise<number> {
  const known = await routes.find(transaction, SANDBOX)
  if (known !== undefined) return known.routeId
  await lockDirectoryVersion(transaction)
  const made = await routes.find(transaction, SANDBOX)
  return made?.routeId ?? (await makeRoute(transaction, secretKey))
}

async function makeRoute(transaction: Transaction, secretKey: SecretKeys): Promise<number> {
  const carrier = await carriers.find(transaction, SANDBOX)
  if (carrier === undefined) {
    const [carrierId] = (await reserveCarrierIds(transaction, 1)) as [number]
    const password = sealCarrierPassword(secretKey, '', carrierId)
    await carriers.insert(transaction, { ...CARRIER, carrierId, password })
  }
  const { routeId } = await routes.insert(transaction, { name: SANDBOX })
  const carriersOfIt = [{ carrier: SANDBOX, priority: 0, weight: 1 }]
  await replaceRouteCarriers(transaction, [{ routeId, carriers: carriersOfIt }])
  return routeId
}

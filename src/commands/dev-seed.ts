import type { ConnectionOptions } from './admin/client.ts'
import { AdminRefusal, requestAdmin } from './admin/client.ts'
import type { DevState } from './dev-state.ts'

export const DEV_SENDER = 'Aldis'
export const DEV_INBOUND_NUMBER = '+15550001000'
export const DEV_SYSTEM_ID = 'aldis'
export const DEV_SMPP_PASSWORD = 'aldis'
const CARRIER = 'simulator'
const ROUTE = 'default'

/**
 * Sets up what a newcomer needs, through the admin API like anybody else: one account, a complete plan, a token, an
 * approved sender, an inbound number, and the simulated carrier. What is there already stays, but for the carrier's port
 * and state, without which nothing would be sent, and an inbound URL that is new; gives the token.
 */
export async function seed(
  connection: ConnectionOptions,
  state: DevState & { smppPort: number },
  hasNewInboundUrl: boolean,
): Promise<string> {
  const { accountId, servicePlanId, smppPort, inboundUrl } = state
  const create = async (path: string, body: object) => {
    try {
      await requestAdmin(connection, 'POST', path, body)
    } catch (error) {
      if (!(error instanceof AdminRefusal) || error.status !== 409) throw error
    }
  }
  await create('/accounts', { accountId, name: 'Development' })
  await create('/carriers', {
    name: CARRIER,
    host: '127.0.0.1',
    port: smppPort,
    systemId: DEV_SYSTEM_ID,
    password: DEV_SMPP_PASSWORD,
    window: 100,
  })
  await requestAdmin(connection, 'PATCH', `/carriers/${CARRIER}`, { port: smppPort, state: 'started' })
  await create('/routes', { name: ROUTE, carriers: [{ carrier: CARRIER }] })
  await create('/service-plans', { servicePlanId, accountId, name: 'Development', route: ROUTE, inboundUrl })
  if (hasNewInboundUrl)
    await requestAdmin(connection, 'PATCH', `/service-plans/${servicePlanId}`, { inboundUrl })
  await requestAdmin(connection, 'PUT', `/service-plans/${servicePlanId}/senders/${DEV_SENDER}`, {
    status: 'approved',
  })
  await create('/inbound-numbers', { number: DEV_INBOUND_NUMBER, servicePlanId, keywords: ['HELLO'] })
  if (state.token !== null) return state.token
  const issued = await requestAdmin(connection, 'POST', '/tokens', { accountId, name: 'Development' })
  return (issued as { token: string }).token
}

import { SANDBOX } from '../domain/sandbox.ts'
import type { ConnectionOptions } from './admin/client.ts'
import { AdminRefusal, requestAdmin } from './admin/client.ts'
import type { DevState } from './dev-state.ts'

export const DEV_SENDER = 'Aldis'
export const DEV_INBOUND_NUMBER = '+15550001000'

/**
 * Sets up what a newcomer needs, through the admin API like anybody else: one account, a sandbox plan, a token, an approved
 * sender and an inbound number. What is there already stays, except the state of the simulated carrier, without which nothing
 * would be sent, and the inbound URL if it is new. Returns the token.
 */
export async function seed(
  connection: ConnectionOptions,
  state: DevState,
  hasNewInboundUrl: boolean,
): Promise<string> {
  const { accountId, servicePlanId, inboundUrl } = state
  const create = async (path: string, body: object) => {
    try {
      await requestAdmin(connection, 'POST', path, body)
    } catch (error) {
      if (!(error instanceof AdminRefusal) || error.status !== 409) throw error
    }
  }
  await create('/accounts', { accountId, name: 'Development' })
  await create('/service-plans', {
    servicePlanId,
    accountId,
    name: 'Development',
    sandbox: true,
    inboundUrl,
  })
  await requestAdmin(connection, 'PATCH', `/carriers/${SANDBOX}`, { state: 'started' })
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

import { SANDBOX } from '../domain/sandbox.ts'
import type { ConnectionOptions } from './admin/client.ts'
import { AdminRefusal, requestAdmin } from './admin/client.ts'
import type { DevState } from './dev-state.ts'

export const DEV_SENDER = 'Aldis'
export const DEV_INBOUND_NUMBER = '+15550001000'

/**
 * Sets up what a newcomer needs, through the admin API like anybody else: one account, a sandbox plan, a token, an approved
 * sender and an inbound number. Existing objects are left alone, with two exceptions: the simulated carrier is started,
 * because nothing would be sent otherwise, and the inbound URL is set if it is new. Returns the token.
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
  // Only what differs is written: each change is a row of the audit log.
  const ensure = async (method: 'PATCH' | 'PUT', path: string, wanted: Readonly<Record<string, string>>) => {
    const present = await presentOf(connection, path)
    if (Object.entries(wanted).some(([field, value]) => present[field] !== value))
      await requestAdmin(connection, method, path, wanted)
  }
  await ensure('PATCH', `/carriers/${SANDBOX}`, { state: 'started' })
  if (hasNewInboundUrl)
    await requestAdmin(connection, 'PATCH', `/service-plans/${servicePlanId}`, { inboundUrl })
  await ensure('PUT', `/service-plans/${servicePlanId}/senders/${DEV_SENDER}`, { status: 'approved' })
  await create('/inbound-numbers', { number: DEV_INBOUND_NUMBER, servicePlanId, keywords: ['HELLO'] })
  if (state.token !== null) return state.token
  const issued = await requestAdmin(connection, 'POST', '/tokens', { accountId, name: 'Development' })
  return (issued as { token: string }).token
}

/** An object of the admin API; empty if there is none. */
async function presentOf(connection: ConnectionOptions, path: string): Promise<Record<string, unknown>> {
  try {
    return (await requestAdmin(connection, 'GET', path)) as Record<string, unknown>
  } catch (error) {
    if (error instanceof AdminRefusal && error.status === 404) return {}
    throw error
  }
}

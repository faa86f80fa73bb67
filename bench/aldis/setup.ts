import { randomBytes } from 'node:crypto'
import { requestAdmin } from '../../src/commands/admin/client.ts'

/** Sets the service up for the bench, through its admin API. */

const SENDER = 'Aldis'
const CARRIER = 'simulator'
/** A node may have to wait for the lease of its bind (15 s). */
const BOUND_TIMEOUT_MS = 20_000
const BOUND_POLL_MS = 20

export interface Customer {
  readonly servicePlanId: string
  readonly token: string
  readonly sender: string
}

export interface Connection {
  readonly url: string
  readonly operatorToken: string
}

/** One account with a plan, a token and an approved sender, routed to the carrier; resolves when its link is bound. */
export async function setUp(
  connection: Connection,
  carrier: { port: number; window: number; binds?: number },
): Promise<Customer> {
  const ask = (method: string, path: string, body: object) => requestAdmin(connection, method, path, body)
  const link = { host: '127.0.0.1', systemId: 'aldis', password: 'aldis' }
  await ask('POST', '/carriers', { name: CARRIER, ...link, ...carrier })
  await ask('POST', '/routes', { name: 'default', carriers: [{ carrier: CARRIER }] })
  const customer = await addCustomer(connection)
  await linkBound(connection)
  return customer
}

/** Resolves when the node has a bound link to the carrier. */
export async function linkBound(connection: Connection): Promise<void> {
  const deadlineMs = performance.now() + BOUND_TIMEOUT_MS
  for (;;) {
    const { link } = (await requestAdmin(connection, 'GET', `/carriers/${CARRIER}`)) as {
      link: { since: string | null } | null
    }
    if (link?.since != null) return
    if (performance.now() > deadlineMs) throw new Error('the carrier link was not bound in time')
    await new Promise((wake) => setTimeout(wake, BOUND_POLL_MS))
  }
}

/** An account with a plan on the default route, a token and an approved sender. */
export async function addCustomer(connection: Connection): Promise<Customer> {
  const accountId = randomBytes(12).toString('hex')
  const servicePlanId = randomBytes(12).toString('hex')
  const ask = (method: string, path: string, body: object) => requestAdmin(connection, method, path, body)
  await ask('POST', '/accounts', { accountId, name: 'Bench' })
  await ask('POST', '/service-plans', { servicePlanId, accountId, name: 'Bench', route: 'default' })
  await ask('PUT', `/service-plans/${servicePlanId}/senders/${SENDER}`, { status: 'approved' })
  const { token } = (await ask('POST', '/tokens', { accountId, name: 'Bench' })) as { token: string }
  return { servicePlanId, token, sender: SENDER }
}

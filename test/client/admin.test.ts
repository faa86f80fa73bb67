import { expect, it } from 'vitest'
import { AldisAdminClient } from '../../client/src/admin.ts'
import { AldisError } from '../../client/src/index.ts'
import { adminServerOfFile, CARRIER } from '../support/admin-server.ts'

const { baseUrl, operatorToken } = await adminServerOfFile()
const admin = new AldisAdminClient({ baseUrl, token: operatorToken })
const { accountId } = await admin.createAccount({ name: 'Example' })

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

it('creates, shows, changes and deletes', async () => {
  const created = await admin.createCarrier({ ...CARRIER, window: 5 })
  expect(created).toMatchObject({ name: 'acme', window: 5 })
  expect(await admin.getCarrier({ carrier: 'acme' })).toEqual(created)
  const changed = await admin.updateCarrier({ carrier: 'acme', state: 'draining' })
  expect(changed).toMatchObject({ window: 5, state: 'draining' })
  expect(await admin.deleteCarrier({ carrier: 'acme' })).toBeUndefined()
  await expect(admin.getCarrier({ carrier: 'acme' })).rejects.toThrow(AldisError)
})

it('sets by path and body: new, or changed', async () => {
  const { servicePlanId } = await admin.createServicePlan({ accountId, name: 'Alerts' })
  const sender = { servicePlanId, sender: '+15550001111' }
  expect(await admin.setSender({ ...sender, status: 'pending' })).toMatchObject({ status: 'pending' })
  expect(await admin.setSender({ ...sender, status: 'approved' })).toMatchObject({ status: 'approved' })
  expect(await all(admin.items('listSenders', { servicePlanId }))).toMatchObject([{ status: 'approved' }])
})

it('goes through a list by pages and by items', async () => {
  const prefixes = ['+33', '+44', '+49']
  const ranges = prefixes.map((prefix) => ({ prefix, mccmnc: '20801' }))
  expect(await admin.importNumberRanges({ ranges })).toMatchObject({ created: 3 })
  const pages = await all(admin.pages('listNumberRanges', { limit: '2' }))
  expect(pages.map(({ items }) => items.length)).toEqual([2, 1])
  const items = await all(admin.items('listNumberRanges', { limit: '1' }))
  expect(items.map(({ prefix }) => prefix)).toEqual(prefixes)
})

it('says what was wrong, and with whose token', async () => {
  const refused = { status: 400, errorCode: 'VALIDATION_ERROR', errors: [{ field: 'name' }] }
  await expect(admin.createAccount({ name: '' })).rejects.toMatchObject(refused)
  const { token } = await admin.createToken({ accountId, name: 'Customer' })
  const customer = new AldisAdminClient({ baseUrl, token })
  await expect(customer.listAccounts()).rejects.toMatchObject({ status: 403 })
})

import { beforeAll, expect, test } from 'vitest'
import { adminServerOfFile } from '../../../support/admin-server.ts'

/** Users of /cgi-bin/sendsms, as operators manage them. */

const server = await adminServerOfFile()
const PLAN = 'b'.repeat(24)

beforeAll(async () => {
  await server.request('POST', '/accounts', { accountId: 'a'.repeat(24), name: 'One' })
  await server.request('POST', '/service-plans', {
    servicePlanId: PLAN,
    accountId: 'a'.repeat(24),
    name: 'Plan',
  })
})

async function passwordOf(username: string): Promise<string> {
  const { rows } = await server.database.db.query<{ password: string }>(
    'select password_hash as password from sendsms_users where username = $1',
    [username],
  )
  return rows[0]!.password
}

test('no answer has the password or its hash', async () => {
  const user = { username: 'simple', servicePlanId: PLAN, password: 'elpmis', defaultSender: 'Aldis' }
  const created = await server.request('POST', '/sendsms-users', user)
  const { password: _, ...shown } = user
  expect(created).toMatchObject({
    status: 201,
    body: { ...shown, forcedSender: null, callingCode: null, dlrUrl: null },
  })
  const listed = await server.request('GET', `/sendsms-users?servicePlanId=${PLAN}`)
  expect(listed.body.items).toEqual([created.body])
  expect(JSON.stringify([created, listed])).not.toMatch(/elpmis|scrypt|password/)
  expect(await passwordOf('simple')).toMatch(/^scrypt\./)
  const again = await server.request('POST', '/sendsms-users', user)
  expect(again.status).toBe(409)
})

test.each([
  ['username', { username: '-rf' }],
  ['servicePlanId', { servicePlanId: 'c'.repeat(24) }],
  ['password', { password: '' }],
  ['defaultSender', { defaultSender: '!' }],
  ['forcedSender', { forcedSender: 'far too long for it' }],
  ['callingCode', { callingCode: '+44' }],
  ['dlrUrl', { dlrUrl: 'ftp://app.example.com/dlr' }],
  ['dlrUrl', { dlrUrl: 'https://me:hush@app.example.com/dlr' }],
  ['dlrUrl', { dlrUrl: 'https://%P/dlr' }],
  ['dlrUrl', { dlrUrl: 'https://\\/me:hush@app.example.com/dlr' }],
  ['dlrUrl', { dlrUrl: `https://app.example.com/${'x'.repeat(2_048)}` }],
])('the fault of %s is told', async (field, change) => {
  const user = { username: 'faulty', servicePlanId: PLAN, password: 'x', ...change }
  const { status, body } = await server.request('POST', '/sendsms-users', user)
  expect([status, body.errors[0].field]).toEqual([400, field])
})

test('a configuration file changes a password only to another one', async () => {
  const file = (password: string) => ({ sendsmsUsers: { fromfile: { plan: 'Plan', password } } })
  const apply = (password: string) => server.request('POST', '/configuration/apply', file(password))
  expect((await apply('one')).body.changes).toMatchObject([{ action: 'create', after: { password: '***' } }])
  const hash = await passwordOf('fromfile')
  expect((await apply('one')).body.changes).toEqual([])
  expect(await passwordOf('fromfile')).toBe(hash)
  expect((await apply('two')).body.changes).toMatchObject([{ action: 'update', after: { password: '***' } }])
  expect(await passwordOf('fromfile')).not.toBe(hash)
})

test('what may be a token in a URL is not kept: neither in the audit log nor in the answer of an apply', async () => {
  const urls = ['one', 'two'].map((name) => `https://app.example.com/dlr?token=s3cret-${name}&id=%I`)
  const user = { username: 'reported', servicePlanId: PLAN, password: 'hushhush', defaultSender: 'Aldis' }
  await server.request('POST', '/sendsms-users', { ...user, dlrUrl: urls[0] })
  const changed = await server.request('PATCH', '/sendsms-users/reported', { dlrUrl: urls[1] })
  expect(changed.body.dlrUrl).toBe(urls[1])
  const applied = await server.request('POST', '/configuration/apply', {
    sendsmsUsers: { reported: { plan: 'Plan', dlrUrl: urls[0] } },
  })
  const masked = 'https://app.example.com/dlr?***'
  expect(applied.body.changes).toMatchObject([{ before: { dlrUrl: masked }, after: { dlrUrl: masked } }])
  const { rows } = await server.database.db.query<{ text: string }>('select l::text as text from audit_log l')
  const logged = rows.map(({ text }) => text).join('\n')
  expect(logged).toContain(masked)
  expect(logged).not.toContain('s3cret')
})

test('a plan that has users is not deleted', async () => {
  const { status } = await server.request('DELETE', `/service-plans/${PLAN}`)
  expect(status).toBe(409)
})

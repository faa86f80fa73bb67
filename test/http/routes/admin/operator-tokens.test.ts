import { expect, test, vi } from 'vitest'
import { hashToken } from '../../../../src/domain/credentials.ts'
import { adminServerOfFile, directoryService, startAdminServer } from '../../../support/admin-server.ts'

const server = await adminServerOfFile()

async function issue(name: string, role: string) {
  const { status, body } = await server.request('POST', '/operator-tokens', { name, role })
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

test('201: a token, shown this once, stored as its hash', async () => {
  const body = await issue('Ada', 'admin')
  expect(body.token).toMatch(/^aldis_[0-9A-Za-z]{49}$/)
  const { token, ...rest } = body
  expect(rest).toMatchObject({ name: 'Ada', role: 'admin', revokedAt: null })
  const shown = await server.request('GET', `/operator-tokens/${body.operatorTokenId}`)
  expect(shown.body).toEqual(rest)
  const list = await server.request('GET', '/operator-tokens')
  expect(list.body.items).toContainEqual(rest)
  const { rows } = await server.database.db.query('select t::text as text, hash from operator_tokens t')
  expect(JSON.stringify(rows.map(({ text }) => text))).not.toContain(token)
  expect(rows.map(({ hash }) => hash.toString('hex'))).toContain(hashToken(token))
})

test('admin may do everything, and is named in the audit log', async () => {
  const { token } = await issue('Bea', 'admin')
  const { status, body } = await server.request('POST', '/accounts', { name: 'Of Bea' }, token)
  expect(status).toBe(201)
  const { body: log } = await server.request('GET', '/audit-log?token=Bea', undefined, token)
  expect(log.items).toMatchObject([{ token: 'Bea', operation: 'createAccount', objectId: body.accountId }])
})

test('the log names who made a request, and nothing of the token', async () => {
  const { token } = await issue('Lin', 'support')
  await server.request('GET', '/accounts', undefined, token)
  await server.request('GET', '/carriers')
  const lines = server.logs.map((line) => JSON.parse(line))
  expect(lines.find(({ operator }) => operator === 'Lin')).toMatchObject({
    route: '/admin/v1/accounts',
    status: 200,
  })
  expect(lines.find(({ route }) => route === '/admin/v1/carriers')).toMatchObject({ operator: 'environment' })
  expect(server.logs.join()).not.toContain(token.slice(-12))
})

test('support only reads: 403 for whatever may change something', async () => {
  const { token } = await issue('Cy', 'support')
  for (const path of ['/accounts', '/audit-log', '/operator-tokens', '/queue'])
    expect([200, 404]).toContain((await server.request('GET', path, undefined, token)).status)
  for (const [method, path, body] of [
    ['POST', '/accounts', { name: 'x' }],
    ['PUT', '/number-ranges/+44', { mccmnc: '23410' }],
    ['PATCH', '/carriers/none', { window: 1 }],
    ['DELETE', '/carriers/none'],
    ['POST', '/operator-tokens', { name: 'Mallory', role: 'admin' }],
  ] as const) {
    const answer = await server.request(method, path, body, token)
    expect(answer.status, `${method} ${path}`).toBe(403)
    expect(answer.body).toMatchObject({
      errorCode: 'FORBIDDEN',
      errorMessage: 'The operator token Cy has the role support, which may only read',
    })
  }
})

test('HEAD reads: support may use it, and the configuration is not read again for it', async () => {
  await using own = await startAdminServer({ beside: server })
  const { body } = await own.request('POST', '/operator-tokens', { name: 'Hal', role: 'support' })
  // Nobody else refreshes it now.
  await own.directory.stop()
  const refresh = vi.spyOn(own.directory, 'refresh')
  const { status } = await own.request('HEAD', '/accounts', undefined, body.token)
  expect([status, refresh.mock.calls]).toEqual([200, []])
})

test('204: a revoked token is refused here at once and by another node at its next poll', async () => {
  const { token, operatorTokenId } = await issue('Di', 'admin')
  const otherNode = directoryService(server.database, server.secretKey)
  await otherNode.refresh()
  const known = () => otherNode.current().contents.operators.get(hashToken(token))
  expect(known()).toEqual({ name: 'Di', role: 'admin' })
  const path = `/operator-tokens/${operatorTokenId}`
  // Also its own.
  expect((await server.request('DELETE', path, undefined, token)).status).toBe(204)
  expect((await server.request('GET', '/accounts', undefined, token)).status).toBe(401)
  await otherNode.refresh()
  expect(known()).toBeUndefined()
  const { revokedAt } = (await server.request('GET', path)).body
  expect(revokedAt).toMatch(/^20/)
  expect((await server.request('DELETE', path)).status).toBe(204)
  expect((await server.request('GET', path)).body.revokedAt).toBe(revokedAt)
})

test('an operator token is no token of a customer: 401', async () => {
  const { token } = await issue('Eve', 'admin')
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${server.baseUrl}/v1/messages/sms?servicePlanId=${'a'.repeat(24)}`, { headers })
  expect(answer.status).toBe(401)
})

test('409: a name is given once, also after its token was revoked, and environment never', async () => {
  const { operatorTokenId } = await issue('Fay', 'support')
  await server.request('DELETE', `/operator-tokens/${operatorTokenId}`)
  for (const name of ['Fay', 'fAY', 'environment', 'Environment']) {
    const { status, body } = await server.request('POST', '/operator-tokens', { name, role: 'admin' })
    expect([status, body.errorCode]).toEqual([409, 'CONFLICT'])
    expect(body.errorMessage).toContain(name)
  }
})

test.each([
  [{ name: 'Gus' }, 'role'],
  [{ name: 'Gus', role: 'root' }, 'role'],
  [{ name: '', role: 'admin' }, 'name'],
])('400 to %j', async (body, field) => {
  const answer = await server.request('POST', '/operator-tokens', body)
  expect([answer.status, answer.body.errors[0].field]).toEqual([400, field])
})

test.each([
  'environment\u200b',
  'environment\u00ad',
  '\u202etnemnorivne',
  '\u0395nvironment',
  'Jane ',
  'Jane  Doe',
])('400 to the name %j, which looks like another', async (name) => {
  const answer = await server.request('POST', '/operator-tokens', { name, role: 'admin' })
  expect([answer.status, answer.body.errors[0].field]).toEqual([400, 'name'])
})

test('409 where 10,000 are live; revoked ones do not count', async () => {
  const { db } = server.database
  await db.query(
    `insert into operator_tokens (name, role, hint, hash, revoked_at)
     select 'many ' || n, 'support', '', decode(md5(n::text), 'hex'), now() from generate_series(1, 10000) n`,
  )
  await issue('Ida', 'support')
  await db.query('update operator_tokens set revoked_at = null')
  const { status, body } = await server.request('POST', '/operator-tokens', { name: 'Jo', role: 'admin' })
  expect([status, body.errorMessage]).toEqual([409, 'there can be at most 10000 operator tokens'])
})

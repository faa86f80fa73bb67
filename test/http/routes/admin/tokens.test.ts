import { expect, test } from 'vitest'
import { hashToken } from '../../../../src/domain/credentials.ts'
import {
  adminServerOfFile,
  createAccount,
  createPlan,
  directoryService,
} from '../../../support/admin-server.ts'

const server = await adminServerOfFile()

test('201: a token, shown this once, stored as its hash', async () => {
  const accountId = await createAccount(server)
  const { status, body } = await server.request('POST', '/tokens', { accountId, name: 'backend' })
  expect(status).toBe(201)
  expect(body.token).toMatch(/^aldis_[0-9A-Za-z]{49}$/)
  expect(body).toMatchObject({ accountId, name: 'backend', servicePlanIds: null, revokedAt: null })
  expect(body).toMatchObject({ scopes: null, expiresAt: null })

  const shown = await server.request('GET', `/tokens/${body.tokenId}`)
  const { token, ...rest } = body
  expect(shown.body).toEqual(rest)
  const list = await server.request('GET', `/tokens?accountId=${accountId}`)
  expect(list.body.items).toEqual([rest])
  expect(JSON.stringify(list.body)).not.toContain(token)

  const { rows } = await server.database.db.query('select t::text as text, hash from tokens t')
  expect(JSON.stringify(rows.map((row) => row.text))).not.toContain(token)
  expect(rows.map((row) => row.hash.toString('hex'))).toContain(hashToken(token))
  expect(server.directory.current().tokenByHash(hashToken(token))).toMatchObject({ planIds: null })
})

test('200: the list of those that are limited to a plan; 400 for no id', async () => {
  const { accountId, servicePlanId } = await createPlan(server)
  const make = async (name: string, servicePlanIds?: string[]) =>
    server.request('POST', '/tokens', { accountId, name, servicePlanIds })
  await make('of all')
  await make('of one', [servicePlanId])
  const { body } = await server.request('GET', `/tokens?servicePlanId=${servicePlanId.toUpperCase()}`)
  expect(body.items.map(({ name }: { name: string }) => name)).toEqual(['of one'])
  expect((await server.request('GET', `/tokens?servicePlanId=${'f'.repeat(24)}`)).body.items).toEqual([])
  expect((await server.request('GET', '/tokens?servicePlanId=x')).status).toBe(400)
})

test('201: a token limited to plans of its account; 400 for a plan of another', async () => {
  const mine = await createPlan(server)
  const other = await createPlan(server)
  const { status, body } = await server.request('POST', '/tokens', {
    accountId: mine.accountId,
    name: 'alerts',
    servicePlanIds: [mine.servicePlanId.toUpperCase()],
  })
  expect(status).toBe(201)
  expect(body.servicePlanIds).toEqual([mine.servicePlanId])
  const directory = server.directory.current()
  const planId = directory.planByPublicId(mine.servicePlanId)!.id
  expect(directory.tokenByHash(hashToken(body.token))!.planIds).toEqual(new Set([planId]))

  const refused = await server.request('POST', '/tokens', {
    accountId: mine.accountId,
    name: 'alerts',
    servicePlanIds: [mine.servicePlanId, other.servicePlanId],
  })
  expect(refused.status).toBe(400)
  expect(refused.body.errors[0]).toMatchObject({ field: 'servicePlanIds', code: 'NOT_FOUND' })
  const unknown = await server.request('POST', '/tokens', { accountId: '0'.repeat(24), name: 'a' })
  expect(unknown.body.errors[0]).toMatchObject({ field: 'accountId', code: 'NOT_FOUND' })
})

test('204: a revoked token is refused here at once and by another node at its next poll', async () => {
  const accountId = await createAccount(server)
  const { body } = await server.request('POST', '/tokens', { accountId, name: 'backend' })
  const otherNode = directoryService(server.database, server.secretKey)
  await otherNode.refresh()
  expect(otherNode.current().tokenByHash(hashToken(body.token))).toBeDefined()

  expect((await server.request('DELETE', `/tokens/${body.tokenId}`)).status).toBe(204)
  expect(server.directory.current().tokenByHash(hashToken(body.token))).toBeUndefined()
  expect((await server.request('GET', '/accounts', undefined, body.token)).status).toBe(401)
  await otherNode.refresh()
  expect(otherNode.current().tokenByHash(hashToken(body.token))).toBeUndefined()
})

test('204 again for a revoked token, which keeps its time and stays in the list', async () => {
  const accountId = await createAccount(server)
  const { body } = await server.request('POST', '/tokens', { accountId, name: 'backend' })
  const path = `/tokens/${body.tokenId}`
  await server.request('DELETE', path)
  const first = (await server.request('GET', path)).body.revokedAt
  expect(first).toMatch(/^\d{4}-/)
  expect((await server.request('DELETE', path)).status).toBe(204)
  expect((await server.request('GET', path)).body.revokedAt).toBe(first)
  const { body: list } = await server.request('GET', `/tokens?accountId=${accountId}`)
  expect(list.items).toHaveLength(1)
})

/** A request of a customer; its status, error code and challenge. */
async function answerTo(token: string, method: string, path: string, body?: object) {
  const response = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const { errorCode, errorMessage } = (await response.json()) as Record<string, string>
  return {
    status: response.status,
    errorCode,
    errorMessage,
    challenge: response.headers.get('www-authenticate'),
  }
}

test.each([
  ['send', 'POST', '/v1/sendsms'],
  ['send', 'POST', '/v1/sendsms/preflight'],
  ['read', 'GET', '/v1/messages/sms?to=%2B15551230001&'],
  ['read', 'GET', '/v1/events?'],
  ['read', 'GET', '/v1/inbound/sms?from=%2B15551230001&'],
  ['webhooks', 'GET', '/v1/webhooks/events?'],
  ['webhooks', 'POST', '/v1/webhooks/redeliver'],
])('a token with other scopes than %s is refused at %s %s with 403', async (scope, method, path) => {
  const { accountId, servicePlanId } = await createPlan(server)
  const issue = async (scopes: string[] | null) =>
    (await server.request('POST', '/tokens', { accountId, name: 'bounded', scopes })).body
  const ask = (token: string) =>
    method === 'GET'
      ? answerTo(token, method, `${path}servicePlanId=${servicePlanId}`)
      : answerTo(token, method, path, { servicePlanId })
  const others = await issue(['send', 'read', 'webhooks'].filter((one) => one !== scope))
  expect(await ask(others.token)).toEqual({
    status: 403,
    errorCode: 'FORBIDDEN',
    errorMessage: `The token lacks the scope ${scope}`,
    challenge: `Bearer realm="aldis", error="insufficient_scope", scope="${scope}"`,
  })
  for (const scopes of [[scope], null]) {
    const { token, ...shown } = await issue(scopes)
    expect(shown.scopes).toEqual(scopes)
    expect([401, 403]).not.toContain((await ask(token)).status)
  }
})

test('401: a token that has expired, on every node by itself, answered like one that never was', async () => {
  const { accountId, servicePlanId } = await createPlan(server)
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const { body } = await server.request('POST', '/tokens', { accountId, name: 'short', expiresAt })
  expect(body.expiresAt).toBe(expiresAt)
  const path = `/v1/messages/sms?to=%2B15551230001&servicePlanId=${servicePlanId}`
  expect((await answerTo(body.token, 'GET', path)).status).toBe(200)
  expect((await answerTo(body.token, 'GET', '/admin/v1/accounts')).status).toBe(403)
  await server.database.db.query('update tokens set expires_at = now() where id = $1', [body.tokenId])
  await server.directory.refresh()
  for (const asked of [path, '/admin/v1/accounts']) {
    const unknown = await answerTo('unknown', 'GET', asked)
    expect(unknown).toMatchObject({ status: 401, errorCode: 'UNAUTHENTICATED' })
    expect(await answerTo(body.token, 'GET', asked)).toEqual(unknown)
  }
})

test.each([
  [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
  [{ expiresAt: 'tomorrow' }, 'expiresAt'],
  [{ scopes: [] }, 'scopes'],
  [{ scopes: ['admin'] }, 'scopes'],
])('400: %j bounds no token', async (fields, field) => {
  const accountId = await createAccount(server)
  const { status, body } = await server.request('POST', '/tokens', { accountId, name: 'a', ...fields })
  expect(status).toBe(400)
  expect(body.errors[0].field).toMatch(new RegExp(`^${field}`))
})

import { expect, test } from 'vitest'
import { adminServerOfFile, createAccount, createPlan } from '../../support/admin-server.ts'
import { SAME_ORIGIN } from '../../support/console.ts'

const server = await adminServerOfFile()
const { accountId, servicePlanId } = await createPlan(server)

async function issueToken(fields: Record<string, unknown> = {}) {
  const { body } = await server.request('POST', '/tokens', { accountId, name: 'backend', ...fields })
  return body as { token: string; tokenId: number }
}

function call(method: string, path: string, headers: Record<string, string> = {}, body?: unknown) {
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  return fetch(server.baseUrl + path, {
    method,
    headers: { ...SAME_ORIGIN, ...json, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

const signIn = (token: string, headers: Record<string, string> = {}) =>
  call('POST', '/console/session', headers, { token })

/** The cookie that an answer sets, as a browser sends it. */
function cookieOf(answer: Response): string {
  const [cookie] = answer.headers.getSetCookie()
  return cookie!.split(';')[0]!
}

const signedIn = async (token: string) => cookieOf(await signIn(token))

test('200: a customer signs in with a token, and reads with the cookie alone', async () => {
  const { token } = await issueToken({ scopes: ['read'] })
  const answer = await signIn(token)
  expect(answer.status).toBe(200)
  const session = (await answer.json()) as { customer: { expiresAt: string } }
  expect(session).toEqual({
    customer: {
      accountId,
      tokenName: 'backend',
      scopes: ['read'],
      servicePlans: [{ servicePlanId, name: 'alerts', active: true }],
      expiresAt: expect.any(String),
    },
    operator: null,
  })
  expect(Date.parse(session.customer.expiresAt)).toBeCloseTo(Date.now() + 12 * 3_600_000, -5)
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^aldis-customer=v1\.[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/),
  ])
  const cookie = cookieOf(answer)
  const events = await call('GET', `/v1/events?servicePlanId=${servicePlanId}`, { cookie })
  expect(events.status).toBe(200)
  expect(await (await call('GET', '/console/session', { cookie })).json()).toEqual(session)
  expect((await call('POST', '/v1/sendsms', { cookie }, {})).status).toBe(403)
})

test('200: an operator signs in beside the customer, and the answer has both', async () => {
  const { token } = await issueToken()
  const customer = await signedIn(token)
  const answer = await signIn(server.operatorToken, { cookie: customer })
  const session = (await answer.json()) as { customer: { expiresAt: string } }
  expect(session).toMatchObject({
    customer: { accountId },
    operator: { name: 'environment', role: 'admin' },
  })
  const cookie = `${customer}; ${cookieOf(answer)}`
  expect((await call('GET', `/admin/v1/accounts/${accountId}`, { cookie })).status).toBe(200)
  expect((await call('GET', `/admin/v1/accounts/${accountId}`, { cookie: customer })).status).toBe(401)
  const ended = await call('DELETE', '/console/session?kind=customer', { cookie })
  expect([ended.status, ended.headers.getSetCookie()]).toEqual([
    204,
    ['aldis-customer=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict'],
  ])
  const both = await call('DELETE', '/console/session', { cookie })
  expect(both.headers.getSetCookie()).toHaveLength(2)
})

test('a session ends with its token', async () => {
  const { token, tokenId } = await issueToken()
  const cookie = await signedIn(token)
  await server.request('DELETE', `/tokens/${tokenId}`)
  expect((await call('GET', `/v1/events?servicePlanId=${servicePlanId}`, { cookie })).status).toBe(401)
  const session = await call('GET', '/console/session', { cookie })
  expect([session.status, await session.json()]).toEqual([200, { customer: null, operator: null }])
})

test('400 without a token, 401 for one that is nobody’s', async () => {
  expect((await call('POST', '/console/session', {}, {})).status).toBe(400)
  const answer = await signIn('aldis_nobody')
  expect([answer.status, await answer.json()]).toMatchObject([401, { errorCode: 'UNAUTHENTICATED' }])
  expect(answer.headers.getSetCookie()).toEqual([])
})

test('403 for requests of other origins, which carry the cookie alone', async () => {
  const { token } = await issueToken()
  const cookie = await signedIn(token)
  const { host } = new URL(server.baseUrl)
  const tries: readonly (readonly [status: number, headers: Record<string, string>])[] = [
    [200, { 'sec-fetch-site': 'same-origin' }],
    [403, { 'sec-fetch-site': 'same-site' }],
    [403, { 'sec-fetch-site': 'cross-site' }],
    [403, { 'sec-fetch-site': 'none' }],
    [403, {}],
    [200, { origin: `http://${host}` }],
    [403, { origin: 'http://evil.example' }],
    [403, { origin: 'null' }],
  ]
  for (const [status, headers] of tries) {
    const plan = `servicePlanId=${servicePlanId}`
    const answer = await fetch(`${server.baseUrl}/v1/events?${plan}`, { headers: { cookie, ...headers } })
    expect(answer.status, JSON.stringify(headers)).toBe(status)
  }
})

test('an Authorization header wins over a cookie', async () => {
  const { token } = await issueToken()
  const cookie = await signedIn(token)
  const path = `/v1/events?servicePlanId=${servicePlanId}`
  expect((await call('GET', path, { cookie, authorization: 'Bearer nobody' })).status).toBe(401)
  const other = await createAccount(server, 'Other')
  const { body } = await server.request('POST', '/tokens', { accountId: other, name: 'other' })
  expect((await call('GET', path, { cookie, authorization: `Bearer ${body.token}` })).status).toBe(403)
})

import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { hashToken, sealSession, TOKEN_SCOPES } from '../../../src/domain/credentials.ts'
import { deriveKey } from '../../../src/domain/secrets.ts'
import {
  type AdminServer,
  adminServerOfFile,
  createAccount,
  createPlan,
  startAdminServer,
} from '../../support/admin-server.ts'
import { SAME_ORIGIN } from '../../support/console.ts'
import { exchange, requestBytes } from '../../support/raw-http.ts'

const server = await adminServerOfFile()
const port = Number(new URL(server.baseUrl).port)
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

const signInAt = (other: AdminServer, token: string) =>
  fetch(`${other.baseUrl}/console/session`, {
    method: 'POST',
    headers: { ...SAME_ORIGIN, 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })

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
      servicePlans: [{ servicePlanId, name: 'alerts', active: true, sandbox: false }],
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

test('401, as without one, for a cookie that is forged, truncated, or of another key', async () => {
  const { token } = await issueToken()
  const cookie = await signedIn(token)
  const path = `/v1/events?servicePlanId=${servicePlanId}`
  const session = { tokenHash: hashToken(token), expiresAtMs: Date.now() + 60_000 }
  const foreign = sealSession('customer', session, deriveKey(randomBytes(32), 'sessions'), randomBytes(12))
  const forged = [
    'aldis-customer=',
    'aldis-customer=v1.00000000.AAAA',
    `aldis-customer=${token}`,
    `aldis-customer=${foreign}`,
    cookie.slice(0, -5),
    `${cookie}xxxx`,
  ]
  const told = async (headers: Record<string, string>) => {
    const { status, headers: answered } = await call('GET', path, headers)
    return [status, answered.get('www-authenticate')]
  }
  expect(await told({})).toEqual([401, 'Bearer realm="aldis"'])
  for (const one of forged) expect(await told({ cookie: one }), one).toEqual(await told({}))
  // Where no session is needed, it is as if there were none.
  const shown = await call('GET', '/console/session', { cookie: forged[3]! })
  expect([shown.status, await shown.json()]).toEqual([200, { customer: null, operator: null }])
})

test('a session ends after 12 hours, and with a token that expires before', async () => {
  let nowMs = Date.now()
  await using own = await startAdminServer({ beside: server, clock: () => nowMs })
  const signIn = async (token: string) => {
    const answer = await signInAt(own, token)
    return { cookie: cookieOf(answer), session: (await answer.json()) as { customer: { expiresAt: string } } }
  }
  const read = async (cookie: string) =>
    await (await fetch(`${own.baseUrl}/console/session`, { headers: { ...SAME_ORIGIN, cookie } })).json()
  const operator = await signIn(own.operatorToken)
  const account = await createAccount(own)
  const expiresAt = new Date(nowMs + 3_600_000).toISOString()
  const { body } = await own.request('POST', '/tokens', { accountId: account, name: 'short', expiresAt })
  const customer = await signIn(body.token)
  expect(customer.session.customer.expiresAt).toBe(expiresAt)
  nowMs += 3_600_000
  expect(await read(`${operator.cookie}; ${customer.cookie}`)).toMatchObject({ customer: null, operator: {} })
  nowMs += 11 * 3_600_000 - 1
  expect(await read(operator.cookie)).toMatchObject({ operator: {} })
  nowMs += 1
  expect(await read(operator.cookie)).toMatchObject({ operator: null })
})

test('a token that is revoked on another node ends its session here at the next poll', async () => {
  const { token, tokenId } = await issueToken()
  const cookie = await signedIn(token)
  await server.database.db.query('update tokens set revoked_at = now() where id = $1', [tokenId])
  await expect
    .poll(async () => (await call('GET', `/v1/events?servicePlanId=${servicePlanId}`, { cookie })).status)
    .toBe(401)
})

test('a cookie that another site on this host may have set does not count', async () => {
  const { token } = await issueToken()
  const own = await signedIn(token)
  const tossed = await signedIn((await issueToken({ name: 'of a stranger' })).token)
  const names = async (cookie: string) => {
    const { customer } = (await (await call('GET', '/console/session', { cookie })).json()) as {
      customer: { tokenName: string } | null
    }
    return customer?.tokenName ?? null
  }
  // Two for different paths come both.
  expect(await names(`${own}; ${tossed}`)).toBeNull()
  expect(await names(`${tossed}; a=b; ${own}`)).toBeNull()
  // Only this host can set the name with the prefix.
  expect(await names(`${tossed}; __Host-${own}`)).toBe('backend')
  expect(await names(`__Host-${own}; ${tossed}; ${tossed}`)).toBe('backend')
  expect(await names(`__Host-${own}; __Host-${tossed}`)).toBeNull()
})

test('on any other host the name needs the prefix, which browsers let nobody else set, over TLS only', async () => {
  const { token } = await issueToken()
  const plain = await signedIn(token)
  const at = async (method: string, host: string, headers: Record<string, string>, body?: string) => {
    const sent = { ...SAME_ORIGIN, host, 'content-type': 'application/json', ...headers }
    const path = '/console/session'
    return (await exchange(port, requestBytes({ method, path, headers: sent, body })))!
  }
  for (const host of [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    'xlocalhost',
  ])
    expect((await at('GET', host, { cookie: plain })).json.customer, host).toBeNull()
  for (const host of ['localhost', 'LOCALHOST:8080', '127.0.0.1:1', '[::1]:8080'])
    expect((await at('GET', host, { cookie: plain })).json.customer, host).not.toBeNull()
  const body = JSON.stringify({ token })
  const setAt = async (host: string, headers = {}) =>
    (await at('POST', host, headers, body)).headers.get('set-cookie')
  const secure = /^__Host-aldis-customer=[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/
  expect(await setAt('sms.example.com')).toMatch(secure)
  // A proxy that does not pass the Host on.
  expect(await setAt('localhost:8080', { origin: 'https://sms.example.com' })).toMatch(secure)
  expect(await setAt('localhost:8080', { origin: 'http://localhost:8080' })).toMatch(/^aldis-customer=/)
})

test('many and large cookies are looked through within the limit of headers', async () => {
  const { token } = await issueToken()
  const own = await signedIn(token)
  const status = async (cookie: string) =>
    (await call('GET', `/v1/events?servicePlanId=${servicePlanId}`, { cookie })).status
  expect(await status(`${'a=;'.repeat(5_000)}${own}`)).toBe(200)
  expect(await status('a=;'.repeat(10_000) + own)).toBe(431)
  expect(await status(`aldis-customer=v1.00000000.${'A'.repeat(12_000)}`)).toBe(401)
  expect(await status(`${';'.repeat(15_000)}${own}`)).toBe(200)
})

test('signing in and out is for the console’s own pages', async () => {
  const { token } = await issueToken()
  for (const [method, body] of [
    ['POST', { token }],
    ['DELETE', undefined],
  ] as const) {
    for (const site of ['same-site', 'cross-site', 'none']) {
      const answer = await call(method, '/console/session', { 'sec-fetch-site': site }, body)
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []])
    }
  }
})

test('429 after ten wrong tokens, for the whole address, until some seconds have passed', async () => {
  let nowMs = Date.now()
  await using own = await startAdminServer({ beside: server, clock: () => nowMs })
  const signIn = (token: string) => signInAt(own, token)
  for (let n = 0; n < 30; n += 1) expect((await signIn(own.operatorToken)).status).toBe(200)
  for (let n = 0; n < 10; n += 1) expect((await signIn(`wrong-${n}`)).status).toBe(401)
  for (const token of ['wrong', own.operatorToken]) {
    const answer = await signIn(token)
    expect([answer.status, await answer.json()]).toMatchObject([429, { errorCode: 'RATE_LIMITED' }])
    expect(answer.headers.get('retry-after')).toBe('6')
    expect(answer.headers.get('ratelimit-policy')).toBe('"sign-in";q=10;w=60')
  }
  nowMs += 6_000
  expect((await signIn(own.operatorToken)).status).toBe(200)
  expect((await signIn('wrong')).status).toBe(401)
  expect((await signIn(own.operatorToken)).status).toBe(429)
})

test('each listener has sessions of those whom it serves', async () => {
  await using customers = await startAdminServer({ beside: server, serves: 'customers' })
  expect((await signInAt(customers, customers.operatorToken)).status).toBe(401)
  await using operators = await startAdminServer({ beside: server, serves: 'operators' })
  expect((await signInAt(operators, operators.operatorToken)).status).toBe(200)
  const owner = await createAccount(operators)
  const { body } = await operators.request('POST', '/tokens', { accountId: owner, name: 'backend' })
  expect((await signInAt(operators, body.token)).status).toBe(401)
})

test('without a console, no cookie counts', async () => {
  await using bare = await startAdminServer({ beside: server, pages: null })
  for (const path of ['/console', '/console/', '/console/session', '/docs', '/docs/admin'])
    expect((await fetch(bare.baseUrl + path)).status).toBe(404)
  const cookie = await signedIn(server.operatorToken)
  const answer = await fetch(`${bare.baseUrl}/admin/v1/accounts`, { headers: { ...SAME_ORIGIN, cookie } })
  expect(answer.status).toBe(401)
})

test.each(TOKEN_SCOPES)('a token with the scope %s may do no more by its cookie', async (scope) => {
  const cookie = await signedIn((await issueToken({ scopes: [scope] })).token)
  const read = await call('GET', `/v1/events?servicePlanId=${servicePlanId}`, { cookie })
  const hooks = await call('GET', `/v1/webhooks/events?servicePlanId=${servicePlanId}`, { cookie })
  const send = await call('POST', '/v1/sendsms', { cookie }, {})
  expect([read.status, hooks.status, send.status]).toEqual([
    scope === 'read' ? 200 : 403,
    scope === 'webhooks' ? 200 : 403,
    scope === 'send' ? 400 : 403,
  ])
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

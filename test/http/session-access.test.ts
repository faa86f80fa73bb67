import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApiDocument } from '../../scripts/openapi-document.ts'
import { adminServerOfFile, createPlan } from '../support/admin-server.ts'
import { SAME_ORIGIN } from '../support/console.ts'
import {
  type HttpService,
  PLAN,
  PLAN_OTHER,
  PLAN_SECOND,
  startHttpService,
  storePlans,
  TOKEN,
  TOKEN_LIMITED,
  TOKEN_OTHER,
  validMessage,
} from '../support/http-service.ts'
import { type Operation, operationsOf } from '../support/openapi.ts'
import type { HttpAnswer } from '../support/raw-http.ts'

/** A session's cookie opens what the header of its token opens, and nothing else. */

const CUSTOMER_OPERATIONS = operationsOf(await openApiDocument('/openapi.json')).map(
  ({ method, path, operation }) => [method.toUpperCase(), path, operation] as const,
)
const ADMIN_OPERATIONS = operationsOf(await openApiDocument('/admin/v1/openapi.json')).map(
  ({ method, path }) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, '1')] as const,
)
const PLANS = [PLAN, PLAN_SECOND, PLAN_OTHER, 'f'.repeat(24)]
const FILTERS: Readonly<Record<string, string>> = {
  '/v1/messages/sms': '&status=QUEUED',
  '/v1/messages/sms/counts': '&status=QUEUED',
  '/v1/inbound/sms': '&to=71234',
}

/** The example of the document, but for requests that would go to a stranger. */
function bodyOf(path: string, { requestBody }: Operation): object {
  if (path.startsWith('/v1/sendsms')) return validMessage()
  return path === '/v1/webhooks/test' ? {} : (requestBody!.content['application/json']!.example as object)
}

describe('the API for customers', () => {
  let service: HttpService
  /** Of a message of PLAN: one of another tenant's, for TOKEN_OTHER. */
  let msgId: string
  const browsers = new Map<string, Record<string, string>>()

  beforeAll(async () => {
    const reads = { perSecond: 1_000_000, burst: 1_000_000 }
    // Ten seconds later with each look, so that no rate limit refuses.
    let nowMs = Date.now()
    const clock = () => {
      nowMs += 10_000
      return nowMs
    }
    service = await startHttpService({ limits: { reads, preflights: reads }, clock })
    await storePlans(service)
    msgId = (await service.send()).json.msgId
    for (const token of [TOKEN, TOKEN_LIMITED, TOKEN_OTHER]) browsers.set(token, await service.signIn(token))
  })
  afterAll(() => service[Symbol.asyncDispose]())

  function call(
    [method, path, operation]: (typeof CUSTOMER_OPERATIONS)[number],
    servicePlanId: string,
    headers: Record<string, string>,
  ) {
    const named = path.replace('{msgId}', msgId).replace('{eventId}', `${msgId}-1`)
    if (method === 'GET') {
      const target = `${named}?servicePlanId=${servicePlanId}${FILTERS[path] ?? ''}`
      return service.get(path === '/v1/messages/{msgId}' ? named : target, headers)
    }
    const json = { 'content-type': 'application/json', ...headers }
    const body = JSON.stringify({ ...bodyOf(path, operation), servicePlanId })
    return service.request({ method, path: named, headers: json, body })
  }

  /** What two equal requests are answered alike: everything but ids and times. */
  const told = ({ status, headers, text }: HttpAnswer) => [
    status,
    headers.get('www-authenticate'),
    text
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>')
      .replaceAll(/"(requestId|cursor)":"[^"]+"/g, '<$1>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'),
  ]

  it.each(CUSTOMER_OPERATIONS)('%s %s answers a cookie as it answers the header', async (...operation) => {
    const answers = new Set<string>()
    for (const [token, cookie] of browsers) {
      for (const plan of PLANS) {
        const byHeader = await call(operation, plan, { authorization: `Bearer ${token}` })
        const byCookie = await call(operation, plan, cookie)
        expect(told(byCookie), `${token} ${plan}`).toEqual(told(byHeader))
        answers.add(JSON.stringify(told(byCookie)))
      }
    }
    // Some are refused, and not all: if these are one, FILTERS lacks what the request needs.
    expect(answers.size).toBeGreaterThan(1)
  })

  it.each(CUSTOMER_OPERATIONS)('%s %s: 403 for a page of another site', async (...operation) => {
    for (const site of ['same-site', 'cross-site', 'none']) {
      const { cookie } = browsers.get(TOKEN)!
      const answer = await call(operation, PLAN, { cookie: cookie!, 'sec-fetch-site': site })
      expect([answer.status, answer.json.errorCode]).toEqual([403, 'FORBIDDEN'])
    }
  })
})

describe('the admin API', async () => {
  const server = await adminServerOfFile()
  const { accountId } = await createPlan(server)

  async function cookieOf(token: string): Promise<string> {
    const answer = await fetch(`${server.baseUrl}/console/session`, {
      method: 'POST',
      headers: { ...SAME_ORIGIN, 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    return answer.headers.getSetCookie()[0]!.split(';')[0]!
  }
  const issued = async (path: string, body: object) => (await server.request('POST', path, body)).body.token
  const operator = await cookieOf(server.operatorToken)
  const support = await cookieOf(await issued('/operator-tokens', { name: 'Cy', role: 'support' }))
  const customer = await cookieOf(await issued('/tokens', { accountId, name: 'backend' }))

  const status = async (method: string, path: string, headers: Record<string, string>) =>
    (await fetch(server.baseUrl + path, { method, headers })).status

  it.each(ADMIN_OPERATIONS)(
    '%s %s is for an operator’s session of this origin only',
    async (method, path) => {
      expect(await status(method, path, { ...SAME_ORIGIN, cookie: customer })).toBe(401)
      expect(await status(method, path, { cookie: operator, 'sec-fetch-site': 'same-site' })).toBe(403)
      expect(await status(method, path, { cookie: operator })).toBe(403)
      if (method !== 'GET') expect(await status(method, path, { ...SAME_ORIGIN, cookie: support })).toBe(403)
      if (method === 'GET')
        expect([200, 400, 404]).toContain(await status(method, path, { ...SAME_ORIGIN, cookie: support }))
    },
  )

  it('the value of a customer’s cookie is none of an operator', async () => {
    const forged = customer.replace('aldis-customer', 'aldis-operator')
    expect(await status('GET', '/admin/v1/accounts', { ...SAME_ORIGIN, cookie: forged })).toBe(401)
  })
})

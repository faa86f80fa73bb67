import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../../../src/store/database-pool.ts'
import { adminServerOfFile, createAccount, startAdminServer } from '../../../support/admin-server.ts'

const server = await adminServerOfFile()

const ID = '0123456789abcdef01234567'
const MSG = '01890000-0000-7000-8000-000000000000'
const ROUTES: [method: string, path: string, body?: object][] = [
  ['GET', '/accounts'],
  ['POST', '/accounts', { name: 'Example' }],
  ['GET', `/accounts/${ID}`],
  ['PATCH', `/accounts/${ID}`, { name: 'Example' }],
  ['DELETE', `/accounts/${ID}`],
  ['POST', `/accounts/${ID}/webhook-secret/rotate`],
  ['DELETE', `/accounts/${ID}/webhook-secret/previous`],
  ['GET', '/service-plans'],
  ['POST', '/service-plans', { accountId: ID, name: 'alerts' }],
  ['GET', `/service-plans/${ID}`],
  ['PATCH', `/service-plans/${ID}`, { active: false }],
  ['DELETE', `/service-plans/${ID}`],
  ['GET', `/service-plans/${ID}/senders`],
  ['GET', `/service-plans/${ID}/senders/Example`],
  ['PUT', `/service-plans/${ID}/senders/Example`, { status: 'approved' }],
  ['DELETE', `/service-plans/${ID}/senders/Example`],
  ['GET', '/tokens'],
  ['POST', '/tokens', { accountId: ID, name: 'backend' }],
  ['GET', '/tokens/99999'],
  ['DELETE', '/tokens/99999'],
  ['GET', '/operator-tokens'],
  ['POST', '/operator-tokens', { name: 'Jane Doe', role: 'support' }],
  ['GET', '/operator-tokens/99999'],
  ['DELETE', '/operator-tokens/99999'],
  ['GET', '/audit-log'],
  ['GET', '/inbound-numbers'],
  ['POST', '/inbound-numbers', { number: '+46701234567', servicePlanId: ID }],
  ['GET', '/inbound-numbers/+46701234567'],
  ['PATCH', '/inbound-numbers/+46701234567', { keywords: [] }],
  ['DELETE', '/inbound-numbers/+46701234567'],
  ['GET', '/carriers'],
  ['POST', '/carriers', { name: 'acme', host: 'smpp.example.net', systemId: 'a', password: 'b' }],
  ['GET', '/carriers/acme'],
  ['PATCH', '/carriers/acme', { state: 'stopped' }],
  ['DELETE', '/carriers/acme'],
  ['GET', '/carriers/acme/binds'],
  ['GET', '/nodes'],
  ['GET', '/routes'],
  ['POST', '/routes', { name: 'default', carriers: [] }],
  ['GET', '/routes/default'],
  ['PATCH', '/routes/default', { carriers: [] }],
  ['DELETE', '/routes/default'],
  ['GET', '/route-explanation'],
  ['GET', '/routing-rules'],
  ['POST', '/routing-rules', { country: 'GB', route: 'default' }],
  ['GET', '/routing-rules/99999'],
  ['PATCH', '/routing-rules/99999', { route: 'default' }],
  ['DELETE', '/routing-rules/99999'],
  ['GET', '/number-ranges'],
  ['POST', '/number-ranges/import', { ranges: [{ prefix: '+4479', mccmnc: '23415' }] }],
  ['PUT', '/number-ranges/+4479', { mccmnc: '23415' }],
  ['GET', '/number-ranges/+4479'],
  ['DELETE', '/number-ranges/+4479'],
  ['GET', '/webhook-events'],
  ['GET', `/webhook-events/${MSG}-1`],
  ['POST', `/webhook-events/${MSG}-1/redeliver`],
  ['POST', '/webhook-redeliveries', { servicePlanId: ID }],
  ['POST', '/webhook-tests', { servicePlanId: ID }],
  ['POST', '/alarms/test'],
  ['GET', '/webhook-destinations'],
  ['POST', '/webhook-destinations/pause', { servicePlanId: ID, destination: 'https://example.com' }],
  ['POST', '/webhook-destinations/resume', { servicePlanId: ID, destination: 'https://example.com' }],
  ['GET', '/rates'],
  ['POST', '/rates', { price: '0.0075', currency: 'EUR' }],
  ['POST', '/rates/import', { rates: [{ price: '0.0075', currency: 'EUR' }] }],
  ['GET', '/rates/99999'],
  ['PATCH', '/rates/99999', { price: '0.01' }],
  ['DELETE', '/rates/99999'],
  ['GET', '/sender-rules'],
  ['POST', '/sender-rules', { country: 'SE', senderTypes: [] }],
  ['GET', '/sender-rules/99999'],
  ['PATCH', '/sender-rules/99999', { senderTypes: [] }],
  ['DELETE', '/sender-rules/99999'],
  ['GET', '/opt-outs'],
  ['GET', '/quality'],
  ['GET', '/quality/pauses'],
  ['DELETE', '/quality/pauses/default/acme'],
  ['DELETE', `/service-plans/${'0'.repeat(24)}/pauses/SE`],
  ['GET', `/messages/${MSG}`],
  ['GET', '/inbound-messages'],
  ['GET', `/inbound-messages/${MSG}`],
  ['GET', '/unowned-inbound-messages'],
  ['GET', '/messages/counts'],
  ['POST', `/unowned-inbound-messages/${MSG}/give`, { servicePlanId: ID }],
]

describe.each(ROUTES)('%s %s', (method, path, body) => {
  test('401 without a token, before anything else is looked at', async () => {
    const { status, body: answer, headers } = await server.request(method, path, body, null)
    expect(status).toBe(401)
    expect(answer).toMatchObject({ errorCode: 'UNAUTHENTICATED', requestId: expect.any(String) })
    expect(headers.get('www-authenticate')).toMatch(/^Bearer/)
  })

  test('401 with a token that nobody knows', async () => {
    const { status } = await server.request(method, path, body, 'x'.repeat(40))
    expect(status).toBe(401)
  })
})

test('a database that was just made has none of these: 404', async () => {
  for (const [method, path, body] of ROUTES) {
    // A range that is set is there.
    if (!/[0-9]|acme$|default$/.test(path) || `${method} ${path}` === 'PUT /number-ranges/+4479') continue
    const { status, body: answer } = await server.request(method, path, body)
    expect(`${status} ${answer.errorCode}`, `${method} ${path}`).toMatch(/^404 (MESSAGE_)?NOT_FOUND$/)
  }
})

test('409: a test alarm where nobody is told of alarms', async () => {
  const { status, body: answer } = await server.request('POST', '/alarms/test')
  expect([status, answer.errorMessage]).toEqual([409, expect.stringContaining('ALARM_WEBHOOK_URL')])
})

test('whatever only reads takes no connection from the message path', async () => {
  const { connectionString } = server.database
  const db = openDatabase({ connectionString, poolSize: 1 })
  let taken = 0
  db.on('acquire', () => {
    taken += 1
  })
  await using apart = await startAdminServer({ beside: server, db })
  const accountId = await createAccount(apart)
  expect(taken).toBeGreaterThan(0)
  const { servicePlanId } = (
    await apart.request('POST', '/service-plans', { accountId, name: 'alerts', optOut: {} })
  ).body
  taken = 0
  const plan = `servicePlanId=${servicePlanId}`
  const more = [
    `/route-explanation?${plan}&from=Aldis&to=%2B15551230000`,
    `/opt-outs?${plan}`,
    `/inbound-messages?${plan}`,
    `/service-plans/${servicePlanId}/senders`,
    '/quality?series=true',
  ]
  for (const path of [...ROUTES.flatMap(([method, path]) => (method === 'GET' ? [path] : [])), ...more]) {
    const { status } = await apart.request('GET', path)
    expect([200, 400, 404], path).toContain(status)
    expect(taken, path).toBe(0)
  }
  for (const path of more) expect((await apart.request('GET', path)).status, path).toBe(200)
  await db.end()
})

test("403 with a customer's token", async () => {
  const accountId = await createAccount(server)
  const { body } = await server.request('POST', '/tokens', { accountId, name: 'backend' })
  for (const [method, path, sent] of ROUTES) {
    const { status, body: answer } = await server.request(method, path, sent, body.token)
    expect(`${status} ${answer.errorCode}`, `${method} ${path}`).toBe('403 FORBIDDEN')
  }
})

test('400 lists every fault of a body, unknown fields too', async () => {
  const { status, body } = await server.request('POST', '/carriers', {
    name: '1acme',
    port: '2775',
    window: 0,
    bindMode: 'both',
    pasword: 'typing error',
    idRule: null,
  })
  expect(status).toBe(400)
  expect(body.errorCode).toBe('VALIDATION_ERROR')
  const faults = Object.fromEntries(
    body.errors.map((each: { field: string; code: string }) => [each.field, each.code]),
  )
  expect(faults).toEqual({
    name: 'INVALID_FORMAT',
    host: 'REQUIRED',
    systemId: 'REQUIRED',
    password: 'REQUIRED',
    port: 'WRONG_TYPE',
    window: 'OUT_OF_RANGE',
    bindMode: 'NOT_ALLOWED',
    pasword: 'UNKNOWN_FIELD',
    idRule: expect.any(String),
  })
})

test.each([
  ['no JSON', '{'],
  ['an array', []],
  ['null', 'null'],
  ['a string', '"name"'],
  ['nothing', undefined],
])('400 when the body is %s', async (_name, body) => {
  const { status, body: answer } = await server.request('POST', '/accounts', body)
  expect(`${status} ${answer.errorCode}`).toBe('400 VALIDATION_ERROR')
})

test.each(['limit=0', 'limit=1001', 'limit=ten', 'limit=1&limit=2', 'after=x', 'colour=red'])(
  '400 for the query %s of a list',
  async (query) => {
    const { status, body } = await server.request('GET', `/accounts?${query}`)
    expect(`${status} ${body.errorCode}`).toBe('400 VALIDATION_ERROR')
    expect(body.errors[0].field).toBe(query.split('=')[0])
  },
)

test('the constructor and the prototype are no fields', async () => {
  const text = '{"name":"Example","__proto__":{"x":1},"constructor":1}'
  const { status } = await server.request('POST', '/accounts', text)
  expect(status).toBe(400)
})

test('405 for a method a resource does not answer, 404 for a path there is not', async () => {
  expect((await server.request('PUT', '/accounts', {})).status).toBe(405)
  expect((await server.request('GET', '/nothing')).status).toBe(404)
})

interface Operation {
  readonly operationId: string
  readonly security?: unknown
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly responses: Record<string, { readonly description: string }>
}

test('every operation is in the OpenAPI document, with what it does and its security', async () => {
  const response = await fetch(`${server.baseUrl}/admin/v1/openapi.json`)
  const document = (await response.json()) as {
    paths: Record<string, Record<string, Operation>>
    security: object[]
  }
  expect(document.security).toEqual([{ bearer: [] }])
  for (const [method, path] of ROUTES) {
    const template = Object.keys(document.paths).find((known) =>
      new RegExp(`^${known.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(`/admin/v1${path}`),
    )
    const operation = document.paths[template ?? '']?.[method.toLowerCase()]
    expect(operation?.tags, `${method} ${path}`).toHaveLength(1)
    expect(operation?.summary, `${method} ${path}`).toMatch(/^[A-Z]/)
  }
})

test.each(['/opt-outs/import', '/rates/import', '/number-ranges/import'])(
  'GET of %s is 405: its path is none of a resource',
  async (path) => {
    const { status, body, headers } = await server.request('GET', path)
    expect([status, body.errorCode, headers.get('allow')]).toEqual([405, 'METHOD_NOT_ALLOWED', 'POST'])
  },
)

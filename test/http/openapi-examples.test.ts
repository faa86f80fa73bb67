/**
 * Every example of a request in the OpenAPI documents is sent, in the order in which operators and customers would: set up,
 * send, look at it, change it, take it down. Each is answered with a documented success that fits its schema, and that has
 * the fields of the response's example.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { openApiDocument } from '../../scripts/openapi-document.ts'
import { PLAN_LIMITS } from '../../src/http/schemas/response-examples.ts'
import { NameResolver } from '../../src/outbound/resolver.ts'
import { writeStatistics } from '../../src/store/statistics.ts'
import { startAdminServer } from '../support/admin-server.ts'
import { databaseOfFile } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import {
  answerFaults,
  type OpenApi,
  operationsOf,
  parametersOf,
  responseOf,
  schemaFaultsOf,
} from '../support/openapi.ts'
import { statisticsRow } from '../support/statistics-rows.ts'
import { storeEvent } from '../support/stored-events.ts'
import { testAlarmsTo } from '../support/test-alarms.ts'

type Step = ReturnType<typeof operationsOf>[number] & { readonly document: OpenApi }

const CUSTOMERS = await openApiDocument<OpenApi>('/openapi.json')
const OPERATORS = await openApiDocument<OpenApi>('/admin/v1/openapi.json')
const MSG_ID = exampleId('getMessage')

const NOTHING_WAITS = {
  held: [],
  waiting: [],
  webhooks: [],
  destinations: [],
  more: { messages: false, webhooks: false },
  countedAtMs: Date.now(),
}

const dns = await startDnsServer()
dns.set('hooks.example.com', { A: ['127.0.0.1'] })
const resolver = new NameResolver({ servers: [dns.address] })
// Test events are limited to one a second: each look at the clock is a second later.
const startMs = Date.now()
let looks = 0
const clock = () => startMs + 1_000 * looks++
// Nobody listens there: the answer says so.
const alarms = testAlarmsTo('https://127.0.0.1:1/')
const database = await databaseOfFile({ state: 'anyDay' })
const server = await startAdminServer({
  database,
  resolver,
  clock,
  backlog: { read: async () => NOTHING_WAITS },
  testAlarms: alarms.testAlarms,
  readAlarms: async () => [
    {
      name: 'carrier-unbound',
      object: 'acme',
      since: new Date(),
      value: 1,
      summary: 'Carrier acme is not bound',
    },
  ],
})
afterAll(async () => {
  await alarms.close()
  await server[Symbol.asyncDispose]()
  resolver.close()
  await dns.close()
})
let token = ''

function exampleId(operationId: string, document = CUSTOMERS): string {
  const { operation } = operationsOf(document).find((one) => one.operation.operationId === operationId)!
  return parametersOf(document, operation).find(({ name }) => name === 'msgId')!.example as string
}

/** Those of the sandbox need a node with a simulator: test/app/sandbox.test.ts. */
const steps = [OPERATORS, CUSTOMERS].flatMap((document): Step[] =>
  operationsOf(document)
    .filter(({ path }) => !path.startsWith('/v1/sandbox'))
    .map((operation) => ({ ...operation, document })),
)
const ofCustomers = ({ document }: Step) => document === CUSTOMERS
const isSetUp = ({ path, method, operation }: Step) =>
  (method === 'put' || method === 'post') &&
  !/webhook-|webhooks|unowned-/.test(path) &&
  !/^(send|preflight)Sms$/.test(operation.operationId)
/** The accepter of this server refuses sends of a plan with caps. */
const showsCaps = ({ operation }: Step) => operation.operationId === 'getLimits'
/** What others use is deleted after them. */
const USED = ['deleteServicePlan', 'deleteRoute', 'deleteCarrier', 'deleteAccount']
const byUse = (a: Step, b: Step) =>
  USED.indexOf(a.operation.operationId) - USED.indexOf(b.operation.operationId)
const chosen = (choice: (step: Step) => boolean) => steps.filter(choice)

describe('examples of requests', () => {
  test.each(chosen((step) => isSetUp(step)))('set up: $operation.operationId', follow)
  test('messages and events of the plan are stored', storeHistory)
  test('statistics of the plan are stored', storeStatistics)
  test.each(chosen(({ method }) => method === 'patch'))('change: $operation.operationId', follow)
  test.each(chosen((step) => ofCustomers(step) && !showsCaps(step)))(
    'customers: $operation.operationId',
    follow,
  )
  test('the plan gets a cap', setCap)
  test.each(chosen((step) => showsCaps(step)))('customers: $operation.operationId', follow)
  test.each(chosen((step) => !ofCustomers(step) && !isSetUp(step) && /get|post/.test(step.method)))(
    'operators: $operation.operationId',
    follow,
  )
  test('what the plan has is gone', clearHistory)
  test.each(chosen(({ method }) => method === 'delete').sort(byUse))(
    'take down: $operation.operationId',
    follow,
  )
})

async function follow(step: Step): Promise<void> {
  const { document, path, method, operation } = step
  const parameters = parametersOf(document, operation).filter(({ example }) => example !== undefined)
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const target = inPath.reduce(
    (text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(String(example))),
    path,
  )
  const query = new URLSearchParams(inQuery.map(({ name, example }) => [name, String(example)]))
  const { example: body } = operation.requestBody?.content['application/json'] ?? {}
  if (operation.requestBody !== undefined) expect(body).toBeDefined()
  const response = await fetch(`${server.baseUrl}${target}?${query}`, {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${ofCustomers(step) ? token : server.operatorToken}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = text === '' ? undefined : JSON.parse(text)
  const successes = Object.keys(operation.responses).filter((status) => status.startsWith('2'))
  expect(successes, text).toContain(String(response.status))
  if (json !== undefined)
    expect(answerFaults(document, { method, path }, { status: response.status, json })).toEqual([])
  if (ofCustomers(step)) {
    const { schema, example } = responseOf(document, operation, response.status)!.content![
      'application/json'
    ]!
    expect(example).toBeDefined()
    expect(schemaFaultsOf(document, schema, example)).toEqual([])
    expect(differences(example, json)).toEqual([])
  }
  if (operation.operationId === 'createToken') token = json.token
}

/** Where an answer has other fields or types than its example. The schema says where null may be. */
function differences(example: unknown, answer: unknown, place = ''): string[] {
  if (example === null || answer === null) return []
  if (Array.isArray(example) && Array.isArray(answer)) {
    const isLike = (one: unknown) => (other: unknown) => differences(one, other).length === 0
    const unlike = [
      ...example.filter((item) => !answer.some(isLike(item))),
      ...answer.filter((item) => !example.some(isLike(item))),
    ]
    return unlike.map((item) => `${place}: no other item is like ${JSON.stringify(item)}`)
  }
  if (typeof example !== typeof answer) return [`${place}: ${typeof example}, not ${typeof answer}`]
  if (typeof example !== 'object') return []
  const fields = example as Record<string, unknown>
  const answered = answer as Record<string, unknown>
  return [...new Set([...Object.keys(fields), ...Object.keys(answered)])].flatMap((name) =>
    differences(fields[name], answered[name], `${place}.${name}`),
  )
}

const TABLES = ['messages', 'inbound_messages', 'events', 'webhook_attempts']

/** The message that the examples name, outbound and inbound, its event, and a carrier out of use. */
async function storeHistory(): Promise<void> {
  const { db } = server.database
  await storeEvent(db, { planId: 1, msgId: MSG_ID, state: 'failed', attempts: 2 })
  await storeEvent(db, { planId: 1, msgId: MSG_ID, sequence: 0, state: 'delivered' })
  await db.query(
    `insert into unowned_inbound_messages (msg_id, carrier_id, sender, recipient, body)
     values ($1, 1, '+15551230001', '71299', 'Hello')`,
    [exampleId('giveUnownedInboundMessage', OPERATORS)],
  )
  await db.query(`update inbound_messages set recipient = '71234', keyword = 'JOIN'`)
  await db.query(
    `insert into carrier_pauses (route_id, carrier_id, since, until, reason)
     values (1, 1, now(), now() + interval '1 hour', '10 of 100 delivered')`,
  )
  await db.query(
    `insert into country_pauses (plan_id, country, since, until, reason)
     values (1, 'GB', now(), now() + interval '1 hour', '10 of 100 delivered')`,
  )
}

/** What the example of statistics says of the plan, just now. */
async function storeStatistics(): Promise<void> {
  const latency = (bucket: number) => Array.from({ length: 16 }, (_, at) => (at === bucket ? 2 : 0))
  const row = statisticsRow({
    ...{ atMs: startMs - (startMs % 60_000), accepted: 2, sent: 2, delivered: 1, failed: 1, segments: 2 },
    ...{ codes: [301], codeCounts: [1], currencies: ['USD'], prices: [17_000] },
    ...{ accept: latency(2), submit: latency(4), receipt: latency(4) },
  })
  await writeStatistics(server.database.db, 1, [row])
}

async function setCap(): Promise<void> {
  const { servicePlanId } = PLAN_LIMITS
  await server.request('PATCH', `/service-plans/${servicePlanId}`, { caps: { messagesPerDay: 10_000 } })
}

async function clearHistory(): Promise<void> {
  const { db } = server.database
  await db.query(`truncate ${TABLES.join()}, event_deliveries`)
}

test.each([CUSTOMERS, OPERATORS])('examples of responses and components fit their schemas', (document) => {
  const { schemas, responses } = document.components
  for (const [name, schema] of Object.entries(schemas)) {
    for (const example of (schema as { examples?: unknown[] }).examples ?? [])
      expect(schemaFaultsOf(document, schema, example), name).toEqual([])
  }
  for (const [name, { content }] of Object.entries(responses)) {
    const { schema, examples = {} } = content!['application/json']!
    expect(Object.keys(examples).length, name).toBeGreaterThan(0)
    for (const { value } of Object.values(examples)) {
      expect(schemaFaultsOf(document, schema, value), name).toEqual([])
    }
  }
})

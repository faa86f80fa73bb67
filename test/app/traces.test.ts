import { afterAll, beforeAll, expect, test } from 'vitest'
import { rootSpan } from '../../src/domain/trace-context.ts'
import { otherNodes } from '../support/other-nodes.ts'
import { type CollectedSpan, type OtlpCollector, startOtlpCollector } from '../support/otlp-collector.ts'
import { eventually, type Service, startService } from '../support/service.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'
import { call } from '../support/tenant.ts'
import { acknowledge, answerStatus } from '../support/webhook-receiver.ts'

const RECIPIENT = '+15551230000'
const TEXT = 'CANARY-TEXT '.repeat(20)
const KEY = 'CANARY-COLLECTOR-KEY'
const CAUSE = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }

let collector: OtlpCollector
let smsc: Smsc
let service: Service

beforeAll(async () => {
  collector = await startOtlpCollector()
  smsc = await startSmsc()
  const traces = {
    url: collector.url,
    headers: { 'x-api-key': KEY },
    serviceName: 'sms',
    share: 1,
    flushMs: 20,
  }
  service = await startService({ app: { traces }, smscPort: smsc.port, carrier: { binds: 2 } })
})

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await smsc?.[Symbol.asyncDispose]()
  await collector?.close()
})

const others = otherNodes(() => service)

/** In the order of their names here: clocks of two nodes do not order what happens within one millisecond. */
const NAMES = ['accept', 'receive', 'submit_sm', 'webhook', 'receipt']
const placeOf = ({ name, attributes }: CollectedSpan) =>
  [
    NAMES.indexOf(name),
    attributes['aldis.pdu'],
    attributes['aldis.sequence'],
    attributes['aldis.attempt'],
    attributes['aldis.status'],
  ].join()

/** The spans of one message, once there are so many. */
async function traceOf(msgId: string, count: number): Promise<CollectedSpan[]> {
  const { traceId } = rootSpan(msgId)
  const own = () => collector.spans.filter((span) => span.traceId === traceId)
  await collector.until(() => own().length >= count)
  return own().sort((a, b) => placeOf(a).localeCompare(placeOf(b)))
}

const batchesOf = (msgId: string) =>
  collector.spans.filter(({ links }) => links.some(({ traceId }) => traceId === rootSpan(msgId).traceId))

test('one trace from the request at one node to the webhook of another', async () => {
  const node = await others.join()
  await eventually(async () => (await metrics(node.url)).includes('aldis_carrier_bound{carrier="main"} 1'))
  service.receiver.answerWith(answerStatus(500))
  const { servicePlanId, token } = service
  const sms = { servicePlanId, channel: 'SMS', from: 'Aldis', to: RECIPIENT, body: TEXT }
  const traceparent = `00-${CAUSE.traceId}-${CAUSE.spanId}-01`
  const { body } = await call(`${node.url}/v1/sendsms`, token, 'POST', sms, { traceparent })
  const { msgId } = body
  await eventually(() => service.statuses(msgId).length === 1)
  await node.stop()
  service.receiver.answerWith(acknowledge)
  expect(await Promise.all(smsc.ids.map((id) => smsc.receipt(id, 'DELIVRD')))).toEqual([0, 0])
  await eventually(async () => {
    await service.makeDue()
    return service.statuses(msgId).length === 3
  })
  expect(service.statuses(msgId)).toEqual(['SENT', 'SENT', 'DELIVERED'])

  const root = rootSpan(msgId)
  const spans = await traceOf(msgId, 8)
  const about = { 'aldis.msg_id': msgId, 'aldis.service_plan_id': servicePlanId }
  const ofCarrier = { ...about, 'aldis.carrier': service.carrier }
  const submit = {
    ...ofCarrier,
    'aldis.route': service.route,
    'aldis.attempt': 1,
    'aldis.result': 'accepted',
  }
  const receipt = { ...ofCarrier, 'aldis.receipt': 'DELIVERED', 'aldis.error_code': '000' }
  const webhook = (status: string, sequence: number, attempt: number, response: number) => ({
    ...about,
    'aldis.status': status,
    'aldis.error_code': '000',
    'aldis.sequence': sequence,
    'aldis.attempt': attempt,
    'http.response.status_code': response,
  })
  expect(spans.map(({ name, node, attributes }) => [name, node, attributes])).toEqual([
    ['accept', 'node-b', { ...about, 'aldis.segments': 2 }],
    ['submit_sm', 'node-b', { ...submit, 'aldis.pdu': 1, 'smpp.command_status': 0 }],
    ['submit_sm', 'node-b', { ...submit, 'aldis.pdu': 2, 'smpp.command_status': 0 }],
    ['webhook', 'node-b', { ...webhook('SENT', 1, 1, 500), 'error.type': 'HTTP_STATUS' }],
    ['webhook', 'node-a', webhook('SENT', 1, 2, 200)],
    ['webhook', 'node-a', webhook('DELIVERED', 2, 1, 200)],
    ['receipt', 'node-a', { ...receipt, 'aldis.status': 'DELIVERED' }],
    ['receipt', 'node-a', { ...receipt, 'aldis.status': 'SENT' }],
  ])
  expect(spans.map(({ failed }) => failed).indexOf(true)).toBe(3)
  expect(spans.every(({ startMs, endMs }) => startMs <= endMs)).toBe(true)
  const [accepted, ...rest] = spans
  expect(accepted).toMatchObject({ spanId: root.spanId, links: [CAUSE] })
  expect(accepted!.parentSpanId ?? '').toBe('')
  expect(new Set(rest.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root.spanId]))
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
  // Receivers continue the trace.
  const received = service.receiver.received.map(({ headers }) => headers.traceparent)
  const attempts = spans.filter(({ name }) => name === 'webhook')
  expect(received).toEqual(attempts.map(({ spanId }) => `00-${root.traceId}-${spanId}-01`))
  await eventually(() => {
    const names = new Set(batchesOf(msgId).map(({ name }) => name))
    return ['journal', 'projection', 'webhook-attempts'].every((name) => names.has(name))
  })
  const { webhookAttempts } = await service.admin('GET', `/messages/${msgId}`)
  type Shown = { readonly requestHeaders: Readonly<Record<string, string>> }
  expect(webhookAttempts.map(({ requestHeaders }: Shown) => requestHeaders.traceparent)).toEqual(received)
})

test('each request of a kept connection is linked from its own trace', async () => {
  const { servicePlanId, token } = service
  const sms = { servicePlanId, channel: 'SMS', from: 'Aldis', to: RECIPIENT, body: TEXT }
  for (const digit of ['1', '2', '3']) {
    const cause = { traceId: digit.repeat(32), spanId: digit.repeat(16) }
    const traceparent = `00-${cause.traceId}-${cause.spanId}-01`
    const { body } = await call(`${service.app.url}/v1/sendsms`, token, 'POST', sms, { traceparent })
    const [accepted] = await traceOf(body.msgId, 1)
    expect(accepted).toMatchObject({ name: 'accept', links: [cause] })
  }
})

test('a refused submit, and an inbound message', async () => {
  smsc.on('submit_sm', (pdu, peer) => peer.respond(pdu, 11))
  const refused = await service.sent({ to: RECIPIENT })
  const [, submit, webhook] = await traceOf(refused, 3)
  expect(submit).toMatchObject({ failed: true, attributes: { 'aldis.result': 'refused' } })
  expect(submit!.attributes['smpp.command_status']).toBe(11)
  expect(webhook!.attributes['aldis.status']).toBe('FAILED')
  smsc.behave()
  const from = RECIPIENT.slice(1)
  const inbound = { source_addr: from, destination_addr: service.inboundNumber.slice(1) }
  await smsc.deliver({ ...inbound, source_addr_ton: 1, dest_addr_ton: 1, short_message: Buffer.from(TEXT) })
  const { body } = await service.receiver.next(({ body }) => body.includes('"MO"'))
  const [received, told] = await traceOf(JSON.parse(body).msgId, 2)
  expect(received).toMatchObject({ name: 'receive', attributes: { 'aldis.carrier': service.carrier } })
  expect(told).toMatchObject({ name: 'webhook', parentSpanId: received!.spanId })
})

test('the collector gets its headers, and no number, text, URL or secret', async () => {
  const { url, headers } = collector.requests[0]!
  expect(url).toBe('/v1/traces')
  expect(headers).toMatchObject({ 'x-api-key': KEY, 'content-type': 'application/json' })
  const { token, webhookSecret, receiver, inboundNumber } = service
  const canaries = [
    RECIPIENT.slice(1),
    inboundNumber.slice(1),
    'CANARY',
    token,
    webhookSecret,
    receiver.origin,
  ]
  const said = [...collector.bodies, ...service.logs, await metrics()].join('\n')
  expect(said).toContain('"journal"')
  expect(canaries.filter((canary) => said.includes(canary))).toEqual([])
  expect(await metrics()).toMatch(/aldis_trace_spans_total\{outcome="exported"\} \d+/)
})

async function metrics(url = service.app.url): Promise<string> {
  return await (await fetch(`${url}/metrics`)).text()
}

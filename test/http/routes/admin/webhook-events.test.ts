import { beforeAll, describe, expect, test } from 'vitest'
import { createdAtMs } from '../../../../src/domain/identifiers.ts'
import { adminServerOfFile, createPlan } from '../../../support/admin-server.ts'
import { newId } from '../../../support/installation.ts'
import { DESTINATION, storeEvent } from '../../../support/stored-events.ts'

const AT = Date.now() - 60_000
const OTHER = 'https://other.example.com:8443'
const ids = [0, 1, 2, 3, 4].map((n) => newId(AT + n * 1_000))

const server = await adminServerOfFile({ state: 'started' })
const { db } = server.database
const { servicePlanId } = await createPlan(server)
const other = await createPlan(server)
const keyOf = (publicId: string) => server.directory.current().planByPublicId(publicId)!.id
const planId = keyOf(servicePlanId)

beforeAll(async () => {
  const at = (n: number) => ({ msgId: ids[n]!, occurredAt: new Date(AT + n * 1_000) })
  await storeEvent(db, { planId, ...at(0), state: 'delivered' })
  await storeEvent(db, { planId, ...at(1), state: 'failed', attempts: 2 })
  await storeEvent(db, { planId, ...at(2), state: 'parked', attempts: 1, destination: OTHER })
  await storeEvent(db, { planId, ...at(3), state: 'kept', callbackUrl: null })
  await storeEvent(db, { planId: keyOf(other.servicePlanId), ...at(4), state: 'failed', sequence: 0 })
})

const list = (query: Record<string, string> = {}) =>
  server.request('GET', `/webhook-events?${new URLSearchParams({ servicePlanId, ...query })}`)
const iso = (ms: number) => new Date(ms).toISOString()

describe('the list', () => {
  test('200: of a plan, newest first, page by page', async () => {
    const first = await list({ limit: '3' })
    expect(first.status).toBe(200)
    expect(first.body.items.map(({ msgId }: { msgId: string }) => msgId)).toEqual([ids[3], ids[2], ids[1]])
    expect(first.body.nextAfter).toBe(`${ids[1]}-1`)
    const rest = await list({ limit: '3', after: first.body.nextAfter })
    expect(rest.body).toEqual({
      items: [
        {
          eventId: `${ids[0]}-1`,
          servicePlanId,
          msgId: ids[0],
          sequence: 1,
          type: 'deliveryReceipt',
          messageStatus: 'SENT',
          state: 'delivered',
          occurredAt: iso(AT),
          deliveredAt: iso(AT + 2_000),
          attempts: 1,
          nextAttemptAt: null,
          destination: DESTINATION,
          responseStatus: 200,
          error: null,
        },
      ],
      nextAfter: null,
    })
  })

  test.each<[Record<string, string>, number[]]>([
    [{ state: 'failed' }, [1]],
    [{ state: 'pending' }, [2]],
    [{ state: 'kept' }, [3]],
    [{ state: 'delivered' }, [0]],
    [{ destination: OTHER }, [2]],
    [{ msgId: ids[3]!.toUpperCase() }, [3]],
    [{ msgId: ids[4]! }, []],
    [{ fromDate: iso(createdAtMs(ids[1]!)), toDate: iso(createdAtMs(ids[2]!)) }, [2, 1]],
  ])('200: filtered by %j', async (filters, expected) => {
    const { status, body } = await list(filters)
    expect(status).toBe(200)
    expect(body.items.map(({ msgId }: { msgId: string }) => ids.indexOf(msgId))).toEqual(expected)
  })

  test.each<[Record<string, string>, string, string]>([
    [{ servicePlanId: 'x' }, 'servicePlanId', 'INVALID_FORMAT'],
    [{ servicePlanId: 'f'.repeat(24) }, 'servicePlanId', 'NOT_FOUND'],
    [{ state: 'lost' }, 'state', 'NOT_ALLOWED'],
    [{ msgId: '12345' }, 'msgId', 'INVALID_FORMAT'],
    [{ destination: 'https://hooks.example.com/dlr' }, 'destination', 'INVALID_FORMAT'],
    [{ destination: 'x'.repeat(301) }, 'destination', 'TOO_LONG'],
    [{ fromDate: 'yesterday' }, 'fromDate', 'INVALID_FORMAT'],
    [{ fromDate: iso(AT), toDate: iso(AT - 1) }, 'fromDate', 'INVALID_RANGE'],
    [{ after: ids[0]! }, 'after', 'INVALID_FORMAT'],
    [{ after: `${ids[0]}-40000` }, 'after', 'INVALID_FORMAT'],
    [{ status: 'SENT' }, 'status', 'UNKNOWN_FIELD'],
  ])('400 to %j', async (query, field, code) => {
    const { status, body } = await list(query)
    expect([status, body.errors?.[0].field, body.errors?.[0].code]).toEqual([400, field, code])
  })

  test('400 without a plan', async () => {
    const { status, body } = await server.request('GET', '/webhook-events')
    expect([status, body.errors[0].field]).toEqual([400, 'servicePlanId'])
  })
})

describe('one event', () => {
  test('200: with its attempts, whosever it is', async () => {
    const { status, body } = await server.request('GET', `/webhook-events/${ids[1]!.toUpperCase()}-1`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ eventId: `${ids[1]}-1`, servicePlanId, state: 'failed', attempts: 2 })
    const requestHeaders = expect.objectContaining({
      'webhook-id': `${ids[1]}-1`,
      'webhook-signature': '***',
    })
    const attempt = { latencyMs: 1, responseStatus: 503, error: null, requestHeaders, responseHead: 'busy' }
    expect(body.attemptRecords).toEqual([
      { ...attempt, attempt: 1, attemptedAt: iso(AT + 2_000) },
      { ...attempt, attempt: 2, attemptedAt: iso(AT + 3_000), latencyMs: 2 },
    ])
    const inbound = await server.request('GET', `/webhook-events/${ids[4]}-0`)
    expect(inbound.body).toMatchObject({
      servicePlanId: other.servicePlanId,
      type: 'inboundMessage',
      sequence: 0,
    })
  })

  test.each(['GET', 'POST'])('404 and 400 to %s', async (method) => {
    const end = method === 'POST' ? '/redeliver' : ''
    for (const id of [`${ids[1]}-2`, `${newId(AT)}-1`, `${ids[1]}-99999`]) {
      const missing = await server.request(method, `/webhook-events/${id}${end}`)
      expect([missing.status, missing.body.errorCode], id).toEqual([404, 'NOT_FOUND'])
    }
    for (const id of [ids[1], `${ids[1]}-x`, `${ids[1]}-01`]) {
      const none = await server.request(method, `/webhook-events/${id}${end}`)
      expect([none.status, none.body.errors[0].field], id).toEqual([400, 'eventId'])
    }
  })

  test('202: is redelivered', async () => {
    const { status, body } = await server.request('POST', `/webhook-events/${ids[0]}-1/redeliver`)
    expect(status).toBe(202)
    expect(body).toMatchObject({ state: 'pending', attempts: 1, nextAttemptAt: expect.any(String) })
    expect(body.attemptRecords).toHaveLength(1)
  })

  test('409 where there is no URL', async () => {
    const { status, body } = await server.request('POST', `/webhook-events/${ids[3]}-1/redeliver`)
    expect([status, body.errorCode]).toEqual([409, 'CONFLICT'])
  })
})

describe('many events', () => {
  const redeliver = (body: Record<string, unknown>) => server.request('POST', '/webhook-redeliveries', body)

  test('202: those that failed, and those that were kept', async () => {
    expect((await redeliver({ servicePlanId, destination: OTHER })).body.redelivered).toBe(0)
    const answer = await redeliver({ servicePlanId, fromDate: iso(AT), toDate: iso(AT + 60_000) })
    expect([answer.status, answer.body]).toEqual([202, { redelivered: 1, nextAfter: null }])
    expect((await list({ state: 'failed' })).body.items).toEqual([])
    await server.request('PATCH', `/accounts/${await accountOf()}`, {
      defaultDlrUrl: 'https://example.com/dlr',
    })
    expect((await redeliver({ servicePlanId, state: 'kept', msgId: ids[3] })).body).toMatchObject({
      redelivered: 1,
    })
    const foreign = await server.request('GET', `/webhook-events/${ids[4]}-0`)
    expect(foreign.body.state).toBe('failed')
  })

  const accountOf = async () =>
    (await server.request('GET', `/service-plans/${servicePlanId}`)).body.accountId

  test.each<[Record<string, unknown>, string, string]>([
    [{}, 'servicePlanId', 'REQUIRED'],
    [{ servicePlanId: 'f'.repeat(24) }, 'servicePlanId', 'NOT_FOUND'],
    [{ servicePlanId, state: 'delivered' }, 'state', 'NOT_ALLOWED'],
    [{ servicePlanId, state: 'kept', destination: OTHER }, 'destination', 'EXCLUSIVE'],
    [{ servicePlanId, destination: 'other.example.com' }, 'destination', 'INVALID_FORMAT'],
    [{ servicePlanId, fromDate: 5 }, 'fromDate', 'WRONG_TYPE'],
    [{ servicePlanId, toDate: '2026-01-02' }, 'toDate', 'INVALID_FORMAT'],
    [{ servicePlanId, after: 'x' }, 'after', 'INVALID_FORMAT'],
    [{ servicePlanId, after: `${ids[0]}-40000` }, 'after', 'INVALID_FORMAT'],
    [{ servicePlanId, limit: 5 }, 'limit', 'UNKNOWN_FIELD'],
  ])('400 to %j', async (body, field, code) => {
    const answer = await redeliver(body)
    expect([answer.status, answer.body.errors?.[0].field, answer.body.errors?.[0].code]).toEqual([
      400,
      field,
      code,
    ])
  })
})

import { beforeEach, describe, expect, test } from 'vitest'
import { rollUpStatistics } from '../../src/store/statistics.ts'
import { eventually, type Service } from '../support/service.ts'
import { call } from '../support/tenant.ts'
import { serviceOfFile } from '../support/tenant-per-test.ts'

const HOUR_MS = 3_600_000
const { tenant } = serviceOfFile({ statisticsMs: 20 })
let service: Service

beforeEach(async () => {
  service = await tenant()
  await service.admin('POST', '/rates', {
    servicePlanId: service.servicePlanId,
    country: 'US',
    price: '0.0075',
    ptf: '0.003',
    currency: 'USD',
  })
})

type Query = Record<string, string>

async function own(query: Query = {}) {
  const url = `${service.app.url}/v1/statistics?${new URLSearchParams(query)}`
  return await call(url, service.token, 'GET')
}

/** The totals of the only series, or of each group by the texts of its values. */
async function totals(query: Query = {}, read: (query: Query) => Promise<Answer> = ownBody) {
  const { series, groupBy } = await read(query)
  if (groupBy.length === 0) return series[0].totals
  return Object.fromEntries(
    series.map(({ group, totals }: Answer) => [
      group === null ? 'other' : Object.values(group).join(' '),
      totals,
    ]),
  )
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
type Answer = any

const ownBody = async (query: Query) => (await own(query)).body
const operators = (query: Query): Promise<Answer> =>
  service.admin('GET', `/statistics?${new URLSearchParams(query)}`)

/** One message of each outcome, one with two segments, one to another country, and an inbound one. */
async function traffic(): Promise<void> {
  const outcomes = [
    ['+15551230000', 'DELIVERED'],
    ['+15551231001', 'FAILED'],
    ['+15551231004', 'UNKNOWN'],
    ['+15551231005', 'SENT'],
    ['+15551231006', 'FAILED'],
    ['+447700900000', 'DELIVERED'],
  ] as const
  for (const [to, status] of outcomes) await service.until(await service.sent({ to }), status)
  await service.until(await service.sent({ body: 'x'.repeat(161) }), 'DELIVERED')
  await service.simulator.sendInbound({ from: '+15551230001', to: service.inboundNumber, body: 'hello' })
  await eventually(async () => {
    const { accepted, sent, delivered, failed, unknown, inbound, latencyMs } = await totals()
    // 7 x SENT or FAILED, 5 x what followed, 1 x inbound.
    return accepted + sent + delivered + failed + unknown + inbound === 20 && latencyMs.webhook?.count === 13
  })
}

describe('the series of a plan', () => {
  test('agree with what happened', async () => {
    await traffic()
    const body = await ownBody({})
    expect(body).toMatchObject({ interval: 'hour', groupBy: [] })
    const [{ group, points }] = body.series
    expect(group).toEqual({})
    expect(points.length).toBe((Date.parse(body.to) - Date.parse(body.from)) / HOUR_MS)
    expect(points.reduce((sum: number, { accepted }: Answer) => sum + accepted, 0)).toBe(7)
    const figures = await totals()
    const counts = { accepted: 7, sent: 6, delivered: 3, failed: 2, unknown: 1, inbound: 1, segments: 7 }
    expect(figures).toMatchObject({ ...counts, prices: [{ currency: 'USD', price: '0.045' }] })
    const { accept, submit, receipt, webhook } = figures.latencyMs
    expect([accept.count, submit.count, receipt.count, webhook.count]).toEqual([7, 6, 5, 13])
    expect(accept.buckets.length).toBe(16)
    expect(body.latencyBoundsMs.accept.length).toBe(15)
  })

  test('are told apart by country, status and error code', async () => {
    await traffic()
    expect(await totals({ groupBy: 'country' })).toMatchObject({
      US: { accepted: 6, delivered: 2, inbound: 1 },
      GB: { accepted: 1, delivered: 1, inbound: 0, prices: [] },
    })
    const byStatus = await totals({ groupBy: 'status' })
    expect(byStatus.FAILED).toMatchObject({ accepted: 0, failed: 2, inbound: null, latencyMs: null })
    expect(byStatus.QUEUED).toMatchObject({ accepted: 7, failed: 0 })
    expect(await totals({ groupBy: 'errorCode,status', interval: 'day' })).toMatchObject({
      'DELIVERED 000': { delivered: 3 },
      'FAILED 303': { failed: 1 },
      'FAILED 301': { failed: 1 },
      'UNKNOWN 600': { unknown: 1 },
    })
    expect(await totals({ errorCode: '303' })).toMatchObject({ accepted: 0, failed: 1, segments: null })
    expect(await totals({ status: 'UNKNOWN', country: 'US' })).toMatchObject({ failed: 0, unknown: 1 })
    expect(await totals({ country: 'GB' })).toMatchObject({ accepted: 1, segments: 1 })
  })

  test('are the same for its operator, who also sees carriers and routes', async () => {
    await traffic()
    const { servicePlanId, carrier, route } = service
    expect(await totals({ servicePlanId }, operators)).toEqual(await totals())
    expect(await totals({ servicePlanId, groupBy: 'carrier,route' }, operators)).toMatchObject({
      [`${carrier} ${route}`]: { sent: 6, delivered: 3, failed: 2 },
    })
    expect(await totals({ carrier }, operators)).toMatchObject({ sent: 6, inbound: 1, accepted: 0 })
    const { name: servicePlanName } = await service.admin('GET', `/service-plans/${servicePlanId}`)
    for (const read of [operators, ownBody])
      expect((await read({ groupBy: 'servicePlanId' })).series).toContainEqual(
        expect.objectContaining({
          group: { servicePlanId, servicePlanName },
          totals: expect.objectContaining({ accepted: 7 }),
        }),
      )
  })

  test('add up what two nodes counted', async () => {
    const { servicePlanId, token } = service
    const other = await service.startNode({ nodeName: 'node-b' })
    const sms = { servicePlanId, channel: 'SMS', from: 'Aldis', to: '+15551230000', body: 'hello' }
    for (const url of [service.app.url, other.url, other.url])
      expect((await call(`${url}/v1/sendsms`, token, 'POST', sms)).status).toBe(202)
    const figures = await eventually(async () => {
      const { delivered, latencyMs } = await totals()
      return delivered === 3 && latencyMs.webhook?.count === 6 && (await totals())
    })
    expect(figures).toMatchObject({ accepted: 3, sent: 3, segments: 3, failed: 0, unknown: 0 })
    await other.stop()
    expect(await totals()).toEqual(figures)
  })

  test('stay the same when the hour is rolled up', async () => {
    await traffic()
    const before = await ownBody({ groupBy: 'country' })
    const fromDate = new Date(Date.now() - HOUR_MS).toISOString()
    const perMinute = await totals({ interval: 'minute', fromDate })
    const ready = new Date(Date.now() + 25 * HOUR_MS)
    for (const step of ['hour', 'day'] as const)
      while (await rollUpStatistics(service.db, step, ready)) expect(step).toBeTruthy()
    const after = await ownBody({ groupBy: 'country' })
    expect(after.series).toEqual(before.series)
    expect(await totals({ interval: 'minute', fromDate })).toEqual(perMinute)
    expect(await totals({ interval: 'day' })).toEqual(perMinute)
    await service.db.query(`
      update statistics_rolled_up set until = date_trunc(case step_s when 3600 then 'hour' else 'day' end, now(), 'UTC')`)
    await service.db.query('delete from statistics where step_s > 60')
  })
})

import { beforeEach, describe, expect, test } from 'vitest'
import { noCounts, type QualityCounts } from '../../../../src/domain/carriers/quality.ts'
import { addQualityMinutes, pauseCarriers } from '../../../../src/store/quality.ts'
import { adminServerOfFile, CARRIER } from '../../../support/admin-server.ts'

const MINUTE_MS = 60_000

const server = await adminServerOfFile()
const acme = (await server.request('POST', '/carriers', CARRIER)).body.carrierId
const backup = (await server.request('POST', '/carriers', { ...CARRIER, name: 'backup' })).body.carrierId
const carriers = [{ carrier: 'acme' }, { carrier: 'backup', priority: 1 }]
const qualityFloor = { minDelivered: 80, windowMinutes: 60, minMessages: 10, pauseMinutes: 15 }
const watched = (await server.request('POST', '/routes', { name: 'watched', carriers, qualityFloor })).body
  .routeId
const free = (await server.request('POST', '/routes', { name: 'free', carriers })).body.routeId
beforeEach(() => server.database.db.query('truncate quality_minutes, carrier_pauses'))

async function counted(ageMinutes: number, pair: [number, number], counts: Partial<QualityCounts>) {
  const [routeId, carrierId] = pair
  const minuteMs = Math.floor(Date.now() / MINUTE_MS - ageMinutes) * MINUTE_MS
  await addQualityMinutes(server.database.db, [
    { routeId, carrierId, minuteMs, counts: { ...noCounts(), ...counts } },
  ])
}

async function quality(query = '') {
  const { status, body } = await server.request('GET', `/quality${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

describe('GET /quality', () => {
  test('200: the figures of each carrier in each route', async () => {
    const submitLatency = noCounts().submitLatency
    submitLatency[4] = 90
    submitLatency[9] = 10
    const receiptLatency = noCounts().receiptLatency
    receiptLatency[3] = 50
    await counted(20, [watched, acme], {
      accepted: 80,
      refused: 15,
      throttled: 5,
      noAnswer: 2,
      submitLatency,
      submitLatencyMaxMs: 900,
      sent: 70,
      delivered: 40,
      failed: 9,
      unknown: 1,
      receiptLatency,
    })
    await counted(5, [watched, acme], { sent: 7, delivered: 1 })
    await counted(5, [free, backup], { noAnswer: 1 })
    const { items, truncated, from, to } = await quality()
    expect(items).toEqual([
      {
        route: 'watched',
        carrier: 'acme',
        submits: {
          total: 102,
          accepted: 80,
          refused: 15,
          throttled: 5,
          noAnswer: 2,
          latencyMs: { p50: 16, p95: 700, max: 900 },
        },
        messages: {
          sent: 77,
          delivered: 41,
          failed: 9,
          unknown: 1,
          missing: 20,
          deliveryRate: 80.4,
          receiptLatencyMs: { p50: 1_500, p95: 1_950 },
        },
        outOfUseUntil: null,
      },
      {
        route: 'free',
        carrier: 'backup',
        submits: {
          total: 1,
          accepted: 0,
          refused: 0,
          throttled: 0,
          noAnswer: 1,
          latencyMs: { p50: null, p95: null, max: null },
        },
        messages: {
          sent: 0,
          delivered: 0,
          failed: 0,
          unknown: 0,
          missing: 0,
          deliveryRate: null,
          receiptLatencyMs: { p50: null, p95: null },
        },
        outOfUseUntil: null,
      },
    ])
    expect(truncated).toBe(false)
    expect(Date.parse(from) % MINUTE_MS).toBe(0)
    expect(Math.ceil((Date.parse(to) - Date.parse(from)) / MINUTE_MS)).toBeGreaterThanOrEqual(59)
  })

  test('200: of a carrier, of a route, of a time', async () => {
    await counted(5, [watched, acme], { accepted: 1 })
    await counted(5, [free, acme], { accepted: 2 })
    await counted(5, [free, backup], { accepted: 4 })
    await counted(70, [free, backup], { accepted: 8 })
    const totals = async (query: string) => {
      const { items } = await quality(query)
      return items.map(({ submits }: { submits: { total: number } }) => submits.total)
    }
    expect(await totals('?carrier=acme')).toEqual([2, 1])
    expect(await totals(`?carrier=${acme}`)).toEqual([2, 1])
    expect(await totals('?route=free')).toEqual([2, 4])
    expect(await totals('?route=free&carrier=backup&minutes=10000')).toEqual([12])
    expect(await totals('?minutes=2')).toEqual([])
  })

  test('200: a series adds up what is asked for, by minutes and then by hours', async () => {
    await counted(5, [free, acme], { accepted: 1, sent: 1 })
    await counted(5, [free, backup], { accepted: 2 })
    await counted(5, [watched, backup], { accepted: 4 })
    await counted(4, [free, acme], { accepted: 8 })
    await counted(150, [free, acme], { accepted: 16 })
    const byMinute = (await quality('?route=free&minutes=180&series=true')).series
    expect(byMinute.map(({ submits }: { submits: { total: number } }) => submits.total)).toEqual([16, 3, 8])
    expect(byMinute[1]).toMatchObject({ messages: { sent: 1, missing: 0, deliveryRate: null } })
    const byHour = (await quality('?route=free&minutes=181&series=true')).series
    expect(byHour.length).toBeLessThanOrEqual(3)
    expect(byHour.every(({ at }: { at: string }) => at.endsWith(':00:00.000Z'))).toBe(true)
    expect((await quality('?series=false')).series).toBeUndefined()
  })

  test.each([
    ['minutes', 'minutes=0'],
    ['minutes', 'minutes=10001'],
    ['minutes', 'minutes=1.5'],
    ['series', 'series=yes'],
    ['carrier', 'carrier=nobody'],
    ['route', 'route=nowhere'],
    ['plan', 'plan=1'],
  ])('400 names %s for %s', async (field, query) => {
    const { status, body } = await server.request('GET', `/quality?${query}`)
    expect(status).toBe(400)
    expect(body.errors[0].field).toBe(field)
  })
})

describe('pauses', () => {
  async function paused(routeId = watched) {
    const pair = { routeId, carrierId: acme, minutes: 15, reason: 'delivered too few' }
    await pauseCarriers(server.database.db, [pair], new Date())
  }

  test('200: what is out of use, and until when', async () => {
    await paused()
    await counted(1, [watched, acme], { sent: 1 })
    const { body } = await server.request('GET', '/quality/pauses')
    expect(body).toEqual({
      items: [
        {
          route: 'watched',
          carrier: 'acme',
          since: expect.any(String),
          until: expect.any(String),
          reason: 'delivered too few',
        },
      ],
    })
    expect((await quality()).items[0].outOfUseUntil).toBe(body.items[0].until)
  })

  test('204: an operator ends a pause, once', async () => {
    await paused()
    expect((await server.request('DELETE', '/quality/pauses/watched/backup')).status).toBe(404)
    expect((await server.request('DELETE', '/quality/pauses/watched/acme')).status).toBe(204)
    expect((await server.request('DELETE', '/quality/pauses/watched/acme')).status).toBe(404)
    expect((await server.request('GET', '/quality/pauses')).body).toEqual({ items: [] })
  })

  test('a route, a carrier and their pauses go together', async () => {
    const carriers = [{ carrier: 'acme' }]
    const { body } = await server.request('POST', '/routes', { name: 'gone', carriers })
    await paused(body.routeId)
    await counted(1, [body.routeId, acme], { sent: 1 })
    expect((await server.request('DELETE', '/routes/gone')).status).toBe(204)
    expect((await quality()).items).toEqual([])
  })
})

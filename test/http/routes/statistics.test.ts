import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeToken } from '../../../src/domain/credentials.ts'
import { writeStatistics } from '../../../src/store/statistics.ts'
import {
  type HttpService,
  PLAN,
  startHttpService,
  TOKEN_LIMITED,
  TOKEN_OTHER,
} from '../../support/http-service.ts'
import { statisticsRow } from '../../support/statistics-rows.ts'

/** Each plan has accepted ten to the power of its number. Those of the account are 1 to 5. */
const OF_ACCOUNT = 111_110
const OF_OTHER = 1_000_000

let service: HttpService
beforeAll(async () => {
  service = await startHttpService()
  const atMs = Math.floor((Date.now() - 60_000) / 60_000) * 60_000
  const { rows } = await service.db.query<{ id: number }>('select generate_series(1, 8) as id')
  await writeStatistics(
    service.db,
    1,
    rows.map(({ id }) => statisticsRow({ atMs, planId: id, accepted: 10 ** id })),
  )
})
afterAll(() => service[Symbol.asyncDispose]())

async function get(query: string, token?: string) {
  return service.get(
    `/v1/statistics?${query}`,
    token === undefined ? {} : { authorization: `Bearer ${token}` },
  )
}

describe('GET /v1/statistics', () => {
  test('without a plan, of all plans that the token may read and of no others', async () => {
    const accepted = async (query: string, token?: string) =>
      (await get(query, token)).json.series[0].totals.accepted
    expect(await accepted(`servicePlanId=${PLAN}`)).toBe(10)
    expect(await accepted('', TOKEN_LIMITED)).toBe(10)
    expect(await accepted('')).toBe(OF_ACCOUNT)
    expect(await accepted('', TOKEN_OTHER)).toBe(OF_OTHER)
  })

  test('a group names only plans of the token', async () => {
    const { json } = await get('groupBy=servicePlanId', TOKEN_LIMITED)
    expect(json.series.map(({ group }: { group: object }) => group)).toEqual([
      { servicePlanId: PLAN, servicePlanName: PLAN },
    ])
  })

  test('says up to when it is complete, and the bounds of the buckets', async () => {
    const { status, json } = await get(
      `interval=minute&fromDate=${new Date(Date.now() - 600_000).toISOString()}`,
    )
    expect(status).toBe(200)
    expect(Date.parse(json.completeUntil)).toBeLessThanOrEqual(Date.now() - 10_000)
    expect(Object.values<number[]>(json.latencyBoundsMs).map(({ length }) => length)).toEqual([
      15, 15, 15, 15,
    ])
  })

  test.each([
    ['interval=week', 'interval'],
    ['groupBy=carrier', 'groupBy'],
    ['groupBy=', 'groupBy'],
    ['country=Atlantis', 'country'],
    ['status=GONE', 'status'],
    ['errorCode=1', 'errorCode'],
    ['fromDate=yesterday', 'fromDate'],
    ['toDate=tomorrow', 'toDate'],
    ['servicePlanId=1', 'servicePlanId'],
    ['interval=minute&fromDate=2020-01-01T00:00:00Z', 'fromDate'],
    [`interval=minute&fromDate=${new Date(Date.now() - 2 * 86_400_000).toISOString()}`, 'interval'],
    ['status=SENT&status=FAILED', 'status'],
  ])('400 %s', async (query, field) => {
    const { status, json } = await get(query)
    expect([status, json.errorCode]).toEqual([400, 'VALIDATION_ERROR'])
    expect(json.errors.map((each: { field: string }) => each.field)).toEqual([field])
  })

  test('401 for a token that nobody has', async () => {
    expect((await get('', makeToken(Buffer.alloc(32)))).status).toBe(401)
  })
})

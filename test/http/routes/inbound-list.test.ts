import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultsOf, pagesFrom } from '../../support/http-answers.ts'
import {
  ACCOUNT,
  type HttpService,
  PLAN,
  PLAN_INACTIVE,
  PLAN_OTHER,
  PLAN_SECOND,
  startHttpService,
  TOKEN_OTHER,
} from '../../support/http-service.ts'
import { newId } from '../../support/installation.ts'
import type { HttpAnswer } from '../../support/raw-http.ts'

/** 45 messages, a minute apart: every third from another person, every fifth with a keyword, to two numbers in turn. */
const COUNT = 45
const START_MS = Date.parse('2026-03-01T12:00:00Z')
const MINUTE_MS = 60_000
const PEOPLE = ['+15551230001', '+15551230001', 'Bank of Åland']

interface Stored {
  plan_id: number
  msg_id: string
  sender: string
  recipient: string
  keyword: string | null
  body: string
}

let service: HttpService
const stored: Stored[] = Array.from({ length: COUNT }, (_, index) => ({
  plan_id: 1,
  msg_id: newId(START_MS + index * MINUTE_MS),
  sender: PEOPLE[index % 3]!,
  recipient: index % 2 === 0 ? '71234' : '+15550001111',
  keyword: index % 5 === 0 ? 'Join' : null,
  body: `text ${index}`,
}))
const newestFirst = stored.map(({ msg_id }) => msg_id).reverse()
const foreign = { ...stored[0]!, plan_id: 6, msg_id: newId(START_MS) }

beforeAll(async () => {
  service = await startHttpService()
  await insert([...stored, foreign])
})
afterAll(() => service[Symbol.asyncDispose]())

async function insert(rows: readonly Stored[], to: HttpService = service): Promise<void> {
  await to.db.query(
    `insert into inbound_messages (plan_id, msg_id, sender, recipient, keyword, body, carrier_id)
     select i.*, 1 from json_to_recordset($1) as i (plan_id integer, msg_id uuid, sender text, recipient text,
       keyword text, body text)`,
    [JSON.stringify(rows)],
  )
}

function list(query: string, headers: Record<string, string> = {}): Promise<HttpAnswer> {
  return service.get(`/v1/inbound/sms?servicePlanId=${PLAN}&${query}`, headers)
}

function idsOf(answer: HttpAnswer): string[] {
  expect(answer.status).toBe(200)
  return answer.json.items.map(({ msgId }: { msgId: string }) => msgId)
}

function idsWhere(test: (index: number) => boolean): string[] {
  return newestFirst.filter((_, index) => test(COUNT - 1 - index))
}

describe('GET /v1/inbound/sms', () => {
  it('200 answers the newest twenty as they were pushed, and whether there are more', async () => {
    const answer = await list('fromDate=2026-01-01T00:00:00Z')
    expect(idsOf(answer)).toEqual(newestFirst.slice(0, 20))
    expect(answer.json.pagination).toEqual({ limit: 20, hasMore: true, nextCursor: expect.any(String) })
    const pushed = {
      accountId: ACCOUNT,
      servicePlanId: PLAN,
      channel: 'SMS',
      direction: 'MO',
      from: 'Bank of Åland',
      to: '71234',
      body: 'text 44',
      receivedAt: '2026-03-01T12:44:00.000Z',
    }
    expect(answer.json.items[0]).toEqual({ ...pushed, msgId: newestFirst[0] })
    expect(answer.json.items[4]).toMatchObject({ body: 'text 40', keyword: 'Join' })
  })

  it('200 with nothing found', async () => {
    const answer = await list('keyword=LEAVE')
    expect(answer.json).toEqual({ items: [], pagination: { limit: 20, hasMore: false, nextCursor: null } })
  })

  it('200 of a plan that is not active, and of another tenant by its own token', async () => {
    const inactive = `/v1/inbound/sms?servicePlanId=${PLAN_INACTIVE}&to=71234`
    expect(idsOf(await service.get(inactive))).toEqual([])
    const other = `/v1/inbound/sms?servicePlanId=${PLAN_OTHER}&to=71234`
    const authorization = `Bearer ${TOKEN_OTHER}`
    expect(idsOf(await service.get(other, { authorization }))).toEqual([foreign.msg_id])
  })

  it.each([
    ['from=%2B15551230001', (n: number) => n % 3 !== 2],
    ['from=+15551230001', (n: number) => n % 3 !== 2],
    ['from=Bank%20of%20%C3%85land', (n: number) => n % 3 === 2],
    ['to=71234', (n: number) => n % 2 === 0],
    ['to=%2B15550001111', (n: number) => n % 2 === 1],
    ['to=+15550001111', (n: number) => n % 2 === 1],
    ['keyword=Join', (n: number) => n % 5 === 0],
    ['keyword=JOIN', (n: number) => n % 5 === 0],
    ['keyword=join&to=71234&from=+15551230001', (n: number) => n % 10 === 0 && n % 3 !== 2],
    ['from=constructor', () => false],
  ])('200 filters by %s', async (query, test) => {
    expect(idsOf(await list(`${query}&limit=100`))).toEqual(idsWhere(test))
  })

  it('200 takes both ends of the window, to the millisecond, in any offset', async () => {
    const window = 'fromDate=2026-03-01T12:10:00Z&toDate=2026-03-01T14:20:00%2B02:00'
    expect(idsOf(await list(window))).toEqual(idsWhere((n) => n >= 10 && n <= 20))
    const inside = 'fromDate=2026-03-01T12:10:00.0001Z&toDate=2026-03-01T12:19:59.9999Z'
    expect(idsOf(await list(inside))).toEqual(idsWhere((n) => n > 10 && n < 20))
  })

  it('200 pages through everything once, the cursor alone carrying filters and limit', async () => {
    const seen = (await pagesFrom(list, 'to=71234&limit=7')).map(idsOf)
    expect(seen.map(({ length }) => length)).toEqual([7, 7, 7, 2])
    expect(seen.flat()).toEqual(idsWhere((n) => n % 2 === 0))
  })

  it('200 takes repeated filters that say the same, and another limit', async () => {
    const { nextCursor } = (await list('from=%2B15551230001&limit=5')).json.pagination
    const second = await list(`from=+15551230001&limit=3&cursor=${nextCursor}`)
    expect(second.json.pagination.limit).toBe(3)
    expect(idsOf(second)).toEqual(idsWhere((n) => n % 3 !== 2).slice(5, 8))
  })

  it('400 when repeated filters differ from those of the cursor', async () => {
    const { nextCursor } = (await list('to=71234&limit=5')).json.pagination
    expect(faultsOf(await list(`to=71235&cursor=${nextCursor}`))).toEqual(['to CURSOR_MISMATCH'])
    expect(faultsOf(await list(`keyword=Join&cursor=${nextCursor}`))).toEqual(['keyword CURSOR_MISMATCH'])
  })

  it('400 for a cursor of another plan, another tenant, or another list', async () => {
    const { nextCursor } = (await list('to=71234&limit=5')).json.pagination
    const second = `/v1/inbound/sms?servicePlanId=${PLAN_SECOND}&cursor=${nextCursor}`
    expect(faultsOf(await service.get(second))).toEqual(['cursor INVALID_CURSOR'])
    const tenant = `/v1/inbound/sms?servicePlanId=${PLAN_OTHER}&cursor=${nextCursor}`
    const authorization = `Bearer ${TOKEN_OTHER}`
    expect(faultsOf(await service.get(tenant, { authorization }))).toEqual(['cursor INVALID_CURSOR'])
    const messages = `/v1/messages/sms?servicePlanId=${PLAN}&cursor=${nextCursor}`
    expect(faultsOf(await service.get(messages))).toEqual(['cursor INVALID_CURSOR'])
    for (const _ of [1, 2]) expect((await service.send()).status).toBe(202)
    const outbound = await service.get(`/v1/messages/sms?servicePlanId=${PLAN}&status=QUEUED&limit=1`)
    const query = `cursor=${outbound.json.pagination.nextCursor}`
    expect(faultsOf(await list(query))).toEqual(['cursor INVALID_CURSOR'])
  })

  it.each([
    ['', ['request FILTER_REQUIRED']],
    ['limit=5&status=SENT', ['request FILTER_REQUIRED']],
    ['keyword=', ['keyword EMPTY']],
    ['keyword=two%20words', ['keyword INVALID_FORMAT']],
    ['keyword=%00', ['keyword INVALID_FORMAT']],
    ['keyword=A&keyword=A', ['keyword REPEATED']],
    ['keyword[]=A&to=71234', ['keyword REPEATED']],
    ['to[$ne]=71234', ['to REPEATED']],
    ['to=71234&limit=0', ['limit INVALID_FORMAT']],
    ['to=71234&limit=', ['limit EMPTY']],
    ['from=%00', ['from INVALID_FORMAT']],
    ['from=', ['from EMPTY']],
    ['to=Aldis', ['to INVALID_FORMAT']],
    ['to=12', ['to INVALID_FORMAT']],
    ['fromDate=2026-02-30T00:00:00Z', ['fromDate INVALID_FORMAT']],
    ['fromDate=2026-03-02', ['fromDate INVALID_FORMAT']],
    ['fromDate=2026-03-02T00:00:00Z&toDate=2026-03-01T00:00:00Z', ['fromDate INVALID_RANGE']],
    ['fromDate=2026-01-01T00:00:00Z&toDate=2026-02-01T00:00:00.001Z', ['toDate RANGE_TOO_LARGE']],
    ['cursor=abc', ['cursor INVALID_CURSOR']],
    [`cursor=${'A'.repeat(5_000)}`, ['cursor INVALID_CURSOR']],
  ])('400 to ?%s', async (query, faults) => {
    expect(faultsOf(await list(query))).toEqual(faults)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openCursor, sealCursor } from '../../../src/domain/lists.ts'
import { faultsOf } from '../../support/http-answers.ts'
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

const DAY_MS = 86_400_000
/** A minute apart, an inbound message after every two changes of status. */
const COUNT = 30
const START_MS = Date.now() - DAY_MS

let service: HttpService
const ids: string[] = []

beforeAll(async () => {
  service = await startHttpService()
  for (let n = 0; n < COUNT; n += 1) ids.push(await store(1, n % 3 === 2 ? 0 : 1, START_MS + n * 60_000))
  await store(6, 0, START_MS)
})
afterAll(() => service[Symbol.asyncDispose]())

async function store(planId: number, sequence: number, atMs: number, body = 'hello'): Promise<string> {
  const msgId = newId(atMs)
  await (sequence === 0
    ? service.db.query(
        `insert into inbound_messages (plan_id, msg_id, carrier_id, sender, recipient, body)
         values ($1, $2, 1, '+15551230001', '71234', $3)`,
        [planId, msgId, body],
      )
    : service.db.query(
        `insert into messages (plan_id, msg_id, status, sender, recipient, body, segments, updated_at)
         values ($1, $2, 'DELIVERED', 'Aldis', '+15551230001', $3, 1, now())`,
        [planId, msgId, body],
      ))
  await service.db.query(
    `with feed as (
       insert into feeds (plan_id, position) values ($1, 1)
       on conflict (plan_id) do update set position = feeds.position + 1 returning position
     )
     insert into events (plan_id, msg_id, sequence, position, status, occurred_at)
     select $1, $2, $3, position, $4, $5 from feed`,
    [planId, msgId, sequence, sequence === 0 ? null : 'SENT', new Date(atMs)],
  )
  return msgId
}

function feed(query: string, headers: Record<string, string> = {}, plan = PLAN): Promise<HttpAnswer> {
  return service.get(`/v1/events?servicePlanId=${plan}&${query}`, headers)
}

function idsOf(answer: HttpAnswer): string[] {
  expect(answer.status).toBe(200)
  return answer.json.items.map(({ data }: { data: { msgId: string } }) => data.msgId)
}

/** A cursor as the service seals them, changed. */
function resealed(cursor: string, change: (after: { position: string; atMs: number }) => object): string {
  const of = { list: 'feed' as const, planId: 1 }
  const opened = openCursor<object, { position: string; atMs: number }>(cursor, of, [service.cursorKey], 0)!
  return sealCursor({ ...opened, after: change(opened.after) }, service.cursorKey, Buffer.alloc(12, 1))
}

describe('GET /v1/events', () => {
  it('200 answers events as their webhooks tell them, oldest first', async () => {
    const { items, ...rest } = (await feed('limit=3')).json
    expect(rest).toEqual({ cursor: expect.any(String), hasMore: true, gap: false })
    expect(items).toHaveLength(3)
    expect(items[0]).toMatchObject({
      eventId: `${ids[0]}-1`,
      sequence: 1,
      type: 'deliveryReceipt',
      occurredAt: new Date(START_MS).toISOString(),
      data: {
        accountId: ACCOUNT,
        servicePlanId: PLAN,
        msgId: ids[0],
        status: 'SENT',
        direction: 'MT',
        body: 'hello',
      },
    })
    expect(items[2]).toEqual({
      eventId: `${ids[2]}-0`,
      sequence: 0,
      type: 'inboundMessage',
      occurredAt: new Date(START_MS + 120_000).toISOString(),
      data: {
        accountId: ACCOUNT,
        servicePlanId: PLAN,
        msgId: ids[2],
        channel: 'SMS',
        direction: 'MO',
        from: '+15551230001',
        to: '71234',
        body: 'hello',
        receivedAt: new Date(START_MS + 120_000).toISOString(),
      },
    })
  })

  it('200 goes on with the cursor, which carries the limit, to the end and beyond', async () => {
    const seen: string[][] = []
    let query = 'limit=12'
    let hasMore = true
    while (hasMore) {
      const answer = await feed(query)
      seen.push(idsOf(answer))
      hasMore = answer.json.hasMore
      query = `cursor=${answer.json.cursor}`
    }
    expect(seen).toEqual([ids.slice(0, 12), ids.slice(12, 24), ids.slice(24)])
    const empty = await feed(query)
    expect(empty.json).toMatchObject({ items: [], hasMore: false, gap: false })
    const msgId = await store(1, 0, Date.now())
    ids.push(msgId)
    const next = (cursor: string) => feed(`cursor=${cursor}`)
    expect(idsOf(await next(empty.json.cursor))).toEqual([msgId])
    // An older one serves as well: a cursor is not used up.
    expect(idsOf(await next(query.replace('cursor=', '')))).toEqual([msgId])
  })

  it('200 gives a hundred unless it is asked for another number, at most a thousand', async () => {
    expect((await feed('limit=5000')).status).toBe(200)
    expect(idsOf(await feed('limit=1'))).toEqual(ids.slice(0, 1))
    const { rows } = await service.db.query(
      `select string_agg(gen_random_uuid()::text, ',') as ids from generate_series(1, 1001)`,
    )
    await service.db.query(
      `with feed as (insert into feeds (plan_id, position) values (2, 1))
       insert into events (plan_id, msg_id, sequence, position, status, occurred_at)
       select 2, id::uuid, 1, 1, 'SENT', now() from unnest($1::text[]) id`,
      [rows[0].ids.split(',')],
    )
    await service.db.query(
      `insert into messages (plan_id, msg_id, status, sender, recipient, body, segments, updated_at)
       select plan_id, msg_id, 'SENT', 'Aldis', '+15551230001', 'x', 1, now() from events where plan_id = 2`,
    )
    expect(idsOf(await feed('', {}, PLAN_SECOND))).toHaveLength(100)
    const most = await feed('limit=1001', {}, PLAN_SECOND)
    expect([idsOf(most).length, most.json.hasMore]).toEqual([1000, true])
    const rest = await feed(`cursor=${most.json.cursor}`, {}, PLAN_SECOND)
    expect([idsOf(rest).length, rest.json.hasMore]).toEqual([1, false])
  })

  it('200 ends a page of long texts early, and goes on', async () => {
    const long = [0, 1, 2].map(() => store(3, 0, Date.now(), 'x'.repeat(800_000)))
    await Promise.all(long)
    const first = await feed('', {}, PLAN_INACTIVE)
    expect([first.json.items.length, first.json.hasMore]).toEqual([2, true])
    const rest = await feed(`cursor=${first.json.cursor}`, {}, PLAN_INACTIVE)
    expect(new Set([...idsOf(first), ...idsOf(rest)]).size).toBe(3)
    expect(rest.json.hasMore).toBe(false)
  })

  it('200 begins with `since`, which may be repeated beside the cursor', async () => {
    const since = `since=${new Date(START_MS + 10 * 60_000).toISOString()}`
    const first = await feed(`${since}&limit=5`)
    expect(idsOf(first)).toEqual(ids.slice(10, 15))
    expect(idsOf(await feed(`${since}&cursor=${first.json.cursor}&limit=1000`))).toEqual(ids.slice(15))
    const other = `since=${new Date(START_MS).toISOString()}&cursor=${first.json.cursor}`
    expect(faultsOf(await feed(other))).toEqual(['since CURSOR_MISMATCH'])
  })

  it('200 tells of a gap where the cursor, or since, is older than what is kept', async () => {
    const { cursor } = (await feed('limit=1')).json
    const aged = resealed(cursor, (after) => ({ ...after, atMs: Date.now() - 31 * DAY_MS }))
    const answer = await feed(`cursor=${aged}&limit=2`)
    expect([answer.json.gap, ...idsOf(answer)]).toEqual([true, ...ids.slice(1, 3)])
    expect((await feed(`cursor=${answer.json.cursor}`)).json.gap).toBe(false)
    expect((await feed('since=2020-01-01T00:00:00Z')).json.gap).toBe(true)
  })

  it('400 to a cursor from a later state of the database', async () => {
    const { cursor } = (await feed('limit=1')).json
    const later = resealed(cursor, (after) => ({ ...after, position: '9007199254740993' }))
    expect(faultsOf(await feed(`cursor=${later}`))).toEqual(['cursor INVALID_CURSOR'])
  })

  it('400 to a cursor of another plan, tenant or list', async () => {
    const { cursor } = (await feed('limit=1')).json
    expect(faultsOf(await feed(`cursor=${cursor}`, {}, PLAN_SECOND))).toEqual(['cursor INVALID_CURSOR'])
    const asOther = { authorization: `Bearer ${TOKEN_OTHER}` }
    expect(faultsOf(await feed(`cursor=${cursor}`, asOther, PLAN_OTHER))).toEqual(['cursor INVALID_CURSOR'])
    const list = await service.get(`/v1/inbound/sms?servicePlanId=${PLAN}&to=71234&limit=1`)
    expect(faultsOf(await feed(`cursor=${list.json.pagination.nextCursor}`))).toEqual([
      'cursor INVALID_CURSOR',
    ])
  })

  it.each([
    ['since=', ['since EMPTY']],
    ['since=yesterday', ['since INVALID_FORMAT']],
    ['since=2026-02-30T00:00:00Z', ['since INVALID_FORMAT']],
    ['since=2026-03-01T00:00:00Z&since=2026-03-01T00:00:00Z', ['since REPEATED']],
    ['since[]=2026-03-01T00:00:00Z', ['since REPEATED']],
    ['limit=0', ['limit INVALID_FORMAT']],
    ['limit=-1', ['limit INVALID_FORMAT']],
    ['limit=1.5', ['limit INVALID_FORMAT']],
    ['limit=', ['limit EMPTY']],
    ['limit=1&limit=2', ['limit REPEATED']],
    ['cursor=', ['cursor EMPTY']],
    ['cursor=abc', ['cursor INVALID_CURSOR']],
    ['cursor[$ne]=abc', ['cursor REPEATED']],
    [`cursor=${'A'.repeat(5_000)}`, ['cursor INVALID_CURSOR']],
    [`servicePlanId=${PLAN}`, ['servicePlanId REPEATED']],
  ])('400 to ?%s', async (query, faults) => {
    expect(faultsOf(await feed(query))).toEqual(faults)
  })

  it.each([
    ['', ['servicePlanId REQUIRED']],
    ['servicePlanId=1', ['servicePlanId INVALID_FORMAT']],
    ['servicePlanId=', ['servicePlanId EMPTY']],
  ])('400 to ?%s alone', async (query, faults) => {
    expect(faultsOf(await service.get(`/v1/events?${query}`))).toEqual(faults)
  })

  it('200 of the other tenant by its own token', async () => {
    const own = await feed('', { authorization: `Bearer ${TOKEN_OTHER}` }, PLAN_OTHER)
    expect(idsOf(own)).toHaveLength(1)
    expect(ids).not.toContain(idsOf(own)[0])
  })
})

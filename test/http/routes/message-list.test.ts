import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { messageId } from '../../../src/domain/identifiers.ts'
import { faultsOf, pagesFrom } from '../../support/http-answers.ts'
import {
  type HttpService,
  PLAN,
  PLAN_OTHER,
  PLAN_SECOND,
  startHttpService,
  TOKEN_OTHER,
} from '../../support/http-service.ts'
import { noteKindsOf } from '../../support/message-kinds.ts'
import type { HttpAnswer } from '../../support/raw-http.ts'

/** 45 messages, a minute apart: every third to another number, every fifth FAILED. */
const COUNT = 45
const START_MS = Date.parse('2026-03-01T12:00:00Z')
const MINUTE_MS = 60_000
const NUMBERS = ['+15551230001', '+15551230001', '+447400123456']

interface Stored {
  plan_id: number
  msg_id: string
  sender: string
  recipient: string
  status: string
  country: string
  mccmnc: string | null
}

let service: HttpService
const stored: Stored[] = Array.from({ length: COUNT }, (_, index) => ({
  plan_id: 1,
  msg_id: messageId(START_MS + index * MINUTE_MS, randomBytes(9), 7),
  sender: index % 2 === 0 ? '12345' : '+15550001111',
  recipient: NUMBERS[index % 3]!,
  status: index % 5 === 0 ? 'FAILED' : 'SENT',
  country: index % 3 === 2 ? 'GB' : 'US',
  mccmnc: index % 3 === 2 ? '23410' : null,
}))
const newestFirst = stored.map(({ msg_id }) => msg_id).reverse()

beforeAll(async () => {
  service = await startHttpService()
  const foreign = { ...stored[0]!, plan_id: 6, msg_id: messageId(START_MS, randomBytes(9), 7) }
  await insert([...stored, foreign])
})
afterAll(() => service[Symbol.asyncDispose]())

async function insert(rows: readonly Stored[], to: HttpService = service): Promise<void> {
  await to.db.query(
    `insert into messages (plan_id, msg_id, sender, recipient, status, country, mccmnc, segments, updated_at, body)
     select i.*, 1, now(), 'text' from json_to_recordset($1) as i (plan_id integer, msg_id uuid, sender text,
       recipient text, status message_status, country text, mccmnc text)`,
    [JSON.stringify(rows)],
  )
  await noteKindsOf(to.db, rows)
}

function list(query: string, headers: Record<string, string> = {}): Promise<HttpAnswer> {
  return service.get(`/v1/messages/sms?servicePlanId=${PLAN}&${query}`, headers)
}

function idsOf(answer: HttpAnswer): string[] {
  return answer.json.items.map(({ msgId }: { msgId: string }) => msgId)
}

function idsWhere(test: (message: Stored, index: number) => boolean): string[] {
  return stored
    .filter(test)
    .map(({ msg_id }) => msg_id)
    .reverse()
}

describe('GET /v1/messages/sms', () => {
  it('200 answers the newest twenty, and whether there are more', async () => {
    const answer = await list('fromDate=2026-01-01T00:00:00Z')
    expect(answer.status).toBe(200)
    expect(idsOf(answer)).toEqual(newestFirst.slice(0, 20))
    expect(answer.json.pagination).toEqual({ limit: 20, hasMore: true, nextCursor: expect.any(String) })
    expect(answer.json.items[0]).toMatchObject({ servicePlanId: PLAN, channel: 'SMS', direction: 'MT' })
  })

  it('200 with nothing found', async () => {
    const answer = await list('status=UNKNOWN')
    expect(answer.json).toEqual({ items: [], pagination: { limit: 20, hasMore: false, nextCursor: null } })
  })

  it.each([
    ['from=12345', (_: Stored, n: number) => n % 2 === 0],
    ['from=%2B15550001111', (_: Stored, n: number) => n % 2 === 1],
    ['from=+15550001111', (_: Stored, n: number) => n % 2 === 1],
    ['to=%2B447400123456', (_: Stored, n: number) => n % 3 === 2],
    ['to=+447400123456', (_: Stored, n: number) => n % 3 === 2],
    ['status=FAILED', (_: Stored, n: number) => n % 5 === 0],
    ['country=GB', (_: Stored, n: number) => n % 3 === 2],
    ['country=gb', (_: Stored, n: number) => n % 3 === 2],
    ['mccmnc=23410', (_: Stored, n: number) => n % 3 === 2],
    [
      'status=SENT&country=US&from=12345',
      (_: Stored, n: number) => n % 5 !== 0 && n % 3 !== 2 && n % 2 === 0,
    ],
    ['from=constructor', () => false],
  ])('200 filters by %s', async (query, test) => {
    expect(idsOf(await list(`${query}&limit=100`))).toEqual(idsWhere(test))
  })

  it('200 takes both ends of the window, to the millisecond, in any offset', async () => {
    const window = 'fromDate=2026-03-01T12:10:00Z&toDate=2026-03-01T14:20:00%2B02:00'
    expect(idsOf(await list(window))).toEqual(idsWhere((_, n) => n >= 10 && n <= 20))
    const inside = 'fromDate=2026-03-01T12:10:00.0001Z&toDate=2026-03-01T12:19:59.9999Z'
    expect(idsOf(await list(inside))).toEqual(idsWhere((_, n) => n > 10 && n < 20))
    expect(idsOf(await list('toDate=2026-03-01T12:00:00Z'))).toEqual(idsWhere((_, n) => n === 0))
    expect(idsOf(await list('toDate=1969-12-31T23:59:59Z'))).toEqual([])
  })

  it('200 caps limit at 100', async () => {
    const { json } = await list('toDate=2026-04-01T00:00:00Z&limit=1000')
    expect(json.pagination).toEqual({ limit: 100, hasMore: false, nextCursor: null })
    expect(json.items).toHaveLength(COUNT)
  })

  it('200 pages through everything once, the cursor alone carrying filters and limit', async () => {
    const pages = (await pagesFrom(list, 'toDate=2026-04-01T00:00:00Z&limit=7')).map(idsOf)
    expect(pages.map(({ length }) => length)).toEqual([7, 7, 7, 7, 7, 7, 3])
    expect(pages.flat()).toEqual(newestFirst)
    const filtered = (await pagesFrom(list, 'country=GB&limit=5')).map(idsOf)
    expect(filtered.map(({ length }) => length)).toEqual([5, 5, 5])
    expect(filtered.flat()).toEqual(idsWhere((_, n) => n % 3 === 2))
  })

  it('200 skips and repeats nothing while messages arrive', async () => {
    await using busy = await startHttpService()
    await insert(stored, busy)
    const get = (query: string) => busy.get(`/v1/messages/sms?servicePlanId=${PLAN}&${query}`)
    let answer = await get('from=12345&limit=4')
    const seen = idsOf(answer)
    while (answer.json.pagination.hasMore) {
      expect((await busy.send()).status).toBe(202)
      answer = await get(`cursor=${answer.json.pagination.nextCursor}`)
      seen.push(...idsOf(answer))
    }
    expect(seen).toEqual(idsWhere((_, n) => n % 2 === 0))
  })

  it('200 takes repeated filters that say the same, and another limit', async () => {
    const first = await list('to=%2B447400123456&fromDate=2026-03-01T12:00:00Z&limit=5')
    const { nextCursor } = first.json.pagination
    const repeated = `to=+447400123456&fromDate=2026-03-01T13:00:00%2B01:00&limit=3&cursor=${nextCursor}`
    const second = await list(repeated)
    expect(second.json.pagination.limit).toBe(3)
    expect(idsOf(second)).toEqual(idsWhere((_, n) => n % 3 === 2).slice(5, 8))
  })

  it('400 when repeated filters differ from those of the cursor', async () => {
    const { nextCursor } = (await list('country=US&limit=5')).json.pagination
    expect(faultsOf(await list(`country=GB&cursor=${nextCursor}`))).toEqual(['country CURSOR_MISMATCH'])
    expect(faultsOf(await list(`status=SENT&cursor=${nextCursor}`))).toEqual(['status CURSOR_MISMATCH'])
  })

  it('400 for a cursor of another plan or of another tenant', async () => {
    const { nextCursor } = (await list('country=US&limit=5')).json.pagination
    const second = `/v1/messages/sms?servicePlanId=${PLAN_SECOND}&cursor=${nextCursor}`
    expect(faultsOf(await service.get(second))).toEqual(['cursor INVALID_CURSOR'])
    const tenant = `/v1/messages/sms?servicePlanId=${PLAN_OTHER}&cursor=${nextCursor}`
    const answer = await service.get(tenant, { authorization: `Bearer ${TOKEN_OTHER}` })
    expect(faultsOf(answer)).toEqual(['cursor INVALID_CURSOR'])
  })

  it('400 when the cursor is older than a day', async () => {
    let nowMs = Date.now()
    await using later = await startHttpService({ database: service.database, clock: () => nowMs })
    const path = `/v1/messages/sms?servicePlanId=${PLAN}`
    const { nextCursor } = (await later.get(`${path}&status=SENT&limit=1`)).json.pagination
    nowMs += 24 * 3_600_000 - 1
    expect((await later.get(`${path}&cursor=${nextCursor}`)).status).toBe(200)
    nowMs += 1
    expect(faultsOf(await later.get(`${path}&cursor=${nextCursor}`))).toEqual(['cursor INVALID_CURSOR'])
  })

  it('200 opens cursors sealed with the key before the last rotation', async () => {
    const { nextCursor } = (await list('status=SENT&limit=1')).json.pagination
    const keys = { cursor: randomBytes(32), oldCursors: [randomBytes(32), service.cursorKey] }
    await using rotated = await startHttpService({ database: service.database, cursorKeys: keys })
    const path = `/v1/messages/sms?servicePlanId=${PLAN}&cursor=${nextCursor}`
    expect((await rotated.get(path)).status).toBe(200)
  })

  it.each([
    ['', ['request FILTER_REQUIRED']],
    ['limit=5', ['request FILTER_REQUIRED']],
    ['status=sent', ['status INVALID_FORMAT']],
    ['status=', ['status EMPTY']],
    ['status=SENT&status=SENT', ['status REPEATED']],
    ['status[]=SENT&to=%2B15551230001', ['status REPEATED']],
    ['status=SENT&limit=0', ['limit INVALID_FORMAT']],
    ['status=SENT&limit=-1', ['limit INVALID_FORMAT']],
    ['status=SENT&limit=1e2', ['limit INVALID_FORMAT']],
    ['status=SENT&limit=', ['limit EMPTY']],
    ['from=_', ['from INVALID_FORMAT']],
    ['to=12345', ['to INVALID_FORMAT']],
    ['country=USA&mccmnc=1', ['country INVALID_FORMAT', 'mccmnc INVALID_FORMAT']],
    ['fromDate=2026-02-30T00:00:00Z', ['fromDate INVALID_FORMAT']],
    ['fromDate=2026-03-02T00:00:00Z&toDate=2026-03-01T00:00:00Z', ['fromDate INVALID_RANGE']],
    ['fromDate=2026-01-01T00:00:00Z&toDate=2026-02-01T00:00:00.001Z', ['toDate RANGE_TOO_LARGE']],
    ['cursor=abc', ['cursor INVALID_CURSOR']],
    [`cursor=${'A'.repeat(5_000)}`, ['cursor INVALID_CURSOR']],
  ])('400 to ?%s', async (query, faults) => {
    expect(faultsOf(await list(query))).toEqual(faults)
  })

  it('500 when the search takes longer than the database allows', async () => {
    await using slow = await startHttpService({ database: service.database, statementTimeoutMs: 100 })
    const blocker = await slow.db.connect()
    await blocker.query('begin')
    await blocker.query('lock table messages in access exclusive mode')
    const answer = await slow.get(`/v1/messages/sms?servicePlanId=${PLAN}&to=%2B15551230000`)
    expect([answer.status, answer.json.errorCode]).toEqual([500, 'INTERNAL_ERROR'])
    await blocker.query('rollback')
    blocker.release()
  })
})

describe('GET /v1/messages/sms/counts', () => {
  const count = (query: string) => service.get(`/v1/messages/sms/counts?servicePlanId=${PLAN}&${query}`)

  it('200 counts by status what matches', async () => {
    const { json } = await count('country=US')
    const of = (status: string) =>
      stored.filter((one) => one.country === 'US' && one.status === status).length
    const counts = { QUEUED: 0, SENT: of('SENT'), DELIVERED: 0, FAILED: of('FAILED'), UNKNOWN: 0 }
    expect(json).toEqual({ counted: 30, hasMore: false, counts })
  })

  it('200 counts the newest 1,000, and says that there are more', async () => {
    await using busy = await startHttpService()
    const many = Array.from({ length: 1_001 }, (_, n) => ({
      ...stored[0]!,
      status: n === 0 ? 'FAILED' : 'SENT',
      msg_id: messageId(START_MS + n, randomBytes(9), 7),
    }))
    await insert(many, busy)
    expect((await busy.send()).status).toBe(202)
    const get = (query: string) => busy.get(`/v1/messages/sms/counts?servicePlanId=${PLAN}&${query}`)
    const { json } = await get('fromDate=2026-01-01T00:00:00Z')
    expect(json).toMatchObject({ counted: 1_000, hasMore: true, counts: { QUEUED: 1, SENT: 999, FAILED: 0 } })
    expect((await get('status=SENT')).json).toMatchObject({ counted: 1_000, hasMore: false })
  })

  it.each([
    ['', 'request FILTER_REQUIRED'],
    ['status=NONE', 'status INVALID_FORMAT'],
  ])('400 to ?%s', async (query, code) => {
    const answer = await count(query)
    expect(faultsOf(answer)).toEqual([code])
  })

  it('403 for a plan of somebody else', async () => {
    const headers = { authorization: `Bearer ${TOKEN_OTHER}` }
    const path = `/v1/messages/sms/counts?servicePlanId=${PLAN}&status=SENT`
    expect((await service.get(path, headers)).status).toBe(403)
  })
})

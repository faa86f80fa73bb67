import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ListName, sealCursor } from '../../src/domain/lists.ts'
import {
  ALL_INPUTS,
  BAD_BYTES,
  BAD_INPUTS,
  BAD_SCENARIOS,
  BAD_TRANSPORTS,
  type BadInput,
  bodyOf,
  FIXED_VALUES,
  fill,
  sentenceOf,
} from '../support/bad-inputs.ts'
import {
  type HttpService,
  PLAN,
  PLAN_OTHER,
  PLAN_SECOND,
  SENDER,
  startHttpService,
  TOKEN,
  TOKEN_OTHER,
} from '../support/http-service.ts'
import { newId } from '../support/installation.ts'
import { exchange, exchangeInTurn, type HttpAnswer, requestBytes } from '../support/raw-http.ts'
import { storeEvent } from '../support/stored-events.ts'

/** What those of the message list say of parameters that both lists have holds for the list of inbound messages. */
const INBOUND_INPUTS = BAD_INPUTS.filter(
  ({ request, expect: wanted }) =>
    /^\/v1\/messages\/sms(?=[?#]|$)/.test(request.path) &&
    !/(mccmnc|country|from|to)(\[.*?\])?=|status=(?!SENT(&|$))|st%61tus/.test(request.path) &&
    wanted.errorsFields?.includes('status') !== true,
).map((badInput) => withPath(badInput, '/v1/inbound/sms', 'keyword=SENT'))

/** And for the list of events, but that it needs no filter. */
const EVENT_INPUTS = INBOUND_INPUTS.filter(
  ({ request, expect: wanted }) =>
    wanted.errorsFields?.includes('request') !== true && !request.path.endsWith('?servicePlanId={{PLAN}}'),
).map((badInput) => withPath(badInput, '/v1/webhooks/events', 'state=failed'))

/** The same of another list, by a filter that it has. */
function withPath(badInput: BadInput, list: string, filter: string): BadInput {
  const path = badInput.request.path
    .replace(/^\/v1\/[a-z]+\/[a-z]+/, list)
    .replace(/status=SENT|keyword=SENT/, filter)
  return { ...badInput, request: { ...badInput.request, path } }
}

/** One of each verdict that there is: those of its kind differ in what only the common reading of queries sees. */
function ofEachVerdict(cases: readonly BadInput[]): BadInput[] {
  const verdict = ({ area, request: { method }, expect: { status, errorCode, errorsFields } }: BadInput) =>
    JSON.stringify([area, method, status, errorCode, errorsFields])
  return [...Map.groupBy(cases, verdict).values()].map(([first]) => first!)
}

let service: HttpService
let values: ReadonlyMap<string, string>
let inboundValues: ReadonlyMap<string, string>
let eventValues: ReadonlyMap<string, string>

beforeAll(async () => {
  // The cases themselves are a flood of reads.
  service = await startHttpService({ limits: { reads: { perSecond: 10_000, burst: 10_000 } } })
  const asOther = { authorization: `Bearer ${TOKEN_OTHER}` }
  const mine = await service.send()
  const other = await service.send({ servicePlanId: PLAN_OTHER }, asOther)
  values = new Map([
    ...FIXED_VALUES,
    ['MSGID', mine.json.msgId],
    ['MSGID_UPPER', mine.json.msgId.toUpperCase()],
    ['MSGID_BARE', mine.json.msgId.replaceAll('-', '')],
    ['MSGID_OTHER', other.json.msgId],
    ...(await cursors('messages', cursorOf)),
  ])
  inboundValues = new Map([...values, ...(await cursors('inbound-messages', inboundCursorOf))])
  eventValues = new Map([...values, ...(await cursors('events', eventCursorOf))])
})
afterAll(() => service[Symbol.asyncDispose]())

type CursorOf = (servicePlanId: string, headers?: Record<string, string>) => Promise<string>

/** A cursor of a list, and what is none. */
async function cursors(list: ListName, of: CursorOf): Promise<[string, string][]> {
  const cursor = await of(PLAN)
  const nothing = Buffer.alloc(Buffer.from(cursor, 'base64url').length)
  return [
    ['CURSOR', cursor],
    ['CURSOR_CUT', cursor.slice(0, -1)],
    ['CURSOR_UPPER', cursor.toUpperCase()],
    ['CURSOR_REVERSED', [...cursor].reverse().join('')],
    ['CURSOR_FLIP_1_BIT', flipBit(cursor, 200)],
    ['CURSOR_SECOND_PLAN', await of(PLAN_SECOND)],
    ['CURSOR_OTHER_TENANT', await of(PLAN_OTHER, { authorization: `Bearer ${TOKEN_OTHER}` })],
    ['CURSOR_EMPTY_FORGED', nothing.toString('base64url')],
    ['CURSOR_EXPIRED', forged(list, service.cursorKey, Date.now() - 1)],
    ['CURSOR_FOREIGN_KEY', forged(list, randomBytes(32), Date.now() + 60_000)],
  ]
}

/** The second page of a plan's list, one message a page. */
async function cursorOf(servicePlanId: string, headers: Record<string, string> = {}): Promise<string> {
  await service.send({ servicePlanId }, headers)
  await service.send({ servicePlanId }, headers)
  const path = `/v1/messages/sms?servicePlanId=${servicePlanId}&status=QUEUED&limit=1`
  return (await service.get(path, headers)).json.pagination.nextCursor
}

/** The same of its inbound messages. */
async function inboundCursorOf(servicePlanId: string, headers: Record<string, string> = {}): Promise<string> {
  await service.db.query(
    `insert into inbound_messages (plan_id, msg_id, carrier_id, sender, recipient, body)
     select $1, unnest($2::uuid[]), 1, '+15551230001', '71234', 'hello'`,
    [
      { [PLAN]: 1, [PLAN_SECOND]: 2, [PLAN_OTHER]: 6 }[servicePlanId],
      [0, 1].map((bucket) => newId(Date.now(), bucket)),
    ],
  )
  const path = `/v1/inbound/sms?servicePlanId=${servicePlanId}&to=71234&limit=1`
  return (await service.get(path, headers)).json.pagination.nextCursor
}

/** The same of its events. */
async function eventCursorOf(servicePlanId: string, headers: Record<string, string> = {}): Promise<string> {
  const planId = { [PLAN]: 1, [PLAN_SECOND]: 2, [PLAN_OTHER]: 6 }[servicePlanId]!
  for (const _ of [1, 2]) await storeEvent(service.db, { planId, state: 'failed', attempts: 1 })
  const path = `/v1/webhooks/events?servicePlanId=${servicePlanId}&state=failed&limit=1`
  return (await service.get(path, headers)).json.pagination.nextCursor
}

/** Messages that were stored up to the case, and those that the case was answered to be. */
let storedBefore: number
let accepted = 0

function countAccepted(answers: readonly HttpAnswer[]): void {
  accepted += answers.filter(
    ({ status, headers }) => status === 202 && !headers.has('idempotent-replayed'),
  ).length
}

async function answerTo({ request }: Pick<BadInput, 'request'>, from = values): Promise<HttpAnswer> {
  const headers = Object.fromEntries(
    Object.entries(request.headers ?? {}).map(([name, value]) => [name, fill(value, values)]),
  )
  const { method, path } = request
  const answer = await exchange(
    service.port,
    requestBytes({ method, path: fill(path, from), headers, body: bodyOf(request, values) }),
  )
  if (answer === null) throw new Error('closed without an answer')
  countAccepted([answer])
  return answer
}

/** The answer on a connection whose one request so far was a plain send: after it the short way is taken. */
async function answerBehindSends({ request }: BadInput): Promise<HttpAnswer> {
  const { method, path } = request
  const kept = { connection: 'keep-alive' }
  const headers = Object.entries(request.headers ?? {}).map(([name, value]) => [name, fill(value, values)])
  const send = requestBytes({
    method: 'POST',
    path,
    headers: { ...kept, 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({
      servicePlanId: PLAN,
      channel: 'SMS',
      from: SENDER,
      to: '+15551230001',
      body: 'hello',
    }),
  })
  const asked = requestBytes({
    method,
    path,
    headers: { ...kept, ...Object.fromEntries(headers) },
    body: bodyOf(request, values),
  })
  const answers = await exchangeInTurn(service.port, [send, asked])
  countAccepted(answers)
  const [first, answer] = answers
  expect(first!.status).toBe(202)
  return answer!
}

/** What two answers to the same request have in common. */
function likeness({ status, headers, text, json }: HttpAnswer): unknown {
  const own = [json?.requestId, json?.msgId, json?.createdAt].filter((value) => value !== undefined)
  const body = own.reduce((rest: string, value: string) => rest.replaceAll(value, ''), text)
  const varying = ['connection', 'keep-alive', 'content-length', 'idempotent-replayed']
  const names = [...headers.keys()].filter((name) => !varying.includes(name))
  return { status, names, body }
}

function expectAnswer(answer: HttpAnswer, { request, expect: wanted }: BadInput): void {
  expect(wanted.status).toContain(answer.status)
  if (request.method === 'HEAD') return
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  if (answer.status < 400) return
  expect(answer.json.errorCode).toMatch(/^[A-Z_]+$/)
  expect(answer.json.requestId).toBe(answer.headers.get('x-request-id'))
  if (wanted.errorCode !== undefined) expect(answer.json.errorCode).toBe(wanted.errorCode)
  if (wanted.errorsFields === undefined) return
  const fields = new Set(answer.json.errors.map((fault: { field: string }) => fault.field))
  expect([...fields]).toEqual(wanted.errorsFields)
}

describe('a client that sends', () => {
  beforeAll(async () => {
    storedBefore = await service.storedMessages()
  })
  afterEach(async () => {
    const stored = await service.storedMessages()
    const [since, wanted] = [stored - storedBefore, accepted]
    storedBefore = stored
    accepted = 0
    expect(since, 'messages stored').toBe(wanted)
  })

  for (const badInput of BAD_INPUTS)
    it(sentenceOf(badInput), async () => {
      const answer = await answerTo(badInput)
      expectAnswer(answer, badInput)
      const invariant = INVARIANTS[badInput.id] ?? INVARIANTS[badInput.expect.invariant ?? '']
      await invariant?.(answer, badInput)
      const { method, path } = badInput.request
      if (path === '/v1/sendsms' && method !== 'HEAD')
        expect(likeness(await answerBehindSends(badInput))).toEqual(likeness(answer))
      if (badInput.area === 'unicode' && answer.status === 202) await keepsBody(answer, badInput)
      if (badInput.area === 'query' && answer.status === 200) expect(foreignRows(answer)).toEqual([])
    })
})

describe.each([
  ['inbound messages', INBOUND_INPUTS, () => inboundValues, 15],
  ['events', EVENT_INPUTS, () => eventValues, 10],
] as const)('the list of %s answers as that of messages', (_list, inputs, fillings, atLeast) => {
  const cases = ofEachVerdict(inputs)
  it('there is a case of each verdict', () => expect(cases.length).toBeGreaterThan(atLeast))

  for (const badInput of cases)
    it(sentenceOf(badInput), async () => {
      const answer = await answerTo(badInput, fillings())
      expectAnswer(answer, badInput)
      if (answer.status === 200) expect(foreignRows(answer)).toEqual([])
    })
})

it('every case of the vectors is run once, here or in bad-bytes.test.ts or request-records.test.ts', () => {
  const run = [...BAD_INPUTS, ...BAD_BYTES, ...BAD_TRANSPORTS, ...BAD_SCENARIOS].map(({ id }) => id)
  expect(run.sort()).toEqual(ALL_INPUTS.map(({ id }) => id).sort())
  expect(new Set(run).size).toBe(run.length)
})

/** What single cases ask for beyond their status, by id, or by the words of their invariant. */
const INVARIANTS: Record<string, (answer: HttpAnswer, badInput: BadInput) => Promise<void>> = {
  B029: (answer) => isAnsweredAlike(answer, `/v1/messages/sms/${UNKNOWN_ID}?servicePlanId=${PLAN}`),
  B030: (answer) => isAnsweredAlike(answer, `/v1/messages/sms/${UNKNOWN_ID}?servicePlanId=${UNKNOWN_PLAN}`),
  B033: (answer) => isAnsweredAlike(answer, `/v1/messages/sms/${UNKNOWN_ID}?servicePlanId=${PLAN_OTHER}`),
  B036: (answer) => isAnsweredAlike(answer, `/v1/messages/${UNKNOWN_ID}?servicePlanId=${PLAN}`),
  B038: async (answer) => {
    expect(anonymous(answer)).toBe(anonymous(await service.send({ servicePlanId: UNKNOWN_PLAN })))
  },
  B145: async (answer) => {
    const fields = answer.json.errors.map((fault: { field: string }) => fault.field).sort()
    expect(fields).toEqual(['body', 'channel', 'from', 'servicePlanId', 'to'])
  },
  B159: async (answer) => expect(answer.json.to).toBe('+15559999999'),
  B171: isStillValidated,
  B173: isStillValidated,
  B280: async (_answer, badInput) => {
    const cursor = values.get('CURSOR')!
    const bits = Buffer.from(cursor, 'base64url').length * 8
    for (let n = 0; n < 64; n += 1) {
      const flipped = flipBit(cursor, randomBytes(4).readUInt32BE() % bits)
      const path = `/v1/messages/sms?servicePlanId=${PLAN}&cursor=${flipped}`
      expectAnswer(await service.get(path), badInput)
    }
  },
  'every field is named': async (answer) => {
    const fields = answer.json.errors.map((fault: { field: string }) => fault.field).sort()
    expect(fields).toEqual(['body', 'callbackUrl', 'channel', 'from', 'servicePlanId', 'to'])
  },
  'msgId and status are ours': async (answer) => {
    expect(answer.json).toMatchObject({ status: 'QUEUED', price: null })
    expect(answer.json.msgId).not.toBe(values.get('MSGID_OTHER'))
  },
  'limit at most 100': async (answer) => {
    expect(answer.json.pagination.limit).toBeGreaterThanOrEqual(1)
    expect(answer.json.pagination.limit).toBeLessThanOrEqual(100)
  },
  'the same page': async (answer, { request }) => {
    expect((await answerTo({ request })).json.items).toEqual(answer.json.items)
    expect(answer.json.items).toHaveLength(1)
  },
  'no access-control header': async (answer) => {
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  },
}

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'
const UNKNOWN_PLAN = 'f'.repeat(24)

async function isAnsweredAlike(answer: HttpAnswer, path: string): Promise<void> {
  expect(anonymous(answer)).toBe(anonymous(await service.get(path)))
}

/** The whole body but for the id that every request has of its own. */
function anonymous(answer: HttpAnswer): string {
  return `${answer.status} ${answer.text.replace(answer.json.requestId, '')}`
}

async function isStillValidated(_answer: HttpAnswer, { request }: BadInput): Promise<void> {
  const answer = await answerTo({ request: { ...request, body: { to: 'bypass' } } })
  expect(answer.status).toBe(400)
}

async function keepsBody(answer: HttpAnswer, { request }: BadInput): Promise<void> {
  const { body } = JSON.parse(bodyOf(request, values) as string) as { body: string }
  const record = await service.get(`/v1/messages/sms/${answer.json.msgId}?servicePlanId=${PLAN}`)
  expect(record.json.body).toBe(body)
  expect(record.headers.get('x-content-type-options')).toBe('nosniff')
}

function foreignRows(answer: HttpAnswer): unknown[] {
  return answer.json.items.filter((item: { servicePlanId: string }) => item.servicePlanId !== PLAN)
}

function flipBit(cursor: string, bit: number): string {
  const bytes = Buffer.from(cursor, 'base64url')
  bytes[bit >> 3]! ^= 1 << (bit & 7)
  return bytes.toString('base64url')
}

function forged(list: ListName, key: Uint8Array, expiresAtMs: number): string {
  const cursor = { list, planId: 1, filters: {}, limit: 20, after: UNKNOWN_ID, expiresAtMs }
  return sealCursor(cursor, key, randomBytes(12))
}

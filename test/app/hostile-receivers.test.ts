import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Behaviour,
  closeUnanswered,
  dripBody,
  dripHead,
  flap,
  flapByTime,
  garbage,
  hang,
  huge,
  inTurn,
  ok,
  redirect,
  resetAfterHead,
  resetUnanswered,
  status,
  tooMany,
} from '../support/hostile-behaviours.ts'
import type { Welcome } from '../support/hostile-receiver.ts'
import {
  expectAllInOrder,
  type HostileService,
  startHostileService,
  TIMEOUT_MS,
} from '../support/hostile-service.ts'
import { eventually } from '../support/service.ts'

const MESSAGES = 12
const INBOUND = 3
const MEBIBYTE = 2 ** 20

let hostile: HostileService

beforeAll(async () => {
  hostile = await startHostileService()
})

afterAll(() => hostile[Symbol.asyncDispose]())

/** Messages and inbound messages come while the receiver is as it is; gives their ids once each has been tried. */
async function traffic(): Promise<{ sent: string[]; received: string[] }> {
  const [sent, received] = await Promise.all([hostile.send(MESSAGES), hostile.receive(INBOUND)])
  await eventually(async () => {
    const tried = await hostile.attempts([...sent, ...received])
    return new Set(tried.map(({ msgId }) => msgId)).size === MESSAGES + INBOUND
  })
  return { sent, received }
}

async function recover({ sent, received }: { sent: string[]; received: string[] }): Promise<void> {
  hostile.receiver.behave(ok)
  hostile.receiver.welcome('at-once')
  await hostile.untilDelivered([...sent, ...received])
  expectAllInOrder(hostile, sent, [1, 2])
  expectAllInOrder(hostile, received, [0])
}

describe('what fails is tried again, and arrives once the receiver is healthy', () => {
  const cases: readonly [string, Behaviour, { status: number | null; error: string }][] = [
    ['500', status(500), { status: 500, error: 'HTTP_STATUS' }],
    ['302', redirect('https://127.0.0.1/elsewhere'), { status: 302, error: 'REDIRECT' }],
    ['429', tooMany(7), { status: 429, error: 'HTTP_STATUS' }],
    ['no answer', hang, { status: null, error: 'RESPONSE_TIMEOUT' }],
    ['the connection ended unanswered', closeUnanswered, { status: null, error: 'CONNECTION_RESET' }],
    ['the connection reset unanswered', resetUnanswered, { status: null, error: 'CONNECTION_RESET' }],
    ['500, reset after the head', resetAfterHead(500), { status: 500, error: 'HTTP_STATUS' }],
    ['a head that never ends', dripHead(100), { status: null, error: 'RESPONSE_TIMEOUT' }],
    ['500, its body in drips', dripBody(500, 100), { status: 500, error: 'HTTP_STATUS' }],
    ['500 and 1 GiB', huge('content-length', 500), { status: 500, error: 'HTTP_STATUS' }],
    ['no HTTP', garbage, { status: null, error: 'PROTOCOL_ERROR' }],
  ]
  test.each(cases)('%s', async (_name, behaviour, outcome) => {
    hostile.receiver.behave(behaviour)
    const ids = await traffic()
    const first = (await hostile.attempts([...ids.sent, ...ids.received])).filter(
      ({ attempt }) => attempt === 1,
    )
    expect(first).toHaveLength(MESSAGES + INBOUND)
    for (const attempt of first) expect(attempt).toMatchObject(outcome)
    if (outcome.error === 'RESPONSE_TIMEOUT')
      expect(Math.min(...first.map(({ latencyMs }) => latencyMs))).toBeGreaterThanOrEqual(TIMEOUT_MS - 1)
    await recover(ids)
  })

  const welcomes: readonly [string, Welcome, string][] = [
    ['a connection ended before it is secured', 'close', 'TLS_HANDSHAKE'],
    ['a connection reset before it is secured', 'reset', 'TLS_HANDSHAKE'],
    // The last: what is never read is never seen to end.
    ['a connection taken and never secured', 'never', 'CONNECT_TIMEOUT'],
  ]
  test.each(welcomes)('%s', async (_name, welcome, error) => {
    // Those that were kept would carry requests yet.
    await eventually(() => hostile.receiver.open === 0)
    hostile.receiver.welcome(welcome)
    const ids = await traffic()
    const first = (await hostile.attempts([...ids.sent, ...ids.received])).filter(
      ({ attempt }) => attempt === 1,
    )
    for (const attempt of first) expect(attempt).toMatchObject({ status: null, error })
    await recover(ids)
  })

  test('429: not before its Retry-After, and that within what the schedule allows', async () => {
    hostile.receiver.behave(tooMany(7))
    const [msgId] = await hostile.send(1)
    await eventually(async () => (await hostile.attempts([msgId!])).length === 1)
    const { rows } = await hostile.service.db.query(
      `select extract(epoch from d.due_at - a.attempted_at)::float as seconds
       from event_deliveries d join webhook_attempts a using (msg_id, seq) where msg_id = $1`,
      [msgId],
    )
    expect(rows[0].seconds).toBeGreaterThanOrEqual(7)
    hostile.receiver.behave(ok)
    await hostile.untilDelivered([msgId!])
  })
})

describe('2xx counts, whatever comes after it', () => {
  const cases: readonly [string, Behaviour, number | null][] = [
    ['reset after the head', resetAfterHead(200), null],
    ['a body in drips', dripBody(200, 100), null],
    ['1 GiB', huge('content-length'), 1_024],
    ['1 GiB in chunks', huge('chunked'), 1_024],
  ]
  test.each(cases)('%s', async (_name, behaviour, headBytes) => {
    hostile.receiver.behave(behaviour)
    const ids = await traffic()
    await hostile.untilDelivered([...ids.sent, ...ids.received])
    const attempts = await hostile.attempts([...ids.sent, ...ids.received])
    expect(attempts).toHaveLength(2 * MESSAGES + INBOUND)
    for (const { status, error, attempt, head } of attempts) {
      expect({ status, error, attempt }).toEqual({ status: 200, error: null, attempt: 1 })
      if (headBytes !== null) expect(head).toHaveLength(headBytes)
    }
    await recover(ids)
    const answered = [...ids.sent, ...ids.received].flatMap((msgId) => hostile.requestsOf(msgId))
    expect(Math.max(...answered.map(({ answeredBytes }) => answeredBytes))).toBeLessThan(16 * MEBIBYTE)
  })
})

describe('a receiver that comes and goes', () => {
  const cases: readonly [string, Behaviour][] = [
    ['two of three fail', flap(2, 3)],
    ['down and up again', flapByTime(1_000, 1_000, closeUnanswered)],
    [
      'something else each time',
      inTurn(hang, status(500), ok, resetUnanswered, garbage, ok, tooMany(1), resetAfterHead(500)),
    ],
  ]
  test.each(cases)('%s: everything arrives all the same', async (_name, behaviour) => {
    hostile.receiver.behave(behaviour)
    const ids = await traffic()
    await hostile.untilDelivered([...ids.sent, ...ids.received])
    await recover(ids)
  })
})

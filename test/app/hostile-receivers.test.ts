import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AppOptions } from '../../src/app.ts'
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
import { expectAllInOrder, type HostileService, startHostileService } from '../support/hostile-service.ts'
import { eventually } from '../support/service.ts'

const MESSAGES = 12
const INBOUND = 3
const MEBIBYTE = 2 ** 20
/** Of an attempt, where the receiver hangs. */
const TIMEOUT_MS = 2_000

let hostile: HostileService

/** For the tests of one `describe`. */
function startedWith(app: Partial<AppOptions>): void {
  beforeAll(async () => {
    hostile = await startHostileService({ app })
  })
  afterAll(() => hostile[Symbol.asyncDispose]())
}

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

/** Each first attempt ends so; once the receiver is healthy everything arrives. */
async function expectTriedAgain(outcome: { status: number | null; error: string }): Promise<void> {
  const ids = await traffic()
  const tried = await hostile.attempts([...ids.sent, ...ids.received])
  const first = tried.filter(({ attempt }) => attempt === 1)
  expect(first).toHaveLength(MESSAGES + INBOUND)
  for (const attempt of first) expect(attempt).toMatchObject(outcome)
  await recover(ids)
}

/** The first attempt delivers each event. */
async function expectDelivered(headLength: number | null): Promise<void> {
  const ids = await traffic()
  const all = [...ids.sent, ...ids.received]
  await hostile.untilDelivered(all)
  const attempts = await hostile.attempts(all)
  expect(attempts).toHaveLength(2 * MESSAGES + INBOUND)
  for (const { status, error, attempt, head } of attempts) {
    expect({ status, error, attempt }).toEqual({ status: 200, error: null, attempt: 1 })
    if (headLength !== null) expect(head).toHaveLength(headLength)
  }
  await recover(ids)
  const octets = all.flatMap((msgId) => hostile.requestsOf(msgId)).map(({ answeredBytes }) => answeredBytes)
  expect(Math.max(...octets)).toBeLessThan(16 * MEBIBYTE)
}

async function expectAllInTheEnd(behaviour: Behaviour): Promise<void> {
  hostile.receiver.behave(behaviour)
  const ids = await traffic()
  await hostile.untilDelivered([...ids.sent, ...ids.received])
  await recover(ids)
}

describe('a receiver that answers, or ends the connection', () => {
  startedWith({ webhookTimeoutMs: 15_000 })

  const failing: readonly [string, Behaviour, { status: number | null; error: string }][] = [
    ['500', status(500), { status: 500, error: 'HTTP_STATUS' }],
    ['302', redirect('https://127.0.0.1/elsewhere'), { status: 302, error: 'REDIRECT' }],
    ['429', tooMany(7), { status: 429, error: 'HTTP_STATUS' }],
    ['the connection ended unanswered', closeUnanswered, { status: null, error: 'CONNECTION_RESET' }],
    ['the connection reset unanswered', resetUnanswered, { status: null, error: 'CONNECTION_RESET' }],
    ['500, reset after the head', resetAfterHead(500), { status: 500, error: 'HTTP_STATUS' }],
    ['500 and 1 GiB', huge('content-length', 500), { status: 500, error: 'HTTP_STATUS' }],
    ['no HTTP', garbage, { status: null, error: 'PROTOCOL_ERROR' }],
  ]
  test.each(failing)('%s: tried again', async (_name, behaviour, outcome) => {
    hostile.receiver.behave(behaviour)
    await expectTriedAgain(outcome)
  })

  test.each(['close', 'reset'] as const)(
    '%s before the connection is secured: tried again',
    async (welcome) => {
      // Those that were kept would carry requests yet.
      await eventually(() => hostile.receiver.open === 0)
      hostile.receiver.welcome(welcome)
      await expectTriedAgain({ status: null, error: 'TLS_HANDSHAKE' })
    },
  )

  test('429: not before its Retry-After, as far as the schedule allows', async () => {
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

  const delivering: readonly [string, Behaviour, number | null][] = [
    ['reset after the head', resetAfterHead(200), null],
    ['1 GiB', huge('content-length'), 1_024],
    ['1 GiB in chunks', huge('chunked'), 1_024],
  ]
  test.each(delivering)('2xx, then %s: delivered', async (_name, behaviour, headLength) => {
    hostile.receiver.behave(behaviour)
    await expectDelivered(headLength)
  })

  const changing: readonly [string, Behaviour][] = [
    ['two of three fail', flap(2, 3)],
    ['down and up again', flapByTime(1_000, 1_000, closeUnanswered)],
  ]
  test.each(changing)('%s: everything arrives', (_name, behaviour) => expectAllInTheEnd(behaviour))
})

describe('a receiver that hangs', () => {
  startedWith({ webhookTimeoutMs: TIMEOUT_MS })

  const failing: readonly [string, Behaviour, { status: number | null; error: string }][] = [
    ['no answer', hang, { status: null, error: 'RESPONSE_TIMEOUT' }],
    ['a head that never ends', dripHead(100), { status: null, error: 'RESPONSE_TIMEOUT' }],
    ['500, its body in drips', dripBody(500, 100), { status: 500, error: 'HTTP_STATUS' }],
  ]
  test.each(failing)('%s: tried again', async (_name, behaviour, outcome) => {
    hostile.receiver.behave(behaviour)
    await expectTriedAgain(outcome)
  })

  test('2xx, then a body in drips: delivered', async () => {
    hostile.receiver.behave(dripBody(200, 100))
    await expectDelivered(null)
  })

  test('something else each time: everything arrives', () =>
    expectAllInTheEnd(
      inTurn(hang, status(500), ok, resetUnanswered, garbage, ok, tooMany(1), resetAfterHead(500)),
    ))

  // The last: what is never read is never seen to end.
  test('connections taken and never secured: tried again', async () => {
    await eventually(() => hostile.receiver.open === 0)
    hostile.receiver.welcome('never')
    await expectTriedAgain({ status: null, error: 'CONNECT_TIMEOUT' })
  })
})

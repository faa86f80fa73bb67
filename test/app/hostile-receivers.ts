import { expect, test } from 'vitest'
import {
  closeUnanswered,
  dripBody,
  dripHead,
  flap,
  flapByTime,
  garbage,
  hang,
  huge,
  inTurn,
  redirect,
  resetAfterHead,
  resetUnanswered,
  tooMany,
} from '../support/hostile-behaviours.ts'
import { expectAllInOrder, type HostileTenant, hostileTenant } from '../support/hostile-tenant.ts'
import { eventually, type Service } from '../support/service.ts'
import { serviceOfFile } from '../support/tenant-per-test.ts'
import { acknowledge, answerStatus, type WebhookAnswer } from '../support/webhook-receiver.ts'

const MESSAGES = 4
const INBOUND = 2
const MEBIBYTE = 2 ** 20
/** Of an attempt, where the receiver hangs: enough for a connection on a machine with much else to do. */
const TIMEOUT_MS = 4_000
/** Of a test beside four others. */
const TEST_TIMEOUT_MS = 120_000

type Outcome = { readonly status: number | null; readonly error: string }
type Ids = { readonly sent: string[]; readonly received: string[] }

/** Messages and inbound messages come while the receiver is as it is; returns their ids once each has been tried. */
async function traffic(hostile: HostileTenant): Promise<Ids> {
  const [sent, received] = await Promise.all([hostile.send(MESSAGES), hostile.receive(INBOUND)])
  await eventually(async () => {
    const tried = await hostile.attempts([...sent, ...received])
    return new Set(tried.map(({ msgId }) => msgId)).size === MESSAGES + INBOUND
  })
  return { sent, received }
}

async function recover(hostile: HostileTenant, { sent, received }: Ids): Promise<void> {
  hostile.receiver.answerWith(acknowledge)
  hostile.receiver.welcome('at-once')
  await hostile.untilDelivered([...sent, ...received])
  expectAllInOrder(hostile, sent, [1, 2])
  expectAllInOrder(hostile, received, [0])
}

/** Each first attempt ends so; once the receiver is healthy everything arrives. */
async function expectTriedAgain(hostile: HostileTenant, outcome: Outcome): Promise<void> {
  const ids = await traffic(hostile)
  const tried = await hostile.attempts([...ids.sent, ...ids.received])
  const first = tried.filter(({ attempt }) => attempt === 1)
  expect(first).toHaveLength(MESSAGES + INBOUND)
  for (const attempt of first) expect(attempt).toMatchObject(outcome)
  await recover(hostile, ids)
}

/** The first attempt delivers each event. */
async function expectDelivered(hostile: HostileTenant, headLength: number | null): Promise<void> {
  const ids = await traffic(hostile)
  const all = [...ids.sent, ...ids.received]
  await hostile.untilDelivered(all)
  const attempts = await hostile.attempts(all)
  expect(attempts).toHaveLength(2 * MESSAGES + INBOUND)
  for (const { status, error, attempt, head } of attempts) {
    expect({ status, error, attempt }).toEqual({ status: 200, error: null, attempt: 1 })
    if (headLength !== null) expect(head).toHaveLength(headLength)
  }
  await recover(hostile, ids)
  const octets = all.flatMap((msgId) => hostile.requestsOf(msgId)).map(({ answeredBytes }) => answeredBytes)
  expect(Math.max(...octets)).toBeLessThan(16 * MEBIBYTE)
}

async function expectAllInTheEnd(hostile: HostileTenant): Promise<void> {
  const ids = await traffic(hostile)
  await hostile.untilDelivered([...ids.sent, ...ids.received])
  await recover(hostile, ids)
}

/** Tests by their names: `isWanted` chooses. */
type Wanted = (name: string) => boolean

/** Each test has a tenant and a receiver of its own, so that they run beside each other. */
function testsOf(tenants: Pick<Service, 'tenant'>, isWanted: Wanted) {
  return (name: string, behaviour: WebhookAnswer, run: (hostile: HostileTenant) => Promise<void>): void => {
    if (!isWanted(name)) return
    test.concurrent(name, { timeout: TEST_TIMEOUT_MS }, async () => {
      await using hostile = await hostileTenant(tenants)
      hostile.receiver.answerWith(behaviour)
      await run(hostile)
    })
  }
}

/** What becomes of events whose receiver answers, or ends the connection. */
export function testAnswering(isWanted: Wanted = () => true): void {
  const it = testsOf(serviceOfFile({ webhookProbeMs: 200 }), isWanted)

  const failing: readonly [string, WebhookAnswer, Outcome][] = [
    ['500', answerStatus(500), { status: 500, error: 'HTTP_STATUS' }],
    ['302', redirect('https://127.0.0.1/elsewhere'), { status: 302, error: 'REDIRECT' }],
    ['429', tooMany(7), { status: 429, error: 'HTTP_STATUS' }],
    ['the connection ended unanswered', closeUnanswered, { status: null, error: 'CONNECTION_RESET' }],
    ['the connection reset unanswered', resetUnanswered, { status: null, error: 'CONNECTION_RESET' }],
    ['500, reset after the head', resetAfterHead(500), { status: 500, error: 'HTTP_STATUS' }],
    ['500 and 1 GiB', huge('content-length', 500), { status: 500, error: 'HTTP_STATUS' }],
    ['no HTTP', garbage, { status: null, error: 'PROTOCOL_ERROR' }],
  ]
  for (const [name, behaviour, outcome] of failing)
    it(`${name}: tried again`, behaviour, (hostile) => expectTriedAgain(hostile, outcome))

  for (const welcome of ['close', 'reset'] as const)
    it(`${welcome} before the connection is secured: tried again`, acknowledge, (hostile) => {
      hostile.receiver.welcome(welcome)
      return expectTriedAgain(hostile, { status: null, error: 'TLS_HANDSHAKE' })
    })

  it('429: not before its Retry-After, as far as the schedule allows', tooMany(7), async (hostile) => {
    const [msgId] = await hostile.send(1)
    await eventually(async () => (await hostile.attempts([msgId!])).length === 1)
    const { rows } = await hostile.service.db.query(
      `select extract(epoch from d.due_at - a.attempted_at)::float as seconds
       from event_deliveries d join webhook_attempts a using (msg_id, sequence) where msg_id = $1`,
      [msgId],
    )
    expect(rows[0].seconds).toBeGreaterThanOrEqual(7)
    hostile.receiver.answerWith(acknowledge)
    await hostile.untilDelivered([msgId!])
  })

  const delivering: readonly [string, WebhookAnswer, number | null][] = [
    ['reset after the head', resetAfterHead(200), null],
    ['1 GiB', huge('content-length'), 1_024],
    ['1 GiB in chunks', huge('chunked'), 1_024],
  ]
  for (const [name, behaviour, headLength] of delivering)
    it(`2xx, then ${name}: delivered`, behaviour, (hostile) => expectDelivered(hostile, headLength))

  it('two of three fail: everything arrives', flap(2, 3), expectAllInTheEnd)
  it('down and up again: everything arrives', flapByTime(1_000, 1_000, closeUnanswered), expectAllInTheEnd)
}

/** The same where the receiver hangs. */
export function testHanging(isWanted: Wanted = () => true): void {
  const it = testsOf(
    serviceOfFile({
      webhookTimeoutMs: TIMEOUT_MS,
      webhookConnectTimeoutMs: TIMEOUT_MS,
      webhookProbeMs: 200,
    }),
    isWanted,
  )

  it(
    'something else each time: everything arrives',
    inTurn(
      hang,
      answerStatus(500),
      acknowledge,
      resetUnanswered,
      garbage,
      acknowledge,
      tooMany(1),
      resetAfterHead(500),
    ),
    expectAllInTheEnd,
  )

  const failing: readonly [string, WebhookAnswer, Outcome][] = [
    ['no answer', hang, { status: null, error: 'RESPONSE_TIMEOUT' }],
    ['a head that never ends', dripHead(100), { status: null, error: 'RESPONSE_TIMEOUT' }],
    ['500, its body in drips', dripBody(500, 100), { status: 500, error: 'HTTP_STATUS' }],
  ]
  for (const [name, behaviour, outcome] of failing)
    it(`${name}: tried again`, behaviour, (hostile) => expectTriedAgain(hostile, outcome))

  it('2xx, then a body in drips: delivered', dripBody(200, 100), (hostile) => expectDelivered(hostile, null))

  it('connections taken and never secured: tried again', acknowledge, (hostile) => {
    hostile.receiver.welcome('never')
    return expectTriedAgain(hostile, { status: null, error: 'CONNECT_TIMEOUT' })
  })
}

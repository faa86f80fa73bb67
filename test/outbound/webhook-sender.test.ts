import { once } from 'node:events'
import { Session } from 'node:inspector'
import type { Worker } from 'node:worker_threads'
import { Webhook as Verifier } from 'standardwebhooks'
import { afterEach, expect, test, vi } from 'vitest'
import { formatWebhookSecret, type Webhook } from '../../src/domain/webhooks/requests.ts'
import type { WebhookDefects } from '../../src/outbound/thread-messages.ts'
import type { DeliveryOutcome, WebhookAccount } from '../../src/outbound/webhook-post.ts'
import type { WebhookSender, WebhookSenderOptions } from '../../src/outbound/webhook-sender.ts'
import { STRICT_CALLBACK_POLICY } from '../support/callback-policy.ts'
import { eventually } from '../support/eventually.ts'
import { outboundNetwork, silence } from '../support/outbound-network.ts'
import { acknowledge, type WebhookReceiver } from '../support/webhook-receiver.ts'

const { threadSender, receiver, urlAt } = await outboundNetwork()
const SECRET = formatWebhookSecret(Buffer.alloc(32, 3))
const ACCOUNT = { webhookSecrets: [SECRET], webhookHeaders: { 'x-tenant': 'a' } }

const deaths: unknown[] = []
afterEach(() => {
  vi.useRealTimers()
  deaths.length = 0
})

const sender = (options: Partial<WebhookSenderOptions> = {}): WebhookSender =>
  threadSender({ onDeath: (error) => deaths.push(error), ...options })

/** The thread that is made next, by anybody. */
async function nextThread(): Promise<Worker> {
  const [thread] = await once(process, 'worker')
  return thread
}

/** Has the thread say something, and then wait for nothing, for good. */
async function hang(thread: Worker): Promise<void> {
  const said = once(thread, 'message')
  const session = new Session()
  session.connect()
  session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
    const expression = `
      const { parentPort, threadId } = process.getBuiltinModule('node:worker_threads')
      if (threadId === ${thread.threadId}) {
        parentPort.postMessage([])
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
      }`
    const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } })
    session.post('NodeWorker.sendMessageToWorker', { sessionId, message })
  })
  session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  await said
  session.disconnect()
}

function attempt(to: WebhookReceiver, given: Partial<Webhook> = {}): Webhook {
  return {
    url: urlAt(to.port),
    eventId: 'm-1',
    attempt: 1,
    sequence: 1,
    body: '{"text":"Grüße 🙂"}',
    timestampMs: Date.now(),
    isTest: false,
    ...given,
  }
}

function posted(
  through: WebhookSender,
  what: Webhook,
  account: WebhookAccount = ACCOUNT,
): Promise<DeliveryOutcome> {
  return new Promise((ended) => through.post(account, what, ended))
}

test('signs and sends what it is given, and says what became of each', async () => {
  const to = await receiver({
    answer: (exchange) => {
      const sequence = Number(exchange.request.headers['aldis-sequence'])
      if (sequence % 2 === 0) acknowledge(exchange)
      else exchange.respond(429, { 'retry-after': '7' }, `no ${sequence}`)
    },
  })
  const through = sender()
  const all = Array.from({ length: 50 }, (_, sequence) =>
    posted(through, attempt(to, { sequence, eventId: `m-${sequence}`, isTest: sequence === 3 })),
  )
  for (const [sequence, outcome] of (await Promise.all(all)).entries()) {
    expect(outcome).toMatchObject(
      sequence % 2 === 0
        ? { ok: true, status: 200, error: null, retryAfterMs: null }
        : { ok: false, status: 429, error: 'HTTP_STATUS', retryAfterMs: 7_000, gone: false },
    )
    if (sequence % 2 === 1) expect(outcome.responseHead).toBe(`no ${sequence}`)
  }
  for (const { headers, body } of to.received) {
    expect(new Verifier(SECRET).verify(body, headers as Record<string, string>)).toEqual({ text: 'Grüße 🙂' })
    expect(headers['webhook-id']).toBe(`m-${headers['aldis-sequence']}`)
    expect(headers['x-tenant']).toBe('a')
    expect(headers['aldis-test']).toBe(headers['aldis-sequence'] === '3' ? 'true' : undefined)
  }
})

test('the thread judges each URL as it dials, and a damaged secret is an outcome', async () => {
  const to = await receiver()
  const through = sender({ callbackPolicy: STRICT_CALLBACK_POLICY })
  expect(await posted(through, attempt(to))).toMatchObject({ error: 'FORBIDDEN_ADDRESS' })
  const account = { ...ACCOUNT, webhookSecrets: ['whsec_'] }
  expect(await posted(through, attempt(to), account)).toMatchObject({ error: 'INVALID_REQUEST' })
})

test.each<[string, number | null, Partial<Webhook>, Partial<WebhookAccount>]>([
  ['before it is sent', null, { body: null as never }, {}],
  ['as its answer is read', 200, {}, { webhookHeaders: { authorization: 7 as never } }],
])('what throws in the thread %s fails that webhook alone', async (_when, status, what, account) => {
  const to = await receiver({ answer: (exchange) => exchange.respond(200, {}, 'thanks') })
  const told: WebhookDefects[] = []
  const through = sender({ onDefects: (defects) => told.push(defects) })
  const others = Array.from({ length: 20 }, () => posted(through, attempt(to)))
  const outcome = await posted(through, attempt(to, what), { ...ACCOUNT, ...account })
  expect(outcome).toMatchObject({ ok: false, error: 'INVALID_REQUEST', status: null })
  await posted(through, attempt(to, what), { ...ACCOUNT, ...account })
  expect(told).toEqual([{ defects: 1, thrown: expect.stringMatching(/^TypeError\n {4}at \S+ /) }])
  for (const other of await Promise.all(others)) expect(other).toMatchObject({ ok: true })
  expect(to.received).toHaveLength(status === null ? 20 : 22)
  expect(deaths).toEqual([])
})

/** A thread with one attempt that its receiver has and does not answer. */
async function oneOpen() {
  const to = await receiver({ answer: silence })
  const born = nextThread()
  const through = sender()
  const inFlight = posted(through, attempt(to))
  const thread = await born
  await to.next()
  return { to, through, thread, inFlight }
}

test('when the thread dies, what it had ends as ABORTED, and its successor sends what comes then', async () => {
  const { to, through, thread, inFlight } = await oneOpen()
  const next = nextThread()
  await thread.terminate()
  expect(await inFlight).toMatchObject({ ok: false, error: 'ABORTED', status: null })
  to.answerWith(acknowledge)
  expect(await posted(through, attempt(to))).toMatchObject({ ok: true })
  expect(deaths).toEqual([undefined])
  expect((await next).threadId).not.toBe(thread.threadId)
})

test('a thread that hangs is ended, and so is what it had, 5 s after the time of an attempt', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { to, through, thread, inFlight } = await oneOpen()
  await hang(thread)
  vi.advanceTimersByTime(19_999)
  expect(deaths).toEqual([])
  const died = once(thread, 'exit')
  vi.advanceTimersByTime(1_001)
  expect(await inFlight).toMatchObject({ ok: false, error: 'ABORTED', status: null })
  await died
  expect(deaths).toEqual([new Error('the webhook thread hangs')])
  to.answerWith(acknowledge)
  const next = posted(through, attempt(to))
  vi.advanceTimersByTime(100)
  expect(await next).toMatchObject({ ok: true })
})

test('a thread is not taken to hang when the whole process stood still', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { to, through, inFlight } = await oneOpen()
  vi.advanceTimersByTime(20_000)
  to.answerWith(acknowledge)
  expect(await posted(through, attempt(to))).toMatchObject({ ok: true })
  vi.advanceTimersByTime(1_000)
  through.abort()
  expect(await inFlight).toMatchObject({ error: 'ABORTED' })
  expect(deaths).toEqual([])
})

test('sends within the lease under which it was given, and not behind it', async () => {
  const { to, through, inFlight } = await oneOpen()
  through.renew(1, 60_000)
  to.answerWith(acknowledge)
  expect(await posted(through, attempt(to))).toMatchObject({ ok: true })
  through.renew(1, 0)
  expect(await posted(through, attempt(to))).toMatchObject({ error: 'ABORTED', status: null })
  through.renew(1, 60_000)
  expect(await posted(through, attempt(to))).toMatchObject({ ok: true })
  expect(to.received).toHaveLength(3)
  through.abort()
  await inFlight
})

test('what waits for a connection is not sent when the lease is lost meanwhile', async () => {
  let answer = () => {}
  const to = await receiver({
    answer: (exchange) => {
      answer = () => acknowledge(exchange)
    },
  })
  const through = sender({ maxSocketsPerOrigin: 1 })
  through.renew(1, 60_000)
  const first = posted(through, attempt(to))
  await to.next()
  const waiting = posted(through, attempt(to))
  through.renew(2, 60_000)
  const next = posted(through, attempt(to, { eventId: 'm-2' }))
  to.answerWith(acknowledge)
  answer()
  expect(await first).toMatchObject({ ok: true })
  expect(await waiting).toMatchObject({ error: 'ABORTED', status: null })
  expect(await next).toMatchObject({ ok: true })
  expect(to.received.map(({ headers }) => headers['webhook-id'])).toEqual(['m-1', 'm-2'])
})

test('what is posted while the thread is dead is not sent under the next lease', async () => {
  const { to, through, thread, inFlight } = await oneOpen()
  through.renew(1, 60_000)
  const next = nextThread()
  await thread.terminate()
  await inFlight
  const stale = posted(through, attempt(to))
  through.renew(2, 60_000)
  expect(await stale).toMatchObject({ error: 'ABORTED' })
  await next
  to.answerWith(acknowledge)
  expect(await posted(through, attempt(to))).toMatchObject({ ok: true })
  expect(to.received).toHaveLength(2)
})

test('a thread that cannot start is started again, later each time, and holds nothing up', async () => {
  const to = await receiver()
  const delays: number[] = []
  const through = sender({ maxOrigins: -1, onDeath: (_, delayMs) => delays.push(delayMs) })
  expect(await posted(through, attempt(to))).toMatchObject({ error: 'ABORTED' })
  await eventually(() => delays.length >= 3)
  expect(delays.slice(0, 3)).toEqual([100, 200, 400])
  await through.close()
  expect(to.received).toEqual([])
})

test('closing waits for what is under way; an abort does not', async () => {
  let answer = () => {}
  const to = await receiver({
    answer: (exchange) => {
      answer = () => acknowledge(exchange)
    },
  })
  const through = sender()
  const inFlight = posted(through, attempt(to))
  await to.next()
  const closed = through.close()
  answer()
  expect(await inFlight).toMatchObject({ ok: true })
  await closed

  const other = sender()
  const aborted = posted(other, attempt(to))
  await to.next()
  other.abort()
  expect(await aborted).toMatchObject({ error: 'ABORTED' })
  expect(await posted(other, attempt(to))).toMatchObject({ error: 'ABORTED' })
})

test('there is no thread, and nothing that is busy, before the first webhook', async () => {
  const to = await receiver()
  const threads: Worker[] = []
  const note = (thread: Worker) => threads.push(thread)
  process.on('worker', note)
  const through = sender()
  through.renew(1, 60_000)
  expect(await through.measure()).toEqual({ utilization: 0, lagP99: 0 })
  expect(threads).toEqual([])
  await through.close()
  expect(await posted(through, attempt(to))).toMatchObject({ error: 'ABORTED' })
  expect(threads).toEqual([])
  process.off('worker', note)
})

test('says how busy the thread is', async () => {
  const through = sender()
  await posted(through, attempt(await receiver()))
  const { utilization, lagP99 } = await through.measure()
  expect(utilization).toBeGreaterThan(0)
  expect(utilization).toBeLessThanOrEqual(1)
  expect(lagP99).toBeGreaterThanOrEqual(0)
})

test('an abort holds while the thread is dead', async () => {
  const to = await receiver()
  const died = Promise.withResolvers<void>()
  const onDeath = (error: unknown) => {
    deaths.push(error)
    died.resolve()
  }
  const through = sender({ maxOrigins: -1, onDeath })
  expect(await posted(through, attempt(to))).toMatchObject({ error: 'ABORTED' })
  await died.promise
  through.abort()
  expect(await posted(through, attempt(to))).toMatchObject({ error: 'ABORTED' })
  // It has not waited for the end of the next thread.
  expect(deaths).toHaveLength(1)
})

test('what is asked how busy the thread is has its whole time for the answer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const through = sender()
  await posted(through, attempt(await receiver()))
  await through.measure()
  vi.advanceTimersByTime(999)
  const second = through.measure()
  vi.advanceTimersByTime(2)
  expect(await second).not.toEqual({ utilization: 1, lagP99: 1 })
})

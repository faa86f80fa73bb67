import { describe, expect, test } from 'vitest'
import { ATTEMPT_DELAYS_MS, SCHEDULE_MS } from '../../../src/domain/webhooks/retries.ts'
import { redeliverEvent } from '../../../src/operations/redeliver-events.ts'
import { clockedDeliveries } from '../../support/clocked-deliveries.ts'
import { eventually } from '../../support/service.ts'
import { answerStatus, type ReceivedWebhook } from '../../support/webhook-receiver.ts'

const HOUR_MS = 3_600_000
const walk = await clockedDeliveries()
const { announced, enqueued, clock, run, runNext, settled, deliveries } = walk

const identityOf = ({ headers, body }: ReceivedWebhook) => `${headers['webhook-id']} ${body}`
const attemptOf = ({ headers }: ReceivedWebhook) => Number(headers['aldis-attempt'])
const eventOf = ({ headers }: ReceivedWebhook) => String(headers['webhook-id'])

describe('an event that is not acknowledged', () => {
  test('twelve attempts in 76 hours, none a millisecond early; then it has failed, and the next of its message follows', async () => {
    walk.answerWith(answerStatus(500))
    const msgId = await announced('receiver', { delivered: true })
    const startMs = clock.now()
    await run()
    for (let attempt = 2; attempt <= ATTEMPT_DELAYS_MS.length; attempt += 1) {
      const { afterMs, received } = await runNext()
      const baseMs = ATTEMPT_DELAYS_MS[attempt - 1]!
      expect(afterMs).toBeGreaterThanOrEqual(0.8 * baseMs)
      expect(afterMs).toBeLessThanOrEqual(1.2 * baseMs)
      expect(received.slice(0, 1).map(attemptOf)).toEqual([attempt])
      expect(received[0]!.headers['webhook-timestamp']).toBe(String(Math.floor(clock.now() / 1_000)))
    }
    expect(clock.now() - startMs).toBeGreaterThan(60 * HOUR_MS)
    expect(clock.now() - startMs).toBeLessThan(92 * HOUR_MS)
    expect(walk.received.map(attemptOf)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    expect(new Set(walk.received.map(identityOf)).size).toBe(1)
    expect(eventOf(walk.received[0]!)).toBe(`${msgId}-1`)
    walk.acknowledge()
    expect((await run()).map(eventOf)).toEqual([`${msgId}-2`])
    expect(await deliveries()).toMatchObject([
      { msgId, sequence: 1, failedAttempts: 12, state: 'failed', dueMs: Number.POSITIVE_INFINITY },
    ])
    await clock.set(clock.now() + 1_000 * HOUR_MS)
    expect(await run()).toEqual([])
  })

  test('its first attempt is made from memory, the others from the database, under one id and with one body', async () => {
    walk.answerWith(answerStatus(503))
    await enqueued()
    await settled()
    while ((await deliveries())[0]!.state === 'waiting') await runNext()
    expect(walk.received.map(attemptOf)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    expect(new Set(walk.received.map(identityOf)).size).toBe(1)
  })

  test('a Retry-After is waited for, between once and twice what the table says', async () => {
    const wishes = [0, 0.5, 1, 1.4, 2, 1_000]
    const wishOf = (attempt: number) => wishes[attempt % wishes.length]!
    walk.answerWith((exchange) => {
      const attempt = attemptOf(exchange.request)
      const wish = Math.round((wishOf(attempt) * (ATTEMPT_DELAYS_MS[attempt] ?? 0)) / 1_000)
      exchange.respond(429, { 'retry-after': String(wish) })
    })
    await announced()
    await run()
    for (let attempt = 1; attempt < ATTEMPT_DELAYS_MS.length; attempt += 1) {
      const { afterMs, received } = await runNext()
      expect(afterMs / ATTEMPT_DELAYS_MS[attempt]!).toBe(Math.min(Math.max(wishOf(attempt), 1), 2))
      expect(received.map(attemptOf)).toEqual([attempt + 1])
    }
    expect(await deliveries()).toMatchObject([{ state: 'failed' }])
  })

  test('whichever attempt is acknowledged, 1 to 12, is the last', async () => {
    const attempts = new Map<string, number>()
    for (let attempt = 1; attempt <= ATTEMPT_DELAYS_MS.length; attempt += 1)
      attempts.set(await announced(`receiver-${attempt}`), attempt)
    walk.answerWith((exchange) => {
      const { msgId } = exchange.request
      exchange.respond(attempts.get(msgId) === attemptOf(exchange.request) ? 204 : 500)
    })
    await run()
    while ((await deliveries()).length > 0) await runNext()
    const received = Map.groupBy(walk.received, ({ body }) => JSON.parse(body).msgId)
    const { rows } = await walk.db.query(`
      select e.msg_id, e.attempts, e.response_status,
             (select count(*)::integer from webhook_attempts a where a.msg_id = e.msg_id) as kept
      from events e`)
    expect(rows).toHaveLength(ATTEMPT_DELAYS_MS.length)
    for (const { msg_id, ...outcome } of rows) {
      const last = attempts.get(msg_id)!
      expect(received.get(msg_id)!.map(attemptOf)).toEqual(Array.from({ length: last }, (_, n) => n + 1))
      // Of a first attempt that is answered 2xx the event alone tells.
      expect(outcome).toEqual({ attempts: last, response_status: 204, kept: last === 1 ? 0 : last })
    }
  })
})

test('an event behind one that was lost on its way into memory waits in the database until that is found', async () => {
  const msgId = await enqueued({ delivered: true, lost: true })
  await eventually(async () => (await deliveries()).some(({ sequence, held }) => sequence === 2 && !held))
  await walk.look()
  expect(walk.received).toEqual([])
  await walk.runOut()
  expect(walk.received.map(eventOf)).toEqual([`${msgId}-1`, `${msgId}-2`])
})

test('redelivered it begins anew: attempts go on counting, and each wait is that of the table', async () => {
  walk.answerWith(answerStatus(500))
  const msgId = await announced()
  await run()
  while ((await deliveries())[0]!.state === 'waiting') await runNext()
  await clock.set(clock.now() + 24 * HOUR_MS)
  await redeliverEvent(walk.db, walk.plan, { msgId, sequence: 1 })
  expect((await run()).map(attemptOf)).toEqual([13])
  for (let attempt = 2; attempt < 7; attempt += 1) {
    const { afterMs } = await runNext()
    expect(Math.abs(afterMs / ATTEMPT_DELAYS_MS[attempt - 1]! - 1)).toBeLessThanOrEqual(0.2)
  }
  walk.acknowledge()
  expect((await runNext()).received.map(attemptOf)).toEqual([19])
  expect(new Set(walk.received.map(identityOf)).size).toBe(1)
  expect(await deliveries()).toEqual([])
  const { rows } = await walk.db.query('select attempts from events where msg_id = $1', [msgId])
  expect(rows).toEqual([{ attempts: 19 }])
})

describe('a destination that is dead', () => {
  /** More than open a breaker. */
  const EVENTS = 22
  const MINUTE_MS = 60_000

  /** Its breaker is open, and EVENTS wait. Gives when the first of them happened. */
  async function dead(events = EVENTS): Promise<number> {
    walk.answerWith(answerStatus(502))
    const beganMs = Date.now()
    for (let count = 0; count < events; count += 1) await announced()
    expect(await run()).toHaveLength(events)
    expect(walk.destinations.count('open')).toBe(1)
    return beganMs
  }

  const states = async () =>
    Object.entries(Object.groupBy(await deliveries(), ({ state }) => state)).map(
      ([state, list]) => `${list.length} ${state}`,
    )

  test('one probe a minute, never two; nothing is given up before 76 hours, and everything is tried once more then', async () => {
    const beganMs = await dead()
    const probed = new Set<string>()
    for (let minute = 1; minute <= EVENTS; minute += 1) {
      await clock.set(beganMs + minute * MINUTE_MS - 1)
      expect(await run()).toEqual([])
      await clock.set(beganMs + minute * MINUTE_MS + 10_000)
      const probes = [...(await run()), ...(await run())]
      expect(probes).toHaveLength(1)
      probed.add(eventOf(probes[0]!))
    }
    // Not always the same: one that its receiver never takes must not keep the others from it.
    expect(probed.size).toBe(EVENTS)
    for (let hour = 4; hour < 76; hour += 4) {
      await clock.set(beganMs + hour * HOUR_MS)
      expect(await run()).toHaveLength(1)
    }
    await clock.set(beganMs + SCHEDULE_MS - 1)
    await run()
    expect(await states()).toEqual([`${EVENTS} parked`])
    const before = walk.received.length
    await clock.set(beganMs + SCHEDULE_MS + 10_000)
    await run()
    expect(new Set(walk.received.slice(before).map(eventOf)).size).toBe(EVENTS)
    expect(await states()).toEqual([`${EVENTS} failed`])
  })

  test('an event older than 76 hours, by its Retry-After, gets one more attempt when the breaker opens', async () => {
    walk.answerWith((exchange) => exchange.respond(503, { 'retry-after': '864000' }))
    const msgId = await announced()
    const beganMs = clock.now()
    await run()
    for (let attempt = 2; attempt <= 10; attempt += 1) await runNext()
    expect(clock.now() - beganMs).toBeLessThan(SCHEDULE_MS)
    for (let count = 0; count < EVENTS; count += 1) await announced()
    await clock.set(beganMs + 80 * HOUR_MS)
    // Its eleventh attempt is due after 103 hours.
    expect((await run()).map(eventOf)).not.toContain(`${msgId}-1`)
    expect(walk.destinations.count('open')).toBe(1)
    await run()
    const attempts = walk.received.filter((webhook) => eventOf(webhook) === `${msgId}-1`).map(attemptOf)
    expect(attempts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(await states()).toEqual([`${EVENTS + 1} failed`])
  })

  test('a probe whose URL cannot be decrypted waits, and says nothing of the destination', async () => {
    const beganMs = await dead()
    await walk.db.query(`update messages set callback_url = 'v1.00000000.AAAA'`)
    const before = walk.received.length
    await clock.set(beganMs + 2 * MINUTE_MS)
    await walk.look()
    await walk.destinations.runOnce()
    expect([walk.destinations.count('open'), walk.received.length]).toEqual([1, before])
    expect(await deliveries()).toHaveLength(EVENTS)
    expect(walk.errors()).toEqual(['webhook URL cannot be decrypted'])
  })

  test('once it recovers, after 40 hours, everything arrives at once, later events of a message behind earlier ones', async () => {
    const beganMs = await dead()
    const msgId = await announced('receiver', { delivered: true })
    for (let hour = 4; hour <= 40; hour += 4) {
      await clock.set(beganMs + hour * HOUR_MS)
      await run()
    }
    expect(await states()).toEqual([`${EVENTS + 1} parked`, '1 waiting'])
    walk.acknowledge()
    await clock.set(clock.now() + MINUTE_MS)
    const before = walk.received.length
    // The probe; all that are parked; what waited behind one of them.
    for (let poll = 0; poll < 3; poll += 1) await run()
    const events = walk.received.slice(before).map(eventOf)
    expect(events).toHaveLength(EVENTS + 2)
    expect(new Set(events).size).toBe(EVENTS + 2)
    expect(events.indexOf(`${msgId}-1`)).toBeLessThan(events.indexOf(`${msgId}-2`))
    expect(await deliveries()).toEqual([])
    await clock.set(clock.now() + MINUTE_MS)
    await run()
    expect(walk.destinations.count('recovering')).toBe(0)
  })

  test('one that takes a single event a minute: attempts beyond the twelfth end no event before its time', async () => {
    const events = 40
    const beganMs = await dead(events)
    let acceptedMs = 0
    walk.answerWith((exchange) => {
      const accepts = clock.now() - acceptedMs >= MINUTE_MS
      if (accepts) acceptedMs = clock.now()
      exchange.respond(accepts ? 200 : 500)
    })
    // Its breaker closes with each, and the others fail until it opens again.
    for (let minute = 1; minute <= 15; minute += 1) {
      await clock.set(beganMs + 2 * minute * MINUTE_MS)
      for (let poll = 0; poll < 3; poll += 1) await run()
      expect(walk.destinations.count('open')).toBe(1)
    }
    const left = await deliveries()
    expect(left).toHaveLength(events - 15)
    expect(Math.min(...left.map(({ failedAttempts }) => failedAttempts))).toBeGreaterThan(
      ATTEMPT_DELAYS_MS.length,
    )
    expect(left.filter(({ state }) => state === 'failed')).toEqual([])
    walk.acknowledge()
    await clock.set(beganMs + 60 * HOUR_MS)
    for (let poll = 0; poll < 3; poll += 1) await run()
    expect(await deliveries()).toEqual([])
  })
})

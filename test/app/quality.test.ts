import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually, RECIPIENT, type Service } from '../support/service.ts'
import { accept, type Smsc, startSmsc } from '../support/smsc.ts'
import { tenantPerTest } from '../support/tenant-per-test.ts'

const MINUTE_MS = 60_000
const FLOOR = { minDelivered: 80, windowMinutes: 60, minMessages: 10, pauseMinutes: 5 }

let main: Smsc
let backup: Smsc
let service: Service
let backupCarrier: string
/** How far the clock of the quality watch is ahead. It never goes back: tests that set it ahead come last. */
let aheadMs = 0

tenantPerTest(
  {
    app: {
      ambiguityWaitMs: 60_000,
      linkTimings: { responseTimeoutMs: 200 },
      qualityMs: 20,
      qualityClock: () => Date.now() + aheadMs,
    },
  },
  (...own) => {
    ;[service, main] = own
  },
)

beforeEach(async () => {
  backup = await startSmsc()
  backupCarrier = await service.anotherCarrier(backup.port)
})

afterEach(() => backup[Symbol.asyncDispose]())

async function useRoute(...carriers: object[]): Promise<void> {
  await service.admin('PATCH', `/routes/${service.route}`, { carriers, qualityFloor: FLOOR })
}

const withBackup = () => useRoute({ carrier: service.carrier }, { carrier: backupCarrier, priority: 1 })

/** Messages that the first carrier takes, and of which its receipts say this. */
async function sendAll(count: number, state: string): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const id = main.submits.length
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    expect(await main.receipt(`m-${id}`, state)).toBe(STATUSES.ESME_ROK)
    await service.until(msgId, state === 'DELIVRD' ? 'DELIVERED' : 'FAILED')
  }
}

/** Of the tenant's route. */
async function pauses() {
  const { items } = await service.admin('GET', '/quality/pauses')
  return items.filter(({ route }: { route: string }) => route === service.route)
}

/** Carriers of the route, their condition and their share, as `aldis route explain` tells them. */
async function conditions() {
  const { servicePlanId } = service
  const query = new URLSearchParams({ servicePlanId, from: 'Aldis', to: RECIPIENT })
  const { carriers } = await service.admin('GET', `/route-explanation?${query}`)
  return carriers.map((one: { carrier: string; condition: string; share: number }) => [
    one.carrier,
    one.condition,
    one.share,
  ])
}

async function metrics(): Promise<string> {
  return (await fetch(`${service.app.url}/metrics`)).text()
}

async function figures() {
  const { items } = await service.admin('GET', `/quality?carrier=${service.carrier}`)
  return items[0] ?? null
}

describe('the floor of a route', () => {
  test('an operator puts it back into use', async () => {
    await withBackup()
    await sendAll(10, 'UNDELIV')
    await eventually(async () =>
      (await metrics()).includes(`aldis_carrier_out_of_use{carrier="${service.carrier}"} 1`),
    )
    await service.admin('DELETE', `/quality/pauses/${service.route}/${service.carrier}`)
    await service.until(await service.sent(), 'SENT')
    expect([main.submits.length, backup.submits.length]).toEqual([11, 0])
  })

  test('the only carrier of a route stays in use; a route without a floor judges nobody', async () => {
    await useRoute({ carrier: service.carrier })
    await sendAll(10, 'UNDELIV')
    await eventually(async () => (await pauses()).length > 0)
    await sendAll(1, 'UNDELIV')
    await service.admin('PATCH', `/routes/${service.route}`, { qualityFloor: null })
    expect(await pauses()).toEqual([])
  })
})

describe('the figures', () => {
  test('of answers: taken, throttled, refused, none', async () => {
    const statuses = [STATUSES.ESME_RTHROTTLED, STATUSES.ESME_ROK, STATUSES.ESME_RINVDSTADR, null]
    main.answerSubmits((pdu, link, index) => {
      const status = statuses[index]
      if (status === STATUSES.ESME_ROK) accept(pdu, link, `m-${index}`)
      else if (status != null) link.respond(pdu, status)
    })
    await service.until(await service.sent(), 'SENT')
    await service.until(await service.sent(), 'FAILED')
    await service.sent()
    const expected = { total: 4, accepted: 1, throttled: 1, refused: 1, noAnswer: 1 }
    await eventually(async () => (await figures())?.submits.noAnswer === 1)
    expect((await figures()).submits).toMatchObject(expected)
    const text = await metrics()
    expect(text).toContain(`aldis_carrier_bound{carrier="${service.carrier}"} 1`)
    for (const result of ['accepted', 'throttled', 'refused', 'noAnswer'])
      expect(text).toContain(`aldis_submits_total{carrier="${service.carrier}",result="${result}"} 1`)
    expect(text).toContain(`aldis_submit_latency_seconds_count{carrier="${service.carrier}"} 3`)
  })

  test('of answers: by the table of the carrier itself; a link that is lost has none', async () => {
    await service.admin('PATCH', `/carriers/${service.carrier}`, { submitOutcomes: { '0x401': 'throttled' } })
    main.answerSubmits((pdu, link, index) => {
      if (index === 0) link.respond(pdu, 0x401)
      else if (index === 1) link.destroy()
      else accept(pdu, link, `m-${index}`)
    })
    await service.sent()
    await eventually(async () => (await figures())?.submits.noAnswer === 1)
    expect((await figures()).submits).toMatchObject({ total: 2, throttled: 1 })
  })
})

describe('as time goes by', () => {
  test('a carrier whose receipts fail is passed over for another, and comes back after the pause', async () => {
    await withBackup()
    await sendAll(7, 'DELIVRD')
    await sendAll(3, 'UNDELIV')
    const [pause] = await eventually(async () => (await pauses()).length > 0 && (await pauses()))
    expect(pause).toMatchObject({
      route: service.route,
      carrier: service.carrier,
      reason: 'delivered 7 of 10 (70 %) in 60 min, floor 80 %',
    })
    await eventually(async () =>
      (await metrics()).includes(`aldis_carrier_out_of_use{carrier="${service.carrier}"} 1`),
    )
    expect(await conditions()).toEqual([
      [service.carrier, 'out-of-use', 0],
      [backupCarrier, 'usable', 100],
    ])
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    expect([main.submits.length, backup.submits.length]).toEqual([10, 1])
    const { routeReason } = await service.admin('GET', `/messages/${msgId}`)
    expect(routeReason).toContain(`${service.carrier} (out of use)`)
    expect(service.logs.filter((line) => line.includes('below its quality floor'))).toHaveLength(1)

    aheadMs = FLOOR.pauseMinutes * MINUTE_MS
    await service.until(await service.sent(), 'SENT')
    expect([main.submits.length, backup.submits.length]).toEqual([11, 1])
    expect(await pauses()).toEqual([])
  })

  test('of receipts, after a restart of the node too', async () => {
    const long = await service.sent({ body: 'long '.repeat(50) })
    await service.until(long, 'SENT')
    await sendAll(1, 'UNDELIV')
    await service.restart()
    expect((await figures()).messages).toMatchObject({ sent: 2, failed: 1, delivered: 0, missing: 0 })
    for (const index of [0, 1]) await main.receipt(`m-${index}`, 'UNKNOWN')
    await service.until(long, 'UNKNOWN')
    for (const index of [0, 1]) await main.receipt(`m-${index}`, 'DELIVRD')
    await service.until(long, 'DELIVERED')
    await eventually(async () => (await figures()).messages.delivered === 1)
    expect((await figures()).messages).toMatchObject({ sent: 2, delivered: 1, failed: 1, unknown: 0 })
    expect((await figures()).messages.deliveryRate).toBe(50)
    aheadMs = 15 * MINUTE_MS
    await service.until(await service.sent(), 'SENT')
    await eventually(async () => (await figures()).messages.sent === 3)
    expect((await figures()).messages.missing).toBe(1)
    expect(await metrics()).toContain(`aldis_receipts_missing{carrier="${service.carrier}"} 1`)
  })
})

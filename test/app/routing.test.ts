import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually, type Service } from '../support/service.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'
import { tenantPerTest } from '../support/tenant-per-test.ts'

const TO_GB = '+447400123456'
const TO_SE = '+46701234567'

let main: Smsc
let uk: Smsc
let service: Service
/** The carrier at `uk`, and the route that prefers it. */
let ukCarrier: string
let ukRoute: string
/** Of the test, deleted after it: they hold for all plans. */
const ruleIds: string[] = []

tenantPerTest({ webhooks: false }, (...own) => {
  ;[service, main] = own
})

beforeEach(async () => {
  uk = await startSmsc()
  ukCarrier = await service.anotherCarrier(uk.port)
  ukRoute = `uk-${service.route}`
  const carriers = [{ carrier: ukCarrier }, { carrier: service.carrier, priority: 1 }]
  await service.admin('POST', '/routes', { name: ukRoute, carriers })
})

afterEach(async () => {
  for (const ruleId of ruleIds.splice(0)) await service.admin('DELETE', `/routing-rules/${ruleId}`)
  await uk[Symbol.asyncDispose]()
})

async function ruleToUk(fields: Record<string, unknown>): Promise<string> {
  const { ruleId } = await service.admin('POST', '/routing-rules', { ...fields, route: ukRoute })
  ruleIds.push(ruleId)
  return ruleId
}

/** Sends, waits until it is submitted; gives the carrier that got it, and why. */
async function routeOf(to: string): Promise<{ carrier: string; reason: string }> {
  const msgId = await service.sent({ to })
  await service.until(msgId, 'SENT')
  await service.recorded(msgId)
  const { rows } = await service.db.query<{ carrier: string; reason: string }>(
    `select c.name as carrier, m.route_reason as reason
     from messages m join carriers c on c.id = m.carrier_id where m.msg_id = $1`,
    [msgId],
  )
  return rows[0]!
}

function explain(to: string) {
  const query = new URLSearchParams({ servicePlanId: service.servicePlanId, from: 'Aldis', to })
  return service.admin('GET', `/route-explanation?${query}`)
}

describe('a routing rule', () => {
  test('leads what fits over its route, by the next message, and stops when it is deleted', async () => {
    expect(await routeOf(TO_GB)).toEqual({
      carrier: service.carrier,
      reason: `plan's route ${service.route}: only carrier`,
    })
    await ruleToUk({ country: 'GB' })
    expect(await routeOf(TO_GB)).toEqual({
      carrier: ukCarrier,
      reason: `rule GB → route ${ukRoute}: first by priority`,
    })
    expect(await routeOf(TO_SE)).toMatchObject({ carrier: service.carrier })
    expect(uk.submits.map((pdu) => pdu.destination_addr)).toEqual([TO_GB.slice(1)])
    await service.admin('DELETE', `/routing-rules/${ruleIds.pop()}`)
    expect(await routeOf(TO_GB)).toMatchObject({ carrier: service.carrier })
  })

  test('goes by the network that the number ranges say, and the record has it', async () => {
    await service.admin('PUT', '/number-ranges/+447400', { mccmnc: '23415' })
    await ruleToUk({ mccmnc: '23415' })
    const msgId = await service.sent({ to: TO_GB })
    expect(await service.until(msgId, 'SENT')).toMatchObject({ mccmnc: '23415' })
    expect(uk.submits).toHaveLength(1)
    expect(await routeOf('+447401123456')).toMatchObject({ carrier: service.carrier })
  })

  test('is explained as it happens, whatever the carriers do', async () => {
    await ruleToUk({ country: 'GB' })
    const before = await explain(TO_GB)
    expect(before).toMatchObject({
      route: ukRoute,
      problems: [],
      carriers: [
        { carrier: ukCarrier, condition: 'usable', share: 100 },
        { carrier: service.carrier, condition: 'usable', share: 0 },
      ],
    })
    expect(await routeOf(TO_GB)).toEqual({ carrier: ukCarrier, reason: before.carriers[0].reason })

    await service.admin('PATCH', `/carriers/${ukCarrier}`, { state: 'stopped' })
    const stopped = await explain(TO_GB)
    expect(stopped.carriers).toMatchObject([
      { condition: 'stopped', share: 0, reason: null },
      { condition: 'usable', share: 100, reason: `rule GB → route ${ukRoute}: after ${ukCarrier} (stopped)` },
    ])
    expect(await routeOf(TO_GB)).toEqual({ carrier: service.carrier, reason: stopped.carriers[1].reason })

    await service.admin('PATCH', `/carriers/${ukCarrier}`, { state: 'started' })
    await eventually(async () => (await explain(TO_GB)).carriers[0].condition === 'usable')
    expect(await routeOf(TO_GB)).toMatchObject({ carrier: ukCarrier })
  })

  test('a message waits while its route has no carrier, and takes the rule of the moment', async () => {
    await service.admin('PATCH', `/routes/${ukRoute}`, { carriers: [{ carrier: ukCarrier }] })
    const ruleId = await ruleToUk({ country: 'GB' })
    await service.admin('PATCH', `/carriers/${ukCarrier}`, { state: 'stopped' })
    const msgId = await service.sent({ to: TO_GB })
    expect((await service.get(msgId)).body.status).toBe('QUEUED')
    await service.admin('PATCH', `/routing-rules/${ruleId}`, { route: service.route })
    await service.until(msgId, 'SENT')
    expect(main.submits.map((pdu) => pdu.destination_addr)).toEqual([TO_GB.slice(1)])
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CARRIER, eventually, ROUTE, type Service, startService } from '../support/service.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'

const TO_GB = '+447400123456'
const TO_SE = '+46701234567'

let main: Smsc
let uk: Smsc
let service: Service

beforeEach(async () => {
  main = await startSmsc()
  uk = await startSmsc()
  service = await startService({
    smscPort: main.port,
    webhooks: false,
    app: { linkTimings: { backoffMs: 20, responseTimeoutMs: 1_000 } },
  })
  await service.admin('POST', '/carriers', {
    name: 'uk-carrier',
    host: '127.0.0.1',
    port: uk.port,
    systemId: 'aldis',
    password: 'secret',
  })
  await uk.bound()
  const carriers = [{ carrier: 'uk-carrier' }, { carrier: CARRIER, priority: 1 }]
  await service.admin('POST', '/routes', { name: 'uk', carriers })
})

afterEach(async () => {
  await service[Symbol.asyncDispose]()
  await main[Symbol.asyncDispose]()
  await uk[Symbol.asyncDispose]()
})

/** Sends, waits until it is submitted; gives the carrier that got it, and why. */
async function routeOf(to: string): Promise<{ carrier: string; reason: string }> {
  const msgId = await service.sent({ to })
  await service.until(msgId, 'SENT')
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
    expect(await routeOf(TO_GB)).toEqual({ carrier: CARRIER, reason: `plan's route ${ROUTE}: only carrier` })
    const rule = await service.admin('POST', '/routing-rules', { country: 'GB', route: 'uk' })
    expect(await routeOf(TO_GB)).toEqual({
      carrier: 'uk-carrier',
      reason: 'rule GB → route uk: first by priority',
    })
    expect(await routeOf(TO_SE)).toMatchObject({ carrier: CARRIER })
    expect(uk.submits.map((pdu) => pdu.destination_addr)).toEqual([TO_GB.slice(1)])
    await service.admin('DELETE', `/routing-rules/${rule.ruleId}`)
    expect(await routeOf(TO_GB)).toMatchObject({ carrier: CARRIER })
  })

  test('goes by the network that the number ranges say, and the record has it', async () => {
    await service.admin('PUT', '/number-ranges/+447400', { mccmnc: '23415' })
    await service.admin('POST', '/routing-rules', { mccmnc: '23415', route: 'uk' })
    const msgId = await service.sent({ to: TO_GB })
    expect(await service.until(msgId, 'SENT')).toMatchObject({ mccmnc: '23415' })
    expect(uk.submits).toHaveLength(1)
    expect(await routeOf('+447401123456')).toMatchObject({ carrier: CARRIER })
  })

  test('is explained as it happens, whatever the carriers do', async () => {
    await service.admin('POST', '/routing-rules', { country: 'GB', route: 'uk' })
    const before = await explain(TO_GB)
    expect(before).toMatchObject({
      route: 'uk',
      problems: [],
      carriers: [
        { carrier: 'uk-carrier', condition: 'usable', share: 100 },
        { carrier: CARRIER, condition: 'usable', share: 0 },
      ],
    })
    expect(await routeOf(TO_GB)).toEqual({ carrier: 'uk-carrier', reason: before.carriers[0].reason })

    await service.admin('PATCH', '/carriers/uk-carrier', { state: 'stopped' })
    const stopped = await explain(TO_GB)
    expect(stopped.carriers).toMatchObject([
      { condition: 'stopped', share: 0, reason: null },
      { condition: 'usable', share: 100, reason: 'rule GB → route uk: after uk-carrier (stopped)' },
    ])
    expect(await routeOf(TO_GB)).toEqual({ carrier: CARRIER, reason: stopped.carriers[1].reason })

    await service.admin('PATCH', '/carriers/uk-carrier', { state: 'started' })
    await eventually(async () => (await explain(TO_GB)).carriers[0].condition === 'usable')
    expect(await routeOf(TO_GB)).toMatchObject({ carrier: 'uk-carrier' })
  })

  test('a message waits while its route has no carrier, and takes the rule of the moment', async () => {
    await service.admin('PATCH', `/routes/uk`, { carriers: [{ carrier: 'uk-carrier' }] })
    const rule = await service.admin('POST', '/routing-rules', { country: 'GB', route: 'uk' })
    await service.admin('PATCH', '/carriers/uk-carrier', { state: 'stopped' })
    const msgId = await service.sent({ to: TO_GB })
    expect((await service.get(msgId)).body.status).toBe('QUEUED')
    await service.admin('PATCH', `/routing-rules/${rule.ruleId}`, { route: ROUTE })
    await service.until(msgId, 'SENT')
    expect(main.submits.map((pdu) => pdu.destination_addr)).toEqual([TO_GB.slice(1)])
  })
})

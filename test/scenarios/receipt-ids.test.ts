import { expect } from 'vitest'
import type { RawPeer } from '../smpp/raw-peer.ts'
import { bindsOf, eventually, type Service, startService } from '../support/service.ts'
import { ESME_ROK, type Smsc } from '../support/smsc.ts'
import {
  overOneSession,
  scenario as plainScenario,
  type Stage,
  shown,
  stage,
  startOddSmsc,
  submitted,
} from './stage.ts'

const own = stage()
const { scenario } = own

type IdRule = 'exact' | 'normalised' | 'decimal-hex' | 'hex-decimal' | 'auto'

/** Sets the carrier's rule, which does not touch its session, until `work` is done. */
async function under(idRule: IdRule, work: () => Promise<void>): Promise<void> {
  await overOneSession(own, async () => {
    await own.service.admin('PATCH', '/carriers/main', { idRule })
    await work()
    await own.service.admin('PATCH', '/carriers/main', { idRule: 'exact' })
  })
}

/** A message accepted under the first id. */
function acceptedAs(id: string, fields: Record<string, unknown> = {}): Promise<{ msgId: string }> {
  own.smsc.on('submit_sm', (pdu, peer) => own.smsc.accept(pdu, peer, id))
  return submitted(own, fields)
}

/** Messages accepted under one spelling of their id are DELIVERED by receipts under the other. */
async function matched(pairs: readonly (readonly [submitted: string, receipted: string])[]): Promise<void> {
  for (const [accepted, receipted] of pairs) {
    const { msgId } = await acceptedAs(accepted)
    expect(await own.smsc.receipt(receipted, 'DELIVRD')).toBe(ESME_ROK)
    await own.service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  }
}

scenario('B360', async () => {
  const ids = [
    '18446744073709551615',
    '4062581461565934000241',
    '9007199254740993',
    'f47ac10b-58cc-4372-a567-0e02b2c3d479',
  ]
  await matched(ids.map((id) => [id, id]))
  // One apart, which a floating-point number cannot tell.
  const { msgId } = await acceptedAs('9007199254740995')
  expect(await own.smsc.receipt('9007199254740996', 'DELIVRD')).toBe(ESME_ROK)
  expect((await own.service.get(msgId)).body.status).toBe('SENT')
  await under('decimal-hex', () => matched([['fffffffffffffffe', '18446744073709551614']]))
})

scenario('M17', () =>
  under('decimal-hex', () =>
    matched([
      ['1F4A', '8010'],
      ['0001f4b', '0000008011'],
      ['DEADBEEFCAFE0001', '16045690984503050241'],
      ['not-a-number', 'NOT-A-NUMBER'],
    ]),
  ),
)

scenario('M18', () =>
  under('hex-decimal', () =>
    matched([
      ['9010', '2332'],
      ['0000009011', '00002333'],
      ['16045690984503050242', 'DEADBEEFCAFE0002'],
      ['still-not-a-number', 'STILL-NOT-A-NUMBER'],
    ]),
  ),
)

scenario('M19', () =>
  under('normalised', () =>
    matched([
      ['0000abc1', 'ABC1'],
      ['ABC2', '00abc2'],
      ['0', '0000'],
      ['0e999f21-81ef-4974-a414-3de98174e3c7', 'E999F21-81EF-4974-A414-3DE98174E3C7'],
    ]),
  ),
)

scenario('M20', () =>
  under('auto', async () => {
    const { smsc, service } = own
    const hex = (id: number) => id.toString(16).toUpperCase()
    // 0x5010 is 20496 and 0x20496 is 132246: until a rule is known, a receipt for 20496 may be of either.
    const [doubtful, double] = [(await acceptedAs('5010')).msgId, (await acceptedAs('20496')).msgId]
    expect(await smsc.receipt('20496', 'DELIVRD')).toBe(ESME_ROK)
    expect((await service.get(doubtful)).body.status).toBe('SENT')
    const messages: string[] = []
    for (let id = 700_001; id < 700_006; id += 1) {
      const { msgId } = await acceptedAs(hex(id))
      messages.push(msgId)
      expect(await smsc.receipt(String(id), 'DELIVRD')).toBe(ESME_ROK)
    }
    for (const msgId of messages) await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    await eventually(
      async () => (await service.admin('GET', '/carriers/main')).learnedIdRule === 'decimal-hex',
    )
    await service.untilWebhooks(doubtful, ['SENT', 'DELIVERED'])
    expect(await smsc.receipt('132246', 'DELIVRD')).toBe(ESME_ROK)
    await service.untilWebhooks(double, ['SENT', 'DELIVERED'])
  }),
)

scenario('M33', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const [anna, ben] = ['+15551230001', '+15551230002']
    const older = await acceptedAs('again', { to: anna })
    const newer = await acceptedAs('again', { to: ben })
    const from = (source_addr: string) => ({ source_addr: source_addr.slice(1) })
    expect(await smsc.receipt('again', 'UNDELIV', from(anna))).toBe(ESME_ROK)
    await service.untilWebhooks(older.msgId, ['SENT', 'FAILED'])
    expect((await service.get(newer.msgId)).body.status).toBe('SENT')
    expect(await smsc.receipt('again', 'DELIVRD', from(ben))).toBe(ESME_ROK)
    await service.untilWebhooks(newer.msgId, ['SENT', 'DELIVERED'])
    // To the same recipient: the newest that has not ended, then the one before it.
    const first = await acceptedAs('thrice', { to: anna })
    const second = await acceptedAs('thrice', { to: anna })
    expect(await smsc.receipt('thrice', 'DELIVRD', from(anna))).toBe(ESME_ROK)
    await service.untilWebhooks(second.msgId, ['SENT', 'DELIVERED'])
    expect((await service.get(first.msgId)).body.status).toBe('SENT')
    expect(await smsc.receipt('thrice', 'DELIVRD', from(anna))).toBe(ESME_ROK)
    await service.untilWebhooks(first.msgId, ['SENT', 'DELIVERED'])
  }),
)

/** Receipts of everything that was accepted, each over another session than its submit. */
async function crossed(smsc: Smsc, service: Service, count: number): Promise<void> {
  const taken: { id: string; peer: RawPeer }[] = []
  smsc.on('submit_sm', (pdu, peer) => {
    smsc.accept(pdu, peer)
    taken.push({ id: smsc.ids.at(-1)!, peer })
  })
  const ids: string[] = []
  for (let index = 0; index < count; index += 1) ids.push(await service.sent())
  for (const msgId of ids) await service.until(msgId, 'SENT')
  for (const { id, peer } of taken) {
    const other = smsc.boundNow.find((bound) => bound !== peer)!
    expect(await smsc.receipt(id, 'DELIVRD', {}, other)).toBe(ESME_ROK)
  }
  for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
}

plainScenario('M62', async () => {
  await using smsc = await startOddSmsc()
  await using service = await startService({
    smscPort: smsc.port,
    carrier: { binds: 2 },
    app: { heartbeatMs: 100 },
  })
  await eventually(() => smsc.boundNow.length === 2)
  await crossed(smsc, service, 6)
  await service.startNode({ nodeName: 'node-b' })
  await eventually(async () => new Set(Object.values(await bindsOf(service))).size === 2)
  await eventually(() => smsc.boundNow.length === 2)
  await crossed(smsc, service, 6)
})

/** Another tenant, with its own receiver. */
async function anotherTenant({ service }: Stage) {
  const receiver = await service.anotherReceiver()
  const { accountId } = await service.admin('POST', '/accounts', {
    name: 'Other',
    defaultDlrUrl: `${receiver.origin}/dlr`,
  })
  const plan = { accountId, name: 'Other', route: 'default' }
  const { servicePlanId } = await service.admin('POST', '/service-plans', plan)
  await service.admin('PUT', `/service-plans/${servicePlanId}/senders/Other`, { status: 'approved' })
  const { token } = await service.admin('POST', '/tokens', { accountId, name: 'other' })
  const request = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(`${service.app.url}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as { msgId: string; status: string } }
  }
  return { receiver, servicePlanId, request }
}

scenario('M64', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const other = await anotherTenant(own)
    const { msgId, id } = await submitted(own)
    const { servicePlanId } = other
    const message = { servicePlanId, channel: 'SMS', from: 'Other', to: '+15551230000', body: 'theirs' }
    const theirs = (await other.request('POST', '/v1/sendsms', message)).body.msgId
    const record = () =>
      other
        .request('GET', `/v1/messages/sms/${theirs}?servicePlanId=${servicePlanId}`)
        .then(({ body }) => body)
    await eventually(async () => (await record()).status === 'SENT')
    // To another destination than the first message's, so it may come behind both webhooks of that.
    await eventually(() => other.receiver.received.length > 0)
    const before = await record()

    expect(await smsc.receipt(id, 'UNDELIV')).toBe(ESME_ROK)
    await service.untilWebhooks(msgId, ['SENT', 'FAILED'])
    expect(await record()).toEqual(before)
    expect(other.receiver.received.map(({ body }) => JSON.parse(body).msgId)).toEqual([theirs])
    for (const plan of [servicePlanId, service.servicePlanId]) {
      const found = await other.request('GET', `/v1/messages/sms/${msgId}?servicePlanId=${plan}`)
      expect(found.status).toBeGreaterThanOrEqual(403)
    }

    expect(await smsc.receipt((await shown(own, theirs)).submissions[0].carrierMessageId, 'DELIVRD')).toBe(0)
    await eventually(async () => (await record()).status === 'DELIVERED')
    expect((await service.get(msgId)).body.status).toBe('FAILED')
    expect(service.statuses(theirs)).toEqual([])
    expect(service.statuses(msgId)).toEqual(['SENT', 'FAILED'])
  }),
)

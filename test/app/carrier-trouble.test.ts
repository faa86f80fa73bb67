import { describe, expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { CARRIER, eventually, linkState, ROUTE, type Service, startService } from '../support/service.ts'
import { accept, startSmsc } from '../support/smsc.ts'

const WINDOW = 10

function untilBound(service: Service, carrier = CARRIER): Promise<unknown> {
  return eventually(async () =>
    (await linkState(service, carrier)).split(', ').every((s) => s.startsWith('BOUND')),
  )
}

async function untilDown(service: Service): Promise<unknown> {
  return eventually(async () => !(await linkState(service)).includes('BOUND'))
}

describe('a link that breaks', () => {
  test('with messages in the window: all of them are delivered in the end', async () => {
    await using service = await startService()
    service.simulator.faults.dropAfterSubmits = 37
    const ids = await Promise.all(Array.from({ length: 100 }, () => service.sent()))
    for (const msgId of ids) await service.until(msgId, 'DELIVERED')
    for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    // Those whose answer was lost may be there twice; never more than a window of them.
    expect(service.simulator.submissions.length - 100).toBeLessThanOrEqual(WINDOW)
  })

  test('while it is down messages are accepted, and flow when it is back', async () => {
    await using service = await startService()
    service.simulator.faults.refuseBindsWith = STATUSES.ESME_RBINDFAIL
    service.simulator.dropConnections()
    await untilDown(service)
    const ids = await Promise.all(Array.from({ length: 20 }, () => service.sent()))
    expect((await service.get(ids[0]!)).body.status).toBe('QUEUED')
    expect(service.simulator.submissions).toHaveLength(0)
    service.simulator.faults.clear()
    for (const msgId of ids) await service.until(msgId, 'DELIVERED')
    expect(service.simulator.submissions).toHaveLength(20)
  })

  test('receipts that wait at the carrier come with the next bind', async () => {
    await using service = await startService()
    service.simulator.faults.holdReceipts = true
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    service.simulator.faults.refuseBindsWith = STATUSES.ESME_RBINDFAIL
    service.simulator.dropConnections()
    service.simulator.faults.holdReceipts = false
    await untilDown(service)
    service.simulator.faults.refuseBindsWith = null
    await service.until(msgId, 'DELIVERED')
  })

  test('validity over while no carrier is there: FAILED 501', async () => {
    await using service = await startService({ bound: false, carrier: { state: 'stopped' } })
    const msgId = await service.sent()
    await service.db.query('update dispatches set expires_at = now()')
    const record = await service.until(msgId, 'FAILED')
    expect(record.errorCode).toBe('501')
    await service.untilWebhooks(msgId, ['FAILED'])
  })
})

test('validity over, and no route any more: FAILED 101', async () => {
  await using service = await startService({ bound: false, carrier: { state: 'stopped' } })
  const msgId = await service.sent()
  await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { route: null })
  await service.db.query('update dispatches set expires_at = now()')
  expect((await service.until(msgId, 'FAILED')).errorCode).toBe('101')
})

describe('settings changed at run time', () => {
  test('another port: unbound there, bound here, messages follow', async () => {
    await using service = await startService()
    await using smsc = await startSmsc()
    await service.until(await service.sent(), 'DELIVERED')
    await service.admin('PATCH', `/carriers/${CARRIER}`, { port: smsc.port })
    await smsc.bound()
    await eventually(() => service.simulator.binds.length === 0)
    await service.until(await service.sent(), 'SENT')
    expect(smsc.submits).toHaveLength(1)
  })

  test('in the middle of a flow nothing is lost and nothing is sent twice', async () => {
    await using service = await startService()
    const ids: string[] = []
    for (let round = 0; round < 5; round += 1) {
      const sending = Promise.all(Array.from({ length: 20 }, () => service.sent()))
      await service.admin('PATCH', `/carriers/${CARRIER}`, { messagesPerSecond: 1_000 + round })
      ids.push(...(await sending))
    }
    for (const msgId of ids) await service.until(msgId, 'DELIVERED')
    expect(service.simulator.submissions).toHaveLength(100)
  })

  test('switched off and on again', async () => {
    await using service = await startService()
    await service.admin('PATCH', `/carriers/${CARRIER}`, { state: 'stopped' })
    await eventually(() => service.simulator.binds.length === 0)
    const msgId = await service.sent()
    await service.admin('PATCH', `/carriers/${CARRIER}`, { state: 'started' })
    await service.until(msgId, 'DELIVERED')
  })
})

describe('bind modes', () => {
  test('transmitter+receiver: submits over one, receipts and MO over the other', async () => {
    await using service = await startService({ carrier: { bindMode: 'transmitter+receiver' } })
    await untilBound(service)
    const modes = service.simulator.binds.map(({ mode }) => mode).sort()
    expect(modes).toEqual(['bind_receiver', 'bind_transmitter'])
    const msgId = await service.sent()
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    await service.simulator.sendInbound({
      from: '+15550002222',
      to: '+15550001000',
      body: 'over the receiver',
    })
    const mo = await service.receiver.next(({ path }) => path === '/mo')
    expect(JSON.parse(mo.body).body).toBe('over the receiver')
  })
})

describe('two carriers on a route', () => {
  test('by priority; the other one takes over while the first is down, and gives back', async () => {
    await using spare = await startSmsc()
    await using service = await startService({ carrier: { window: WINDOW } })
    await service.admin('POST', '/carriers', {
      name: 'spare',
      host: '127.0.0.1',
      port: spare.port,
      systemId: 'aldis',
      password: 'secret',
    })
    await service.admin('PATCH', `/routes/${ROUTE}`, {
      carriers: [
        { carrier: CARRIER, priority: 0 },
        { carrier: 'spare', priority: 1 },
      ],
    })
    await untilBound(service, 'spare')
    await service.until(await service.sent(), 'DELIVERED')
    expect(spare.submits).toHaveLength(0)

    service.simulator.faults.refuseBindsWith = STATUSES.ESME_RBINDFAIL
    service.simulator.dropConnections()
    await untilDown(service)
    const ids = await Promise.all(Array.from({ length: 20 }, () => service.sent()))
    for (const msgId of ids) await service.until(msgId, 'SENT')
    expect(spare.submits).toHaveLength(20)

    service.simulator.faults.clear()
    await untilBound(service)
    await service.until(await service.sent(), 'DELIVERED')
    expect(spare.submits).toHaveLength(20)
  })

  test('what waits for a carrier that goes down moves to the other', async () => {
    await using stuck = await startSmsc()
    stuck.answerSubmits(() => undefined)
    await using service = await startService({ carrier: { window: 1 }, smscPort: stuck.port })
    await stuck.bound()
    const ids = await Promise.all(Array.from({ length: 10 }, () => service.sent()))
    await eventually(() => stuck.submits.length === 1)
    await service.admin('POST', '/carriers', {
      name: 'spare',
      host: '127.0.0.1',
      port: service.simulator.port,
      systemId: 'aldis',
      password: 'secret',
    })
    await service.admin('PATCH', `/routes/${ROUTE}`, {
      carriers: [
        { carrier: CARRIER, priority: 0 },
        { carrier: 'spare', priority: 1 },
      ],
    })
    await untilBound(service, 'spare')
    stuck.answerBinds(() => STATUSES.ESME_RBINDFAIL)
    await (await stuck.bound()).unbind()
    for (const msgId of ids) await service.until(msgId, 'DELIVERED')
    expect(stuck.submits).toHaveLength(1)
    expect(service.simulator.submissions).toHaveLength(10)
  })
})

describe('a node that stops', () => {
  test('waits for the answers under way, then unbinds; nothing is sent twice', async () => {
    await using smsc = await startSmsc()
    await using service = await startService({ smscPort: smsc.port })
    const answers: (() => void)[] = []
    smsc.answerSubmits((pdu, link, index) => answers.push(() => accept(pdu, link, `m-${index}`)))
    const ids = await Promise.all(Array.from({ length: 15 }, () => service.sent()))
    await eventually(() => answers.length === WINDOW)
    const stopped = service.app.stop()
    // No second stop ends before the first.
    const again = service.app.stop()
    for (const answer of answers) answer()
    await Promise.all([stopped, again])
    expect(smsc.submits).toHaveLength(WINDOW)
    const { rows } = await service.db.query('select holder, ambiguous from dispatches')
    expect(rows).toEqual(Array.from({ length: 5 }, () => ({ holder: null, ambiguous: false })))
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    await service.restart()
    for (const msgId of ids) await service.until(msgId, 'SENT')
    expect(smsc.submits).toHaveLength(15)
  })

  test('of what is never answered it keeps note: sent again by the next, after the wait', async () => {
    await using smsc = await startSmsc()
    await using service = await startService({ smscPort: smsc.port, app: { drainTimeoutMs: 500 } })
    smsc.answerSubmits(() => undefined)
    const msgId = await service.sent()
    await eventually(() => smsc.submits.length === 1)
    await service.app.stop()
    const { rows } = await service.db.query('select holder, ambiguous from dispatches')
    expect(rows).toEqual([{ holder: null, ambiguous: true }])
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    await service.restart()
    await service.until(msgId, 'SENT')
  })
})

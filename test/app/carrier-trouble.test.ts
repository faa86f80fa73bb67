import { describe, expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually, linkState, type Service } from '../support/service.ts'
import { accept, startSmsc } from '../support/smsc.ts'
import { serviceOfFile } from '../support/tenant-per-test.ts'

const WINDOW = 10
/** Longer than any test: what ends before it has not waited for it. */
const LONG_DRAIN_MS = 60_000

const { tenant } = serviceOfFile()

function untilBound(service: Service, carrier = service.carrier): Promise<unknown> {
  return eventually(async () =>
    (await linkState(service, carrier)).split(', ').every((s) => s.startsWith('BOUND')),
  )
}

async function untilDown(service: Service): Promise<unknown> {
  return eventually(async () => !(await linkState(service, service.carrier)).includes('BOUND'))
}

/** The message's validity is over. */
function expire(service: Service, msgId: string): Promise<unknown> {
  return service.db.query('update dispatches set expires_at = now() where msg_id = $1', [msgId])
}

/** What of the tenant waits to be submitted. */
async function dispatches(service: Service): Promise<{ ambiguous: boolean }[]> {
  const { rows } = await service.db.query('select ambiguous from dispatches where plan_id = $1', [
    await service.planKey(),
  ])
  return rows
}

async function attempts(service: Service, msgId: string): Promise<unknown[]> {
  await service.recorded(msgId)
  const { rows } = await service.db.query(
    'select outcome, resubmission from submit_attempts where msg_id = $1 order by attempted_at',
    [msgId],
  )
  return rows
}

describe('a link that breaks', () => {
  test('receipts that wait at the carrier come with the next bind', async () => {
    await using service = await tenant()
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
})

// At once, since a node looks for them every 5 s.
describe.concurrent('validity over', () => {
  test('while no carrier is there: FAILED 501', async () => {
    await using service = await tenant({ bound: false, carrier: { state: 'stopped' } })
    const msgId = await service.sent()
    await expire(service, msgId)
    const record = await service.until(msgId, 'FAILED')
    expect(record.errorCode).toBe('501')
    await service.untilWebhooks(msgId, ['FAILED'])
  })

  test('and there is no route any more: FAILED 101', async () => {
    await using service = await tenant({ bound: false, carrier: { state: 'stopped' } })
    const msgId = await service.sent()
    await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { route: null })
    await expire(service, msgId)
    expect((await service.until(msgId, 'FAILED')).errorCode).toBe('101')
  })
})

describe('settings changed at run time', () => {
  test('another port: unbound there, bound here, messages follow', async () => {
    await using service = await tenant()
    await using smsc = await startSmsc()
    await service.until(await service.sent(), 'DELIVERED')
    await service.admin('PATCH', `/carriers/${service.carrier}`, { port: smsc.port })
    await smsc.bound()
    await eventually(() => service.simulator.binds.length === 0)
    await service.until(await service.sent(), 'SENT')
    expect(smsc.submits).toHaveLength(1)
  })

  test('in the middle of a flow nothing is lost and nothing is sent twice', async () => {
    await using service = await tenant()
    const ids: string[] = []
    for (let round = 0; round < 5; round += 1) {
      const sending = Promise.all(Array.from({ length: 20 }, () => service.sent()))
      await service.admin('PATCH', `/carriers/${service.carrier}`, { messagesPerSecond: 1_000 + round })
      ids.push(...(await sending))
    }
    for (const msgId of ids) await service.until(msgId, 'DELIVERED')
    expect(service.simulator.submissions).toHaveLength(100)
  })
})

describe('bind modes', () => {
  test('transmitter+receiver: submits over one, receipts and MO over the other', async () => {
    await using service = await tenant({ carrier: { bindMode: 'transmitter+receiver' } })
    await untilBound(service)
    const modes = service.simulator.binds.map(({ mode }) => mode).sort()
    expect(modes).toEqual(['bind_receiver', 'bind_transmitter'])
    const msgId = await service.sent()
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    await service.simulator.sendInbound({
      from: '+15550002222',
      to: service.inboundNumber,
      body: 'over the receiver',
    })
    const mo = await service.receiver.next(({ path }) => path === '/mo')
    expect(JSON.parse(mo.body).body).toBe('over the receiver')
  })
})

describe('two carriers on a route', () => {
  test('what waits for a carrier that goes down moves to the other', async () => {
    await using stuck = await startSmsc()
    stuck.answerSubmits(() => undefined)
    await using service = await tenant({ carrier: { window: 1 }, smscPort: stuck.port })
    await stuck.bound()
    const ids = await Promise.all(Array.from({ length: 10 }, () => service.sent()))
    await eventually(() => stuck.submits.length === 1)
    const carrier = await service.anotherCarrier(service.simulator.port)
    await service.admin('PATCH', `/routes/${service.route}`, {
      carriers: [
        { carrier: service.carrier, priority: 0 },
        { carrier, priority: 1 },
      ],
    })
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
    await using service = await tenant({ smscPort: smsc.port })
    await service.restart({ drainTimeoutMs: LONG_DRAIN_MS })
    const answers: (() => void)[] = []
    smsc.answerSubmits((pdu, link, index) => answers.push(() => accept(pdu, link, `m-${index}`)))
    const ids = await Promise.all(Array.from({ length: 15 }, () => service.sent()))
    await eventually(() => answers.length === WINDOW)
    const stopped = service.app.stop()
    // No second stop ends before the first.
    const again = service.app.stop()
    // It has begun to stop once it has requeued what the window has no room for.
    const rest = Array.from({ length: 5 }, () => ({ ambiguous: false }))
    await eventually(async () => (await dispatches(service)).length === rest.length)
    for (const answer of answers) answer()
    await Promise.all([stopped, again])
    expect(smsc.submits).toHaveLength(WINDOW)
    expect(await dispatches(service)).toEqual(rest)
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    await service.restart()
    for (const msgId of ids) await service.until(msgId, 'SENT')
    expect(smsc.submits).toHaveLength(15)
  })

  test('of what is never answered it keeps note: sent again by the next, after the wait', async () => {
    await using smsc = await startSmsc()
    await using service = await tenant({ smscPort: smsc.port })
    await service.restart({ drainTimeoutMs: 500 })
    smsc.answerSubmits(() => undefined)
    const msgId = await service.sent()
    await eventually(() => smsc.submits.length === 1)
    // The note is in the record; if the time to stop was up before that, in the journal, where the next node finds it.
    await service.app.stop()
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    await service.restart()
    await service.until(msgId, 'SENT')
    expect(await attempts(service, msgId)).toEqual([
      { outcome: 'no-answer', resubmission: false },
      { outcome: 'accepted', resubmission: true },
    ])
  })
})

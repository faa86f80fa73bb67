/** A node that cannot reach the database for longer than its lease lasts, while another node can. */
import { beforeEach, describe, expect, test } from 'vitest'
import { Relay } from '../faults/relay.ts'
import { otherNodes } from '../support/other-nodes.ts'
import { eventually, type Service } from '../support/service.ts'
import { accept, type Smsc } from '../support/smsc.ts'
import { tenantPerTest } from '../support/tenant-per-test.ts'

/** Longer than any test: who comes back knows, and nobody has to wait. */
const NEVER = { ambiguityWaitMs: 600_000 }

let smsc: Smsc
let service: Service
let relay: Relay

tenantPerTest({ app: { heartbeatMs: 100, ...NEVER } }, (...own) => {
  ;[service, smsc] = own
})

const others = otherNodes(() => service)

/** The first node reaches the database through the relay; nothing is tried again that may have been sent. */
beforeEach(async () => {
  const url = new URL(service.connectionString)
  relay = await Relay.start(Number(url.port))
  url.port = String(relay.port)
  await service.restart({ connectionString: url.href })
  await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { ambiguousSubmits: 'unknown' })
  await eventually(() => smsc.bindsNow === 1)
  return async () => {
    await service.restart()
    await relay.stop()
  }
})

/** Accepted by the other node, whose carrier is bound at the first: that one takes it, and the answer to that is lost. */
async function takenWithoutAnswer(url: string): Promise<string> {
  const body = 'taken without an answer'
  const lost = relay.swallow(body)
  const { servicePlanId, token } = service
  const answer = await fetch(`${url}/v1/sendsms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ servicePlanId, channel: 'SMS', from: 'Aldis', to: '+15551230000', body }),
  })
  const { msgId } = (await answer.json()) as { msgId: string }
  await lost
  return msgId
}

/** As if so much time had gone by that the other node has taken over what was the first's. */
async function takeOver(): Promise<void> {
  await service.db.query(`delete from nodes where name = 'node-a'`)
  await eventually(async () => (await others.shares())['node-b'] === 256)
}

describe('a node that could not reach the database for longer than its lease', () => {
  test('what it had not offered goes out, and what was answered meanwhile is SENT: nothing is in doubt', async () => {
    await others.join()
    const answers: (() => void)[] = []
    smsc.answerSubmits((pdu, link, index) => answers.push(() => accept(pdu, link, `m-${index}`)))
    const ids = await Promise.all(Array.from({ length: 40 }, () => service.sent()))
    await eventually(() => answers.length === 10)
    relay.refuse()
    for (const answer of answers) answer()
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    await takeOver()
    relay.thaw()
    for (const msgId of ids) await service.until(msgId, 'SENT')
    expect(smsc.submits).toHaveLength(40)
  })

  test('what it had taken without an answer was not offered, and is not in doubt', async () => {
    const node = await others.join()
    const msgId = await takenWithoutAnswer(node.url)
    relay.refuse()
    await takeOver()
    relay.thaw()
    await service.until(msgId, 'SENT')
    expect(smsc.submits).toHaveLength(1)
  })
})

test('what a node had taken without an answer is not in doubt when it stops in order', async () => {
  const node = await others.join()
  const msgId = await takenWithoutAnswer(node.url)
  relay.refuse()
  relay.thaw()
  await service.restart()
  await service.until(msgId, 'SENT')
  expect(smsc.submits).toHaveLength(1)
})

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { eventually, type Service, startService } from '../support/service.ts'
import { accept, type Smsc, startSmsc } from '../support/smsc.ts'

let smsc: Smsc
let service: Service
let node: App
let token: string

beforeEach(async () => {
  smsc = await startSmsc()
  service = await startService({ smscPort: smsc.port, app: { heartbeatMs: 100, holdingsMs: 200 } })
  await smsc.bound()
  const { accountId } = service
  token = (await service.admin('POST', '/tokens', { accountId, name: 'other node' })).token
  node = await service.startNode({ nodeName: 'node-b' })
  await eventually(async () => {
    const { rows } = await service.db.query(
      `select count(*)::integer as count from buckets b join nodes n using (node_id) where n.name = 'node-b'`,
    )
    return rows[0].count === 128
  })
})

afterEach(async () => {
  await service[Symbol.asyncDispose]()
  await smsc[Symbol.asyncDispose]()
})

/** Accepted by the second node, which has no bind: the carrier has one, and the first node holds it. */
async function sentThere(body: string): Promise<string> {
  const { servicePlanId } = service
  const answer = await fetch(`${node.url}/v1/sendsms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ servicePlanId, channel: 'SMS', from: 'Aldis', to: '+15551230000', body }),
  })
  const record = (await answer.json()) as { msgId: string }
  expect(answer.status, JSON.stringify(record)).toBe(202)
  return record.msgId
}

describe('a lease that ends', () => {
  test('what was sent waits and is flagged when it is repeated; what was never sent goes out as if nothing had been', async () => {
    await node.stop()
    const first = smsc.submits.length
    smsc.answerSubmits(() => undefined)
    const ids = await Promise.all(Array.from({ length: 30 }, () => service.sent()))
    await eventually(() => smsc.submits.length === first + 10)
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    await service.db.query("delete from nodes where name = 'node-a'")
    for (const msgId of ids) await service.until(msgId, 'SENT')
    const { rows } = await service.db.query(
      'select count(*)::integer as count from submit_attempts where resubmission',
    )
    expect(rows[0].count).toBe(10)
    expect(smsc.submits.length).toBe(first + 40)
  })
})

test('what a node merely held is never in doubt, though its lease lapsed and another took its buckets over', async () => {
  await service.restart({ ambiguityWaitMs: 60_000 })
  await node.stop()
  await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { ambiguousSubmits: 'unknown' })
  const before = smsc.submits.length
  smsc.answerSubmits(() => undefined)
  const ids = await Promise.all(Array.from({ length: 56 }, () => service.sent()))
  await eventually(() => smsc.submits.length === before + 10)
  smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
  // Its heartbeats fail from here on: it can neither renew its lease nor register again.
  await service.db.query(`alter table nodes add constraint silence check (name <> 'node-a') not valid`)
  await service.db.query(`delete from nodes where name = 'node-a'`)
  await service.startNode({ nodeName: 'node-c', ambiguityWaitMs: 60_000 })
  await service.db.query('alter table nodes drop constraint silence')
  await eventually(() => smsc.submits.length === before + 56)
  await eventually(async () => {
    const { rows } = await service.db.query(
      `select count(*)::integer as count from messages where status = 'SENT' and msg_id = any ($1)`,
      [ids],
    )
    return rows[0].count === 46
  })
  const { rows } = await service.db.query('select attempt, ambiguous from dispatches')
  expect(rows).toEqual(Array(10).fill({ attempt: 1, ambiguous: true }))
})

describe('a node without a bind', () => {
  test('keeps nothing in memory; what it accepts leaves over the node that has the bind, once', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, (_, count) => sentThere(`there ${count}`)))
    const { rows } = await service.db.query(
      `select 1 from dispatches d join nodes n on n.node_id = d.holder where n.name = 'node-b'`,
    )
    expect(rows).toEqual([])
    for (const msgId of ids) await service.until(msgId, 'SENT')
    expect(smsc.binds).toHaveLength(1)
    expect(smsc.submits).toHaveLength(30)
    for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT'])
  })

  test('what the other node holds and has not sent is not taken from it', async () => {
    const answers: (() => void)[] = []
    smsc.answerSubmits((pdu, link, index) => answers.push(() => accept(pdu, link, `m-${index}`)))
    // Those beyond the window wait in memory for longer than a node leaves overdue rows to others.
    const ids = await Promise.all(Array.from({ length: 40 }, () => service.sent()))
    const theirs = await sentThere('there')
    await eventually(async () => {
      const { rows } = await service.db.query('select 1 from dispatches where holder is null')
      return rows.length === 0
    })
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    for (const answer of answers) answer()
    for (const msgId of [...ids, theirs]) await service.until(msgId, 'SENT')
    expect(smsc.submits).toHaveLength(41)
  })
})

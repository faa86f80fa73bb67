import { describe, expect, test } from 'vitest'
import type { App } from '../../src/app/start.ts'
import { withTransaction } from '../../src/store/database.ts'
import { otherNodes } from '../support/other-nodes.ts'
import { eventually, type Service } from '../support/service.ts'
import { accept, type Smsc } from '../support/smsc.ts'
import { tenantPerTest } from '../support/tenant-per-test.ts'

let smsc: Smsc
let service: Service

tenantPerTest({ app: { heartbeatMs: 100 } }, (...own) => {
  ;[service, smsc] = own
})

const others = otherNodes(() => service)

/** Accepted by the other node, which has no bind: the carrier has one, and the first node holds it. */
async function sentAt(node: App, body: string): Promise<string> {
  const { servicePlanId, token } = service
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
    const first = smsc.submits.length
    smsc.answerSubmits(() => undefined)
    const ids = await Promise.all(Array.from({ length: 30 }, () => service.sent()))
    await eventually(() => smsc.submits.length === first + 10)
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    await service.db.query(`delete from nodes where name = 'node-a'`)
    for (const msgId of ids) await service.until(msgId, 'SENT')
    // Their attempts come with their records.
    await eventually(async () => {
      const { rows } = await service.db.query(
        'select from submit_attempts where resubmission and msg_id = any ($1)',
        [ids],
      )
      return rows.length === 10
    })
    expect(smsc.submits.length).toBe(first + 40)
  })
})

test('a message whose acceptance is under way when the lease of its node is lost and begun anew is submitted once', async () => {
  const before = smsc.submits.length
  const accepted = await withTransaction(service.db, async (transaction) => {
    await transaction.query('lock table journal in share mode')
    const sent = service.sent()
    await eventually(async () => {
      const { rows } = await service.db.query(
        `select 1 from pg_locks where relation = 'journal'::regclass and not granted`,
      )
      return rows.length > 0
    })
    await service.db.query(`delete from nodes where name = 'node-a'`)
    await eventually(async () => (await others.shares())['node-a'] === 256)
    return { sent }
  })
  const msgId = await accepted.sent
  await service.until(msgId, 'SENT')
  await service.untilWebhooks(msgId, ['SENT'])
  expect(smsc.submits).toHaveLength(before + 1)
})

describe('a node without a bind', () => {
  test('keeps nothing in memory; what it accepts leaves over the node that has the bind, once', async () => {
    const node = await others.join()
    const there = Array.from({ length: 30 }, (_, count) => sentAt(node, `there ${count}`))
    const ids = await Promise.all(there)
    const { rows } = await service.db.query(
      `select 1 from messages m join lanes l using (lane) join nodes n using (node_id) where n.name = 'node-b'`,
    )
    expect(rows).toEqual([])
    for (const msgId of ids) await service.until(msgId, 'SENT')
    expect(smsc.binds).toHaveLength(1)
    expect(smsc.submits).toHaveLength(30)
    for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT'])
  })

  test('what the other node holds and has not sent is not taken from it', async () => {
    const node = await others.join()
    const answers: (() => void)[] = []
    smsc.answerSubmits((pdu, link, index) => answers.push(() => accept(pdu, link, `m-${index}`)))
    // Those beyond the window wait in memory for longer than a node leaves overdue rows to others.
    const ids = await Promise.all(Array.from({ length: 40 }, () => service.sent()))
    const theirs = await sentAt(node, 'there')
    const plan = await service.planKey()
    await eventually(async () => {
      const { rows } = await service.db.query('select 1 from dispatches where plan_id = $1', [plan])
      return rows.length === 0
    })
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    for (const answer of answers) answer()
    for (const msgId of [...ids, theirs]) await service.until(msgId, 'SENT')
    expect(smsc.submits).toHaveLength(41)
  })
})

test('what a node merely held is never in doubt, though its lease lapsed and another took its buckets over', async () => {
  await service.restart({ ambiguityWaitMs: 60_000 })
  await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { ambiguousSubmits: 'unknown' })
  const before = smsc.submits.length
  smsc.answerSubmits(() => undefined)
  const ids = await Promise.all(Array.from({ length: 56 }, () => service.sent()))
  await eventually(() => smsc.submits.length === before + 10)
  smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
  // Its heartbeats fail from here on: it can neither renew its lease nor register again.
  await others.silence('node-a')
  await others.start({ ambiguityWaitMs: 60_000 })
  await others.speak()
  await eventually(() => smsc.submits.length === before + 56)
  await eventually(async () => {
    const { rows } = await service.db.query(
      `select count(*)::integer as count from messages where status = 'SENT' and msg_id = any ($1)`,
      [ids],
    )
    return rows[0].count === 46
  })
  const plan = await service.planKey()
  // Those that were on their way, whether that node could still say that they were not answered or not.
  await eventually(async () => {
    const { rows } = await service.db.query('select ambiguous from dispatches where plan_id = $1', [plan])
    return rows.length === 10 && rows.every(({ ambiguous }) => ambiguous)
  })
})

import { expect, test } from 'vitest'
import type { App } from '../../src/app/start.ts'
import { otherNodes } from '../support/other-nodes.ts'
import { eventually, type Service } from '../support/service.ts'
import { accept, type Smsc } from '../support/smsc.ts'
import { call } from '../support/tenant.ts'
import { tenantPerTest } from '../support/tenant-per-test.ts'

/** What becomes of messages when a standby is promoted that lacks the last entries of a lane. */

let smsc: Smsc
let service: Service

tenantPerTest({ app: { heartbeatMs: 100 } }, (...own) => {
  ;[service, smsc] = own
})

const others = otherNodes(() => service)

/** Takes the last entries of the lane away, and ends all connections, as such a failover does. */
async function loseLast(count: number): Promise<void> {
  const { rows } = await service.db.query(`
    select l.lane, max(j.n)::integer as last from lanes l join nodes using (node_id) join journal j using (lane)
    where name = 'node-a' group by l.lane`)
  const { lane, last } = rows[0]
  await service.db.query('delete from journal where lane = $1 and n > $2', [lane, last - count])
  await service.db.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)
}

async function sentAnew(): Promise<string> {
  return await eventually(async () => {
    const { status, body } = await service.send()
    return status === 202 && body.msgId
  })
}

async function statusOn({ url }: App, msgId: string): Promise<number> {
  const { servicePlanId, token } = service
  return (await call(`${url}/v1/messages/sms/${msgId}?servicePlanId=${servicePlanId}`, token)).status
}

test('another node shows what was accepted before and after, and has all of it when the first one dies', async () => {
  smsc.answerSubmits(() => undefined)
  const node = await others.join()
  const ids: string[] = []
  for (let count = 0; count < 4; count += 1) ids.push(await service.sent())
  await loseLast(3)
  for (let count = 0; count < 4; count += 1) ids.push(await sentAnew())
  expect(await Promise.all(ids.map((msgId) => statusOn(node, msgId)))).toEqual(ids.map(() => 200))
  smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
  await others.silence('node-a')
  for (const msgId of ids) await service.until(msgId, 'SENT')
  const { rows } = await service.db.query('select from messages where msg_id = any ($1)', [ids])
  expect(rows).toHaveLength(ids.length)
})

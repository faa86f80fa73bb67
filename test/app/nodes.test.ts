import { describe, expect, test } from 'vitest'
import { withTransaction } from '../../src/store/database.ts'
import { newId } from '../support/installation.ts'
import { otherNodes } from '../support/other-nodes.ts'
import { freePort } from '../support/process.ts'
import { bindsOf, eventually, type Service } from '../support/service.ts'
import { accept, type Smsc } from '../support/smsc.ts'
import { tenantPerTest } from '../support/tenant-per-test.ts'
import { acknowledge } from '../support/webhook-receiver.ts'

const HEARTBEAT_MS = 100
const POOL_SIZE = 6
/** In a quarter of the buckets, of which half move. */
const MESSAGES = 64

let smsc: Smsc
let service: Service

tenantPerTest({ app: { heartbeatMs: HEARTBEAT_MS, databasePoolSize: POOL_SIZE } }, (...own) => {
  ;[service, smsc] = own
})

const others = otherNodes(() => service)
const { shares, silence } = others

/** The lease of the node is over. */
async function expire(name: string): Promise<void> {
  await service.db.query('delete from nodes where name = $1', [name])
}

describe('two nodes', () => {
  test('share the buckets; when one stops the other has them all', async () => {
    const node = await others.join()
    expect(await shares()).toEqual({ 'node-a': 128, 'node-b': 128 })
    await node.stop()
    await eventually(async () => (await shares())['node-a'] === 256)
  })

  test('both accept and submit; each message is submitted once and announced in order', async () => {
    await service.admin('PATCH', `/carriers/${service.carrier}`, { binds: 2 })
    const node = await others.join()
    await eventually(
      async () => (await bindsOf(service))[`${service.carrier}/1`] === 'node-b' && smsc.bindsNow === 2,
    )
    const ids: string[] = []
    for (const url of [service.app.url, node.url]) {
      const send = () => service.sent({ body: `by ${url}` })
      ids.push(...(await Promise.all(Array.from({ length: 30 }, send))))
    }
    for (const msgId of ids) await service.until(msgId, 'SENT')
    expect(smsc.submits).toHaveLength(60)
    const receipts = smsc.submits.map((_submit, index) => smsc.receipt(`m-${index}`, 'DELIVRD'))
    expect(new Set(await Promise.all(receipts))).toEqual(new Set([0]))
    for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  })

  test('what a living node has in memory is left to it when its buckets move', async () => {
    const answers: (() => void)[] = []
    smsc.answerSubmits((pdu, link, index) => answers.push(() => accept(pdu, link, `m-${index}`)))
    // Each in another bucket; the window lets ten out.
    const ids = await Promise.all(Array.from({ length: MESSAGES }, () => service.sent()))
    await eventually(() => answers.length === 10)
    await others.join()
    const { rows: taken } = await service.db.query('select 1 from dispatches where plan_id = $1', [
      await service.planKey(),
    ])
    expect(taken).toEqual([])
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    for (const answer of answers) answer()
    for (const msgId of ids) await service.until(msgId, 'SENT')
    for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT'])
    expect(smsc.submits).toHaveLength(MESSAGES)
  })

  test('and taken over when that node dies later', async () => {
    smsc.answerSubmits(() => undefined)
    const ids = await Promise.all(Array.from({ length: MESSAGES }, () => service.sent()))
    await eventually(() => smsc.submits.length === 10)
    await others.join()
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    await silence('node-a')
    for (const msgId of ids) await service.until(msgId, 'SENT')
    for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT'])
    expect(smsc.submits.length).toBeLessThanOrEqual(MESSAGES + 10)
  })
})

test('a node keeps its lease while statements of others hold all its connections', async () => {
  const expiry = async () =>
    (
      await service.db.query<{ at: number }>(
        `select extract(epoch from expires_at)::float as at from nodes where name = 'node-a'`,
      )
    ).rows[0]!.at
  const hanging: Promise<unknown>[] = []
  await withTransaction(service.db, async (transaction) => {
    await transaction.query('lock table carriers')
    for (let count = 0; count < 10; count += 1)
      hanging.push(service.admin('PATCH', `/carriers/${service.carrier}`, { window: 10 }))
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await eventually(async () => (await service.db.query(waiting)).rows.length === POOL_SIZE)
    const before = await expiry()
    await eventually(async () => (await expiry()) > before + 0.5)
  })
  await Promise.all(hanging)
})

describe('a start', () => {
  const nodes = async () => (await service.db.query('select node_id, name from nodes')).rows

  test('that fails leaves the healthy node of its name alone', async () => {
    const before = await nodes()
    await expect(service.startNode({ httpPort: service.app.port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    })
    expect(await nodes()).toEqual(before)
    expect(service.logs).toEqual([])
    await service.until(await service.sent(), 'SENT')
    expect(smsc.binds).toHaveLength(1)
  })

  test('answers health checks, and everything else with 503, until the node is ready', async () => {
    const httpPort = await freePort()
    const get = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${httpPort}${path}`)
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown>, answer }
    }
    const { starting } = await withTransaction(service.db, async (transaction) => {
      await transaction.query('lock table directory_version')
      const starting = others.start({ httpPort })
      await eventually(() =>
        get('/livez').then(
          ({ status }) => status === 200,
          () => false,
        ),
      )
      expect((await get('/readyz')).body).toEqual({ ok: false, checks: { start: 'not finished' } })
      const { status, body, answer } = await get(`/v1/messages/sms/${newId(Date.now())}`)
      expect([status, body.errorCode, answer.headers.get('retry-after')]).toEqual([
        503,
        'SERVICE_UNAVAILABLE',
        '1',
      ])
      expect(await nodes()).toHaveLength(1)
      return { starting }
    })
    await starting
    expect(await get('/readyz')).toMatchObject({ status: 200, body: { ok: true } })
    expect(await get('/v1/messages/sms')).toMatchObject({ status: 401 })
  })
})

describe('a node that dies', () => {
  test('after its lease the other one has its buckets, messages and events', async () => {
    await others.join()
    smsc.answerSubmits((pdu, link, index) => {
      if (index % 2 === 0) accept(pdu, link, `m-${index}`)
    })
    service.receiver.answerWith(() => undefined)
    const ids = await Promise.all(Array.from({ length: 10 }, () => service.sent()))
    await eventually(() => smsc.submits.length === 10 && service.receiver.received.length === 5)
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    service.receiver.answerWith(acknowledge)
    await silence('node-a')
    await eventually(async () => (await shares())['node-b'] === 256)
    const plan = await service.planKey()
    const events = () => service.db.query('select 1 from event_deliveries where plan_id = $1', [plan])
    for (const msgId of ids) await service.until(msgId, 'SENT')
    await eventually(async () => (await events()).rows.length === 0)
    for (const msgId of ids) expect(new Set(service.statuses(msgId))).toEqual(new Set(['SENT']))
    expect(smsc.submits.length).toBe(15)
  })

  test('a lease that ended is begun anew by the same process, and everything goes on', async () => {
    await expire('node-a')
    await eventually(async () => (await shares())['node-a'] === 256)
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    await service.untilWebhooks(msgId, ['SENT'])
  })

  test('one of the same name takes its place at once', async () => {
    const replaced = Promise.withResolvers<void>()
    await service.restart({ onBarred: () => replaced.resolve() })
    await eventually(() => smsc.binds.length === 2)
    smsc.answerSubmits(() => undefined)
    const ids = await Promise.all(Array.from({ length: 5 }, () => service.sent()))
    await eventually(() => smsc.submits.length === 5)
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    await others.start({ nodeName: 'node-a' })
    await replaced.promise
    for (const msgId of ids) await service.until(msgId, 'SENT')
    expect(await shares()).toEqual({ 'node-a': 256 })
    expect(smsc.submits.length).toBe(10)
    // What was replaced does not come back by itself.
    await service.restart()
  })
})

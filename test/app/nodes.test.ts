import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { withTransaction } from '../../src/store/database.ts'
import { newId } from '../support/installation.ts'
import { freePort } from '../support/process.ts'
import { bindsOf, eventually, type Service, startService } from '../support/service.ts'
import { accept, type Smsc, startSmsc } from '../support/smsc.ts'
import { acknowledge } from '../support/webhook-receiver.ts'

const HEARTBEAT_MS = 100
const POOL_SIZE = 6

let smsc: Smsc
let service: Service

beforeEach(async () => {
  smsc = await startSmsc()
  service = await startService({
    smscPort: smsc.port,
    app: { heartbeatMs: HEARTBEAT_MS, holdingsMs: 200, databasePoolSize: POOL_SIZE },
  })
  await smsc.bound()
})

afterEach(async () => {
  await service[Symbol.asyncDispose]()
  await smsc[Symbol.asyncDispose]()
})

/** Number of buckets by node name. */
async function shares(): Promise<Record<string, number>> {
  const { rows } = await service.db.query<{ name: string; count: number }>(`
    select n.name, count(*)::integer as count from buckets b join nodes n using (node_id) group by n.name`)
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
}

/** Another node, once it owns half of the buckets. */
async function second(name = 'node-b'): Promise<App> {
  const node = await service.startNode({ nodeName: name })
  await eventually(async () => (await shares())[name] === 128)
  return node
}

/** The lease of the node is over. */
async function expire(name: string): Promise<void> {
  await service.db.query('delete from nodes where name = $1', [name])
}

/** As if the machine of the node had gone: its heartbeats come no more, and its lease is over. */
async function silence(name: string): Promise<void> {
  await service.db.query(`alter table nodes add constraint silence check (name <> '${name}') not valid`)
  await expire(name)
}

describe('two nodes', () => {
  test('share the buckets; when one stops the other has them all', async () => {
    const node = await second()
    expect(await shares()).toEqual({ 'node-a': 128, 'node-b': 128 })
    await node.stop()
    await eventually(async () => (await shares())['node-a'] === 256)
  })

  test('both accept and submit; each message is submitted once and announced in order', async () => {
    await service.admin('PATCH', '/carriers/main', { binds: 2 })
    const node = await second()
    await eventually(async () => (await bindsOf(service))['main/1'] === 'node-b' && smsc.bindsNow === 2)
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
    // One for each bucket, of which the window lets ten out.
    const ids = await Promise.all(Array.from({ length: 256 }, () => service.sent()))
    await eventually(() => answers.length === 10)
    await second()
    const { rows } = await service.db.query(
      `select 1 from dispatches d join nodes n on n.node_id = d.holder where n.name = 'node-a' and not d.ambiguous`,
    )
    expect(rows).toHaveLength(256)
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    for (const answer of answers) answer()
    for (const msgId of ids) await service.until(msgId, 'SENT')
    for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT'])
    expect(smsc.submits).toHaveLength(256)
  })

  test('and taken over when that node dies later', async () => {
    smsc.answerSubmits(() => undefined)
    const ids = await Promise.all(Array.from({ length: 256 }, () => service.sent()))
    await eventually(() => smsc.submits.length === 10)
    await second()
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    await silence('node-a')
    for (const msgId of ids) await service.until(msgId, 'SENT')
    for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT'])
    expect(smsc.submits.length).toBeLessThanOrEqual(266)
  })
})

test('a node keeps its lease while statements of others hold all its connections', async () => {
  const expiry = async () =>
    (await service.db.query<{ at: number }>('select extract(epoch from expires_at)::float as at from nodes'))
      .rows[0]!.at
  const hanging: Promise<unknown>[] = []
  await withTransaction(service.db, async (transaction) => {
    await transaction.query('lock table carriers')
    for (let count = 0; count < 10; count += 1)
      hanging.push(service.admin('PATCH', '/carriers/main', { window: 10 }))
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
      const starting = service.startNode({ nodeName: 'node-b', httpPort })
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
    await second()
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
    for (const msgId of ids) await service.until(msgId, 'SENT')
    await eventually(async () => (await service.db.query('select 1 from event_deliveries')).rows.length === 0)
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
    await service.restart({ onReplaced: () => replaced.resolve() })
    await eventually(() => smsc.binds.length === 2)
    smsc.answerSubmits(() => undefined)
    const ids = await Promise.all(Array.from({ length: 5 }, () => service.sent()))
    await eventually(() => smsc.submits.length === 5)
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    await service.startNode()
    await replaced.promise
    for (const msgId of ids) await service.until(msgId, 'SENT')
    expect(await shares()).toEqual({ 'node-a': 256 })
    expect(smsc.submits.length).toBe(10)
  })
})

import { afterEach, describe, expect, test } from 'vitest'
import { bindsOf, eventually, type Service, type ServiceOptions, startService } from '../support/service.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'

const HEARTBEAT_MS = 100
/** None comes by itself. */
const NEVER_MS = 3_600_000

let smsc: Smsc
let service: Service

afterEach(async () => {
  await service[Symbol.asyncDispose]()
  await smsc[Symbol.asyncDispose]()
})

async function start(carrier: Record<string, unknown> = {}, options: ServiceOptions = {}): Promise<void> {
  smsc = await startSmsc()
  const app = { heartbeatMs: HEARTBEAT_MS, ...options.app }
  service = await startService({ smscPort: smsc.port, carrier, ...options, app })
}

const nodesOf = async () => Object.values(await bindsOf(service))

/** Binds by node. */
async function counts(): Promise<Record<string, number>> {
  const nodes = await nodesOf()
  return Object.fromEntries(
    nodes.toSorted().map((name) => [name, nodes.filter((node) => node === name).length]),
  )
}

const shared = (wanted: Record<string, number>) =>
  eventually(async () => JSON.stringify(await counts()) === JSON.stringify(wanted))

/** The lease of the node is over, and it begins no new one: as if its machine had gone. */
async function silence(name: string): Promise<void> {
  await service.db.query(`alter table nodes add constraint silence check (name <> '${name}') not valid`)
  await service.db.query('delete from nodes where name = $1', [name])
}

describe('a node alone', () => {
  test('binds as soon as it starts and as soon as there is a carrier, without a heartbeat', async () => {
    await start({ binds: 3 }, { app: { heartbeatMs: NEVER_MS } })
    await eventually(() => smsc.bindsNow === 3)
    await service.admin('POST', '/carriers', {
      name: 'second',
      host: '127.0.0.1',
      port: smsc.port,
      systemId: 'other',
      password: 'secret',
    })
    await eventually(() => smsc.bindsNow === 4)
    await service.admin('PATCH', '/carriers/second', { binds: 2 })
    await eventually(() => smsc.bindsNow === 5)
  })

  test('whose lease is over by its own clock unbinds, and binds again with the lease', async () => {
    await start()
    await service.db.query('alter table nodes rename to gone')
    await eventually(() => smsc.bindsNow === 0)
    await service.db.query('alter table gone rename to nodes')
    await eventually(() => smsc.bindsNow === 1)
  })

  test('stopped, draining and started by the operator', async () => {
    await start()
    const patch = (state: string) => service.admin('PATCH', '/carriers/main', { state })
    await patch('stopped')
    await eventually(() => smsc.bindsNow === 0)
    await patch('started')
    const first = await service.sent()
    await service.until(first, 'SENT')

    await patch('draining')
    const second = await service.sent()
    expect(await smsc.receipt('m-0', 'DELIVRD')).toBe(0)
    await service.until(first, 'DELIVERED')
    expect((await service.get(second)).body.status).toBe('QUEUED')
    expect(smsc.submits).toHaveLength(1)

    await patch('started')
    await service.until(second, 'SENT')
    expect(smsc.binds).toHaveLength(2)
  })

  test('whose settings the operator changes keeps its session, where that was not made with them', async () => {
    await start()
    const change = (fields: object) => service.admin('PATCH', '/carriers/main', fields)
    await change({
      messagesPerSecond: 1_000,
      longMessages: 'payload',
      submitOutcomes: { '0x58': 'permanent' },
    })
    smsc.answerSubmits((pdu, link) => link.respond(pdu, 0x58))
    await service.until(await service.sent(), 'FAILED')
    expect(smsc.binds).toHaveLength(1)
    await change({ systemType: 'vma' })
    await eventually(() => smsc.binds.length === 2 && smsc.bindsNow === 1)
    expect(smsc.binds[1]!.system_type).toBe('vma')
    expect(smsc.mostBound).toBe(1)
  })
})

describe('two nodes', () => {
  test('one bind: one session, which the other makes when its node stops', async () => {
    await start()
    const node = await service.startNode({ nodeName: 'node-b' })
    await service.restart({ nodeName: 'node-c' })
    await shared({ 'node-b': 1 })
    await eventually(() => smsc.bindsNow === 1)
    await node.stop()
    await shared({ 'node-c': 1 })
    await eventually(() => smsc.bindsNow === 1 && smsc.binds.length === 3)
    expect(smsc.mostBound).toBe(1)
  })

  test('one bind: when its node dies the other makes it, and that node does not come back to it', async () => {
    await start()
    await service.startNode({ nodeName: 'node-b' })
    await shared({ 'node-a': 1 })
    await silence('node-a')
    await shared({ 'node-b': 1 })
    await eventually(() => smsc.binds.length === 2 && smsc.bindsNow === 1)
    await service.db.query('alter table nodes drop constraint silence')
    await eventually(async () => (await service.db.query('select 1 from nodes')).rows.length === 2)
    expect(await counts()).toEqual({ 'node-b': 1 })
    expect(smsc.binds).toHaveLength(2)
  })

  test('four binds: two each, never more than four; what is in flight is answered before a bind moves', async () => {
    await start({ binds: 4, window: 1 })
    await eventually(() => smsc.bindsNow === 4)
    const answers: (() => void)[] = []
    smsc.answerSubmits((pdu, link, index) =>
      answers.push(() => link.respond(pdu, 0, { message_id: `m-${index}` })),
    )
    const ids = await Promise.all(Array.from({ length: 4 }, () => service.sent()))
    await eventually(() => answers.length === 4)
    await service.startNode({ nodeName: 'node-b' })
    await eventually(async () => (await service.db.query('select 1 from nodes')).rows.length === 2)
    for (const answer of answers) answer()
    for (const msgId of ids) await service.until(msgId, 'SENT')
    await shared({ 'node-a': 2, 'node-b': 2 })
    await eventually(() => smsc.bindsNow === 4)
    const { leases } = await service.admin('GET', '/carriers/main')
    expect(leases).toEqual([
      { bind: 0, node: 'node-a' },
      { bind: 1, node: 'node-a' },
      { bind: 2, node: 'node-b' },
      { bind: 3, node: 'node-b' },
    ])
    expect(smsc.submits).toHaveLength(4)
    expect(smsc.mostBound).toBe(4)
    expect(smsc.binds).toHaveLength(6)
  })

  test('carriers with one bind each are spread, and stay where they are when one more comes', async () => {
    await start()
    await service.startNode({ nodeName: 'node-b' })
    const create = (name: string) =>
      service.admin('POST', '/carriers', {
        name,
        host: '127.0.0.1',
        port: smsc.port,
        systemId: name,
        password: 'secret',
      })
    for (let index = 1; index < 6; index += 1) await create(`carrier-${index}`)
    await shared({ 'node-a': 3, 'node-b': 3 })
    await eventually(() => smsc.bindsNow === 6)
    const before = await bindsOf(service)
    await create('seventh')
    await eventually(() => smsc.bindsNow === 7)
    expect(await bindsOf(service)).toMatchObject(before)
    expect(smsc.binds).toHaveLength(7)
  })
})

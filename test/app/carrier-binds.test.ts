import { afterEach, describe, expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { LEASE_MS } from '../../src/store/nodes.ts'
import { otherNodes } from '../support/other-nodes.ts'
import { bindsOf, eventually, type Service } from '../support/service.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'
import { serviceOfFile } from '../support/tenant-per-test.ts'

const HEARTBEAT_MS = 100
/** None comes by itself. */
const NEVER_MS = 3_600_000

const { tenant } = serviceOfFile({ heartbeatMs: HEARTBEAT_MS })
let smsc: Smsc
let service: Service

afterEach(async () => {
  await service[Symbol.asyncDispose]()
  await smsc[Symbol.asyncDispose]()
})

const others = otherNodes(() => service)

async function start(carrier: Record<string, unknown> = {}): Promise<void> {
  smsc = await startSmsc()
  service = await tenant({ smscPort: smsc.port, carrier })
}

async function nodesNow(): Promise<string[]> {
  const { rows } = await service.db.query<{ name: string }>('select name from nodes order by name')
  return rows.map(({ name }) => name)
}

const nodesOf = async () => Object.values(await bindsOf(service))

/** Binds by node. */
async function counts(): Promise<Record<string, number>> {
  const nodes = await nodesOf()
  return Object.fromEntries(
    nodes.toSorted().map((name) => [name, nodes.filter((node) => node === name).length]),
  )
}

/** The value of the carrier's series of `aldis_carrier_bound`. */
async function boundSeries(): Promise<string | undefined> {
  const text = await (await fetch(`${service.app.url}/metrics`)).text()
  return new RegExp(`^aldis_carrier_bound\\{carrier="${service.carrier}"\\} (\\d)$`, 'm').exec(text)?.[1]
}

const shared = (wanted: Record<string, number>) =>
  eventually(async () => JSON.stringify(await counts()) === JSON.stringify(wanted))

describe('a node alone', () => {
  test('binds as soon as it starts and as soon as there is a carrier, without a heartbeat', async () => {
    await start({ binds: 3 })
    await service.restart({ heartbeatMs: NEVER_MS })
    await eventually(() => smsc.bindsNow === 3)
    const second = await service.anotherCarrier(smsc.port)
    await eventually(() => smsc.bindsNow === 4)
    await service.admin('PATCH', `/carriers/${second}`, { binds: 2 })
    await eventually(() => smsc.bindsNow === 5)
    await service.restart()
  })

  test('whose lease is over by its own clock unbinds, and binds again with the lease', async () => {
    await start()
    await service.restart({ leaseMs: LEASE_MS })
    await eventually(() => smsc.bindsNow === 1)
    await service.db.query('alter table nodes rename to gone')
    await eventually(() => smsc.bindsNow === 0)
    await service.db.query('alter table gone rename to nodes')
    await eventually(() => smsc.bindsNow === 1)
    await service.restart()
  })

  test('stopped, draining and started by the operator', async () => {
    await start()
    const patch = (state: string) => service.admin('PATCH', `/carriers/${service.carrier}`, { state })
    await patch('stopped')
    await eventually(() => smsc.bindsNow === 0)
    expect(await boundSeries()).toBe(undefined)
    await patch('started')
    await eventually(async () => (await boundSeries()) === '1')
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
    const change = (fields: object) => service.admin('PATCH', `/carriers/${service.carrier}`, fields)
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
    const node = await others.start()
    await service.restart()
    await shared({ 'node-b': 1 })
    await eventually(() => smsc.bindsNow === 1)
    await node.stop()
    await shared({ 'node-a': 1 })
    await eventually(() => smsc.bindsNow === 1 && smsc.binds.length === 3)
    expect(smsc.mostBound).toBe(1)
  })

  test('one bind: when its node dies the other makes it, and that node does not come back to it', async () => {
    await start()
    await others.start()
    await shared({ 'node-a': 1 })
    await others.silence('node-a')
    await shared({ 'node-b': 1 })
    await eventually(() => smsc.binds.length === 2 && smsc.bindsNow === 1)
    await others.speak()
    await eventually(async () => (await nodesNow()).length === 2)
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
    await others.start()
    await eventually(async () => (await nodesNow()).length === 2)
    for (const answer of answers) answer()
    for (const msgId of ids) await service.until(msgId, 'SENT')
    await shared({ 'node-a': 2, 'node-b': 2 })
    await eventually(() => smsc.bindsNow === 4)
    const { leases } = await service.admin('GET', `/carriers/${service.carrier}`)
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
    await others.start()
    // It may be bound on either node, of which the operator sees one.
    const create = () => service.anotherCarrier(smsc.port, {}, false)
    for (let index = 1; index < 6; index += 1) await create()
    await shared({ 'node-a': 3, 'node-b': 3 })
    await eventually(() => smsc.bindsNow === 6)
    const before = await bindsOf(service)
    await create()
    await eventually(() => smsc.bindsNow === 7)
    expect(await bindsOf(service)).toMatchObject(before)
    expect(smsc.binds).toHaveLength(7)
  })

  test('an inbound message that both are offered while its table is locked is one', async () => {
    await start({ binds: 2 })
    await others.start()
    await shared({ 'node-a': 1, 'node-b': 1 })
    await eventually(() => smsc.bindsNow === 2)
    const offered = {
      ...{ source_addr: '15550007777', source_addr_ton: 1 },
      ...{ destination_addr: service.inboundNumber.slice(1), short_message: Buffer.from('once') },
    }
    const recorded = async () => {
      const { rows } = await service.db.query("select msg_id from inbound_messages where body = 'once'")
      return rows.length
    }
    const lock = await service.db.connect()
    await lock.query('begin')
    await lock.query('lock table inbound_messages in share mode')
    const answers = smsc.boundNow.map((peer) => smsc.deliver(offered, peer))
    await eventually(async () => {
      const { rows } = await lock.query(
        "select from pg_locks where relation::regclass::text like 'inbound_messages%' and not granted",
      )
      return rows.length === 2
    })
    await lock.query('rollback')
    lock.release()
    const statuses = await Promise.all(answers)
    expect(statuses.toSorted()).toEqual([STATUSES.ESME_ROK, STATUSES.ESME_RX_T_APPN])
    expect(await recorded()).toBe(1)
  })
})

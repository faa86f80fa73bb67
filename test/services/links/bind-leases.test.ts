import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BindLeases } from '../../../src/services/links/bind-leases.ts'
import { NodeLease } from '../../../src/services/node/node-lease.ts'
import { carriers, reserveCarrierIds } from '../../../src/store/carriers.ts'
import { databaseOfFile } from '../../support/database.ts'
import { aCarrier, aDirectory } from '../../support/directory.ts'
import { KeptLog, strictLog } from '../../support/log.ts'
import { eventually } from '../../support/service.ts'

/** Heartbeats come from the tests alone, and no lease runs out by itself. */
const NEVER_MS = 3_600_000

/** A node whose sessions of given-up binds end when a test says so. */
interface Node {
  readonly lease: NodeLease
  readonly binds: BindLeases
  /** What happened to its links, in order. */
  readonly links: string[]
  readonly endings: (() => void)[]
  held(): string[]
}

const { db } = await databaseOfFile()
let nodes: Node[]
let carrierId: number
let log: KeptLog

beforeEach(async () => {
  nodes = []
  log = new KeptLog()
  await db.query('delete from carriers')
  await db.query('delete from nodes')
  carrierId = await carrier('main', 4)
})

afterEach(async () => {
  for (const { binds, lease, endings } of nodes) {
    for (const end of endings) end()
    await binds.stop()
    await lease.stop()
  }
})

async function carrier(name: string, binds: number): Promise<number> {
  const [id] = (await reserveCarrierIds(db, 1)) as [number]
  await carriers.insert(db, {
    ...aCarrier({ name, binds }),
    carrierId: id,
    submitOutcomes: {},
    password: 'sealed',
  })
  return id
}

async function started(name: string): Promise<Node> {
  const lease = new NodeLease({
    db,
    name,
    onBarred: () => undefined,
    log: strictLog,
    heartbeatMs: NEVER_MS,
    leaseMs: NEVER_MS,
  })
  const links: string[] = []
  const endings: (() => void)[] = []
  const binds = new BindLeases({
    db,
    lease,
    directory: () => aDirectory(),
    links: {
      adopt: () => void links.push('adopt'),
      close: async (mostMs) => void links.push(`close ${mostMs}`),
      whenUnbound: (_carrierId, bind) => {
        links.push(`unbound? ${bind}`)
        return new Promise((resolve) => endings.push(resolve))
      },
    },
    log,
  })
  const held = () => [0, 1, 2, 3].filter((bind) => binds.holds(carrierId, bind)).map(String)
  const node = { lease, binds, links, endings, held }
  nodes.push(node)
  await lease.start()
  await binds.start()
  return node
}

test('a node alone has all, and makes its links once it knows', async () => {
  const { held, links, binds } = await started('one')
  expect(held()).toEqual(['0', '1', '2', '3'])
  expect(links).toEqual(['adopt'])
  expect(binds.holds(carrierId, 4)).toBe(false)
})

test('a new carrier is taken without a heartbeat', async () => {
  const { binds } = await started('one')
  const second = await carrier('second', 1)
  binds.refresh()
  await eventually(() => binds.holds(second, 0))
})

test('many changes at once are one round more', async () => {
  const { binds, links } = await started('one')
  for (let count = 0; count < 100; count += 1) binds.refresh()
  await binds.stop()
  expect(links).toEqual(['adopt', 'adopt'])
})

describe('two nodes', () => {
  test('what is given up is free only when its sessions are over', async () => {
    const [one, two] = [await started('one'), await started('two')]
    expect(two.held()).toEqual([])
    await one.binds.runOnce()
    expect(one.held()).toEqual(['0', '1'])
    expect(one.links.slice(1)).toEqual(['adopt', 'unbound? 2', 'unbound? 3'])
    await two.binds.runOnce()
    expect(two.held()).toEqual([])
    await one.binds.runOnce()
    expect(one.links.slice(4)).toEqual(['adopt'])
    for (const end of one.endings) end()
    // Without a heartbeat: it looks again while there are binds it is to have.
    await eventually(() => two.held().join() === '2,3')
    expect(one.held()).toEqual(['0', '1'])
  })

  test('one that wants a bind back before it is given up gets it when it is free', async () => {
    const [one, two] = [await started('one'), await started('two')]
    await one.binds.runOnce()
    await two.lease.stop()
    await one.binds.runOnce()
    expect(one.held()).toEqual(['0', '1'])
    for (const end of one.endings) end()
    // As the next heartbeat does.
    one.binds.refresh()
    await eventually(() => one.held().length === 4)
  })

  test('a dead node has what it had taken from it', async () => {
    const [one, two] = [await started('one'), await started('two')]
    await db.query(`update nodes set expires_at = now() - interval '1 s' where node_id = $1`, [
      one.lease.nodeId,
    ])
    await eventually(async () => {
      await two.lease.runOnce()
      return two.held().length === 4
    })
  })
})

describe('a lease that was lost', () => {
  test('closes every link before another begins', async () => {
    const { lease, links, held } = await started('one')
    await db.query('delete from nodes')
    await lease.runOnce()
    expect(links[1]).toBe('close 2000')
    expect(log.lines.map(({ message }) => message)).toEqual(['the lease of this node has ended; unbinding'])
    await eventually(() => held().length === 4)
    expect(links.at(-1)).toBe('adopt')
  })

  test('after the end closes nothing', async () => {
    const { lease, binds, held } = await started('one')
    await binds.stop()
    await db.query('delete from nodes')
    await lease.runOnce()
    expect([held(), log.lines]).toEqual([[], []])
  })

  test('while binds are being read, none is held', async () => {
    const one = await started('one')
    await db.query('delete from nodes')
    const round = one.binds.runOnce()
    const beat = one.lease.runOnce()
    await round
    await beat
    await eventually(() => one.held().length === 4)
    const { rows } = await db.query('select distinct node_id from carrier_binds')
    expect(rows).toEqual([{ node_id: one.lease.nodeId }])
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { LinkCondition } from '../../../src/domain/routing/routing.ts'
import { CarrierConditions } from '../../../src/services/sending/carrier-conditions.ts'
import { registerNode, removeNode } from '../../../src/store/nodes.ts'
import { aCarrier, aDirectory } from '../../support/directory.ts'
import { installedDatabase } from '../../support/installation.ts'
import { strictLog } from '../../support/log.ts'
import { storeMessage } from '../../support/stored-messages.ts'

interface Node {
  readonly nodeId: number
  readonly conditions: CarrierConditions
  /** What its sessions can do. */
  readonly here: Map<number, LinkCondition>
  isAlone: boolean
  handed: number
}

const { db, announcedPlan: plan } = await installedDatabase()
const directory = aDirectory({ carriers: [1, 2, 3].map((id) => aCarrier({ id, name: `carrier ${id}` })) })
let nodes: Node[]

beforeEach(async () => {
  nodes = []
  await db.query('delete from nodes')
  await db.query('delete from dispatches')
})

afterEach(async () => {
  for (const { conditions } of nodes) await conditions.stop()
})

/** Exchanges nothing by itself. */
async function node(name: string, here: Record<number, LinkCondition>): Promise<Node> {
  const nodeId = await registerNode(db, name)
  const made: Node = {
    nodeId,
    here: new Map(Object.entries(here).map(([id, condition]) => [Number(id), condition])),
    isAlone: false,
    handed: 0,
    conditions: new CarrierConditions({
      db,
      lease: {
        nodeId,
        alive: true,
        get isAlone() {
          return made.isAlone
        },
      },
      directory: () => directory,
      log: strictLog,
    }),
  }
  made.conditions.setSource({
    linkCondition: (id) => made.here.get(id) ?? 'unbound',
    takeHanded: () => {
      made.handed += 1
    },
  })
  nodes.push(made)
  return made
}

const seen = ({ conditions }: Node) => [1, 2, 3].map((id) => conditions.of(id))

async function exchange(...among: Node[]): Promise<void> {
  for (const { conditions } of among) await conditions.runOnce()
  for (const { conditions } of among) await conditions.runOnce()
}

describe('two nodes', () => {
  test('see the same: of each carrier the best that any of them can do', async () => {
    const [one, two] = [
      await node('one', { 1: 'usable', 2: 'silent' }),
      await node('two', { 2: 'throttled' }),
    ]
    await exchange(one, two)
    expect(seen(one)).toEqual(['usable', 'throttled', 'unbound'])
    expect(seen(two)).toEqual(seen(one))
    expect(one.conditions.carriersByNode()).toEqual({ here: [1], elsewhere: [2] })
    expect(two.conditions.carriersByNode()).toEqual({ here: [2], elsewhere: [1] })
  })

  test('know of themselves at once, of the other with the next exchange', async () => {
    const [one, two] = [await node('one', { 1: 'usable' }), await node('two', {})]
    await exchange(one, two)
    one.here.set(1, 'throttled')
    expect([seen(one)[0], seen(two)[0]]).toEqual(['throttled', 'usable'])
    await exchange(one, two)
    expect(seen(two)[0]).toBe('throttled')
    one.here.delete(1)
    await exchange(one, two)
    expect(seen(two)[0]).toBe('unbound')
  })

  test('both have what both can do alike; each leaves to the other what that does better', async () => {
    const [one, two] = [await node('one', { 1: 'usable' }), await node('two', { 1: 'usable' })]
    await exchange(one, two)
    expect([one, two].map(({ conditions }) => conditions.isHere(1))).toEqual([true, true])
    one.here.set(1, 'throttled')
    await exchange(one, two)
    expect([one, two].map(({ conditions }) => conditions.isHere(1))).toEqual([false, true])
  })

  test('a node that may not send any more, or is gone, can do nothing', async () => {
    const [one, two] = [await node('one', { 1: 'usable' }), await node('two', {})]
    await exchange(one, two)
    await db.query(`update nodes set expires_at = now() + interval '3 s' where node_id = $1`, [one.nodeId])
    await two.conditions.runOnce()
    expect(seen(two)[0]).toBe('unbound')
    await db.query(`update nodes set expires_at = now() + interval '9 s'`)
    await two.conditions.runOnce()
    expect(seen(two)[0]).toBe('usable')
    await removeNode(db, one.nodeId)
    await two.conditions.runOnce()
    expect(seen(two)[0]).toBe('unbound')
  })

  test('a node that stops offers nothing any more, and hands to nobody', async () => {
    const [one, two] = [await node('one', { 1: 'usable' }), await node('two', { 2: 'usable' })]
    await exchange(one, two)
    await one.conditions.stop()
    await two.conditions.runOnce()
    expect(seen(two)).toEqual(['unbound', 'usable', 'unbound'])
  })

  test('are told that messages wait which were handed to a carrier of theirs', async () => {
    const [one, two] = [await node('one', { 1: 'usable' }), await node('two', { 2: 'usable' })]
    await exchange(one, two)
    await storeMessage(db, plan, { chosen_carrier_id: 2 })
    await exchange(one, two)
    expect([one.handed, two.handed]).toEqual([0, 2])
  })
})

test('a node that is alone asks nobody, and has told what it can do before another comes', async () => {
  const one = await node('one', { 1: 'usable' })
  one.isAlone = true
  await one.conditions.runOnce()
  const two = await node('two', {})
  await two.conditions.runOnce()
  expect([seen(one)[0], seen(two)[0]]).toEqual(['usable', 'usable'])
  two.here.set(2, 'usable')
  await exchange(two, one)
  expect(seen(one)[1]).toBe('unbound')
  one.isAlone = false
  await one.conditions.runOnce()
  expect(seen(one)[1]).toBe('usable')
})

test('a silent carrier of another node is tried now and then', async () => {
  const { conditions } = await node('one', {})
  expect(conditions.isTrialDue(1)).toBe(true)
  conditions.tried(1)
  expect([conditions.isTrialDue(1), conditions.isTrialDue(2)]).toEqual([false, true])
})

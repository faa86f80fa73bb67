import { beforeEach, expect, test } from 'vitest'
import { carriers, readBinds, releaseBind, reserveCarrierIds, takeBinds } from '../../src/store/carriers.ts'
import { registerNode, removeNode } from '../../src/store/nodes.ts'
import { databaseOfFile } from '../support/database.ts'
import { aCarrier } from '../support/directory.ts'
import { otherPool } from '../support/installation.ts'

const { db, connectionString } = await databaseOfFile()
let one: number
let two: number

beforeEach(async () => {
  await db.query('delete from carriers')
  await db.query('delete from nodes')
  one = await registerNode(db, 'one')
  two = await registerNode(db, 'two')
})

async function carrier(name: string, binds: number, state: 'started' | 'draining' | 'stopped' = 'started') {
  const [id] = (await reserveCarrierIds(db, 1)) as [number]
  await carriers.insert(db, {
    ...aCarrier({ name, binds, state }),
    carrierId: id,
    submitOutcomes: {},
    password: 'sealed',
  })
  return id
}

/** Nodes of the binds, `carrier/bind` first. */
async function held(): Promise<Record<string, number | null>> {
  const { binds } = await readBinds(db)
  return Object.fromEntries(binds.map(({ carrierId, bind, nodeId }) => [`${carrierId}/${bind}`, nodeId]))
}

const free = (carrierId: number, bind: number, nodeId: number | null = null) => ({ carrierId, bind, nodeId })

test('all binds of carriers that are not stopped, and the living nodes', async () => {
  const [main, slow] = [await carrier('main', 2), await carrier('slow', 1, 'draining')]
  await carrier('off', 3, 'stopped')
  expect((await readBinds(db)).nodes.toSorted()).toEqual([one, two])
  expect(await held()).toEqual({ [`${main}/0`]: null, [`${main}/1`]: null, [`${slow}/0`]: null })
})

test('no carrier, no node', async () => {
  await db.query('delete from nodes')
  expect(await readBinds(db)).toEqual({ binds: [], nodes: [] })
})

test('free ones are taken; what is taken is told', async () => {
  const main = await carrier('main', 2)
  expect(await takeBinds(db, one, [free(main, 0), free(main, 1)])).toHaveLength(2)
  expect(await takeBinds(db, two, [free(main, 0)])).toEqual([])
  expect(await held()).toEqual({ [`${main}/0`]: one, [`${main}/1`]: one })
})

test('those of a dead node are inherited, from that node only', async () => {
  const main = await carrier('main', 1)
  await takeBinds(db, one, [free(main, 0)])
  await removeNode(db, one)
  expect(await takeBinds(db, two, [free(main, 0, one)])).toEqual([{ carrierId: main, bind: 0 }])
  const three = await registerNode(db, 'three')
  expect(await takeBinds(db, three, [free(main, 0, one)])).toEqual([])
  expect(await held()).toEqual({ [`${main}/0`]: two })
})

test('taken by two nodes at once a bind goes to one', async () => {
  await using other = otherPool(connectionString)
  const main = await carrier('main', 32)
  const wanted = Array.from({ length: 32 }, (_, bind) => free(main, bind))
  for (let round = 0; round < 10; round += 1) {
    await db.query('delete from carrier_binds')
    const taken = await Promise.all([takeBinds(db, one, wanted), takeBinds(other.db, two, wanted)])
    expect(
      taken
        .flat()
        .map(({ bind }) => bind)
        .toSorted((a, b) => a - b),
    ).toEqual(wanted.map(({ bind }) => bind))
  }
})

test('given up by its node, and by no other, it is free', async () => {
  const main = await carrier('main', 1)
  await takeBinds(db, one, [free(main, 0)])
  await releaseBind(db, two, free(main, 0))
  expect(await held()).toEqual({ [`${main}/0`]: one })
  await releaseBind(db, one, free(main, 0))
  expect(await held()).toEqual({ [`${main}/0`]: null })
})

test('of a carrier that is gone nothing is taken, and nothing left', async () => {
  const main = await carrier('main', 1)
  await takeBinds(db, one, [free(main, 0)])
  await db.query('delete from carriers')
  expect((await db.query('select 1 from carrier_binds')).rows).toEqual([])
  expect(await takeBinds(db, one, [free(main, 0)])).toEqual([])
})

import { beforeEach, expect, test } from 'vitest'
import { closeError } from '../../src/services/links/close-reasons.ts'
import { carriers, reserveCarrierIds, takeBinds } from '../../src/store/carriers.ts'
import { listNodes, publishReport } from '../../src/store/node-reports.ts'
import { LEASE_MS, registerNode, removeNode, takeBuckets } from '../../src/store/nodes.ts'
import { databaseOfFile } from '../support/database.ts'
import { aCarrier } from '../support/directory.ts'
import { aBindReport, aCarrierReport, aNodeReport, SINCE } from '../support/node-reports.ts'

const { db } = await databaseOfFile()
let one: number
let two: number

beforeEach(async () => {
  await db.query('delete from nodes')
  await db.query('update buckets set node_id = null')
  one = await registerNode(db, 'one')
  two = await registerNode(db, 'two')
})

const publish = (nodeId: number, changes: Parameters<typeof aNodeReport>[0] = {}) =>
  publishReport(db, nodeId, JSON.stringify(aNodeReport(changes)))
const reporters = async () =>
  (await db.query('select node_id from node_reports order by 1')).rows.map(({ node_id }) => node_id)

test('living nodes by name, with their lease, what they own and what they reported last', async () => {
  await publish(two, { pid: 1 })
  await publish(two, { pid: 2 })
  await takeBuckets(db, one, 100)
  const [first, second] = await listNodes(db)
  expect(first).toMatchObject({ nodeId: one, name: 'one', buckets: 100, reportAgeMs: null, report: null })
  expect(second).toMatchObject({ nodeId: two, name: 'two', buckets: 0, report: aNodeReport({ pid: 2 }) })
  expect(second!.reportAgeMs).toBeGreaterThanOrEqual(0)
  expect(first!.leaseEndsAt.getTime() - first!.lastHeartbeatAt.getTime()).toBe(LEASE_MS)
  expect(first!.since.getTime()).toBeLessThanOrEqual(first!.lastHeartbeatAt.getTime())
})

test('whatever a carrier calls itself in its certificate', async () => {
  const details = ['half a pair: '.padEnd(199, '.').concat('\u{1f600}'), 'NUL: \0'].map(
    (text) => closeError({ code: 'connect_failed', error: new Error(text) }).detail!,
  )
  expect(details[0]!.isWellFormed()).toBe(false)
  const errors = details.map((detail) => ({
    at: SINCE,
    error: 'connect_failed',
    status: null,
    detail,
    count: 1,
  }))
  const carriers = { 1: aCarrierReport({ binds: [aBindReport({ errors })] }) }
  await publish(one, { carriers })
  expect((await listNodes(db))[0]!.report).toEqual(aNodeReport({ carriers }))
})

test('a node whose lease is over is not listed, whether or not it was removed', async () => {
  await publish(two)
  await db.query(`update nodes set expires_at = now() - interval '1 s' where node_id = $1`, [two])
  expect((await listNodes(db)).map(({ name }) => name)).toEqual(['one'])
})

test('binds that belong to it, unless the carrier is stopped or has fewer by now', async () => {
  const [carrierId] = (await reserveCarrierIds(db, 1)) as [number]
  const settings = { ...aCarrier({ binds: 2 }), submitOutcomes: {}, password: 'sealed' }
  await carriers.insert(db, { ...settings, carrierId })
  const free = [0, 1].map((bind) => ({ carrierId, bind, nodeId: null }))
  await takeBinds(db, one, free)
  const count = async () => (await listNodes(db)).map(({ binds }) => binds)
  expect(await count()).toEqual([2, 0])
  await carriers.update(db, 'main', { binds: 1 })
  expect(await count()).toEqual([1, 0])
  await carriers.update(db, 'main', { state: 'stopped' })
  expect(await count()).toEqual([0, 0])
})

test('a dead node reports nothing, and what it reported is removed with the next report', async () => {
  await publish(one)
  await publish(two)
  await removeNode(db, two)
  await publish(two)
  expect(await reporters()).toEqual([one])
  await removeNode(db, one)
  const three = await registerNode(db, 'one')
  expect((await listNodes(db)).map(({ report }) => report)).toEqual([null])
  await publish(three)
  expect(await reporters()).toEqual([three])
})

import { beforeEach, expect, test } from 'vitest'
import { NodeReports } from '../../../src/services/node/node-reports.ts'
import { registerNode } from '../../../src/store/nodes.ts'
import { databaseOfFile } from '../../support/database.ts'
import { KeptLog } from '../../support/log.ts'
import { aNodeReport } from '../../support/node-reports.ts'
import { eventually } from '../../support/service.ts'

const { db } = await databaseOfFile()
let lease: { nodeId: number; alive: boolean }
let reports: NodeReports
let log: KeptLog
let messagesHeld: number

beforeEach(async () => {
  await db.query('delete from nodes')
  await db.query('delete from node_reports')
  lease = { nodeId: await registerNode(db, 'one'), alive: true }
  log = new KeptLog()
  messagesHeld = 0
  reports = new NodeReports({ db, lease, log })
  reports.setSource((isDraining) => aNodeReport({ isDraining, messagesHeld }))
})

/** The row and its version, which each write changes. */
async function written() {
  const { rows } = await db.query('select report, xmin::text as version from node_reports')
  return rows[0] as { report: ReturnType<typeof aNodeReport>; version: string } | undefined
}

test('a report is written when it has changed, and not otherwise', async () => {
  await reports.runOnce()
  const first = await written()
  expect(first!.report).toEqual(aNodeReport())
  await reports.runOnce()
  expect(await written()).toEqual(first)
  messagesHeld = 7
  await reports.runOnce()
  expect((await written())!.report.messagesHeld).toBe(7)
})

test('the same report is written again by the node that it is after it has lost its lease', async () => {
  await reports.runOnce()
  await db.query('delete from nodes')
  lease.nodeId = await registerNode(db, 'one')
  await reports.runOnce()
  const { rows } = await db.query('select node_id from node_reports')
  expect(rows).toEqual([{ node_id: lease.nodeId }])
})

test('a node whose lease may be over writes nothing; it knows itself', async () => {
  lease.alive = false
  await reports.runOnce()
  expect(await written()).toBeUndefined()
  expect(reports.own()).toEqual({ nodeId: lease.nodeId, report: aNodeReport() })
})

test('draining is reported at once, and nothing after the stop', async () => {
  reports.start()
  await eventually(written)
  reports.drain()
  await eventually(async () => (await written())?.report.isDraining)
  await reports.stop()
  const last = await written()
  messagesHeld = 7
  reports.drain()
  expect(await written()).toEqual(last)
})

test('a database that refuses it is told of, and asked again', async () => {
  await db.query('alter table node_reports rename to gone')
  reports.start()
  await eventually(() => log.errors.length > 0)
  expect(log.errors).toEqual(['report of this node not written'])
  await db.query('alter table gone rename to node_reports')
  await eventually(written)
  await reports.stop()
})

import { expect, test } from 'vitest'
import type { OwnReport } from '../../../../src/operations/read-nodes.ts'
import { publishReport } from '../../../../src/store/node-reports.ts'
import { registerNode } from '../../../../src/store/nodes.ts'
import { adminServerOfFile } from '../../../support/admin-server.ts'
import { aBindReport, aCarrierReport, aNodeReport } from '../../../support/node-reports.ts'

let own: ReturnType<OwnReport> = null
const server = await adminServerOfFile({ ownReport: () => own })
const { db } = server.database

test('200: no node', async () => {
  expect(await server.request('GET', '/nodes')).toMatchObject({ status: 200, body: { items: [] } })
})

test('200: each node with what it has reported, and the one that answers as it is now', async () => {
  const [a, b] = [await registerNode(db, 'node/1'), await registerNode(db, 'node/2')]
  await registerNode(db, 'silent')
  const binds = [aBindReport(), aBindReport({ number: 1, state: 'connecting' })]
  await publishReport(db, a, JSON.stringify(aNodeReport({ messagesHeld: 1 })))
  await publishReport(
    db,
    b,
    JSON.stringify(
      aNodeReport({ isDraining: true, messagesHeld: 2, carriers: { 1: aCarrierReport({ binds }) } }),
    ),
  )
  own = { nodeId: a, report: aNodeReport({ messagesHeld: 3, worker: { number: 1, workers: 2 } }) }
  const { status, body } = await server.request('GET', '/nodes')
  expect(status).toBe(200)
  const at = expect.stringMatching(/Z$/)
  const told = { host: 'host.example.net', pid: 4_711, version: '0.1.0' }
  const row = { since: at, lastHeartbeatAt: at, leaseEndsAt: at, role: 'all', buckets: 0, binds: 0 }
  const counts = { messagesInProgress: 0, webhooksHeld: 0 }
  const unknown = Object.fromEntries([...Object.keys({ ...told, ...counts })].map((name) => [name, null]))
  expect(body.items).toEqual([
    {
      ...{ nodeId: a, name: 'node/1', ...row, ...told, ...counts },
      ...{ worker: 1, workers: 2, draining: false, boundLinks: 0, messagesHeld: 3, reportAgeMs: 0 },
    },
    {
      ...{ nodeId: b, name: 'node/2', ...row, ...told, ...counts },
      ...{ worker: null, workers: null, draining: true, boundLinks: 1, messagesHeld: 2 },
      reportAgeMs: expect.any(Number),
    },
    {
      ...{ nodeId: expect.any(Number), name: 'silent', ...row, ...unknown },
      ...{ worker: null, workers: null, draining: null, boundLinks: null, messagesHeld: null },
      reportAgeMs: null,
    },
  ])
})

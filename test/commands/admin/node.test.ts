import { afterAll, beforeAll, expect, test } from 'vitest'
import { publishReport } from '../../../src/store/node-reports.ts'
import { registerNode } from '../../../src/store/nodes.ts'
import { type AdminServer, CARRIER, startAdminServer } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'
import { aBindReport, aCarrierReport, aNodeReport, SINCE } from '../../support/node-reports.ts'

let server: AdminServer

beforeAll(async () => {
  server = await startAdminServer()
  const { carrierId } = (await server.request('POST', '/carriers', { ...CARRIER, binds: 2 })).body
  const error = { at: SINCE, error: 'bind_rejected', status: 'ESME_RALYBND', detail: null, count: 3 }
  const binds = [aBindReport({ state: 'backing-off', retryAt: SINCE, errors: [error] })]
  const report = aNodeReport({ carriers: { [carrierId]: aCarrierReport({ measuredRate: 20, binds }) } })
  const { db } = server.database
  await publishReport(db, await registerNode(db, 'node-a'), JSON.stringify(report))
})
afterAll(() => server[Symbol.asyncDispose]())

async function lines(...args: string[]): Promise<string[][]> {
  const env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  const { code, stdout, stderr } = await runAldis(args, { env })
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return stdout.split('\n').map((line) => line.split(/ {2,}/))
}

test('people see each node in a line', async () => {
  const [headings, node] = await lines('node', 'list')
  expect(headings!.slice(0, 5)).toEqual(['NAME', 'ROLE', 'HOST', 'VERSION', 'SINCE'])
  expect(node!.slice(0, 4)).toEqual(['node-a', 'all', 'host.example.net', '0.1.0'])
})

test('people see the nodes, the binds and the errors of a carrier', async () => {
  const shown = await lines('carrier', 'binds', 'acme')
  expect(shown[0]).toEqual(['carrier', 'acme'])
  const tables = shown.slice(shown.findIndex(([first]) => first === '') + 1)
  const age = tables[1]!.at(-1)
  expect(tables).toEqual([
    ['NODE', 'CONDITION', 'QUEUED', 'SENT LAST SECOND', 'CONFIGURED RATE', 'MEASURED RATE', 'REPORT AGE MS'],
    ['node-a', 'usable', '0', '0', '-', '20', age],
    [''],
    ['NUMBER', 'TYPE', 'NODE', 'STATE', 'SINCE', 'RETRY AT', 'WINDOW', 'UNANSWERED'],
    ['0', 'transceiver', 'node-a', 'backing-off', SINCE, SINCE, '10', '0'],
    ['1', 'transceiver', '-', 'unassigned', '-', '-', '10', '-'],
    [''],
    ['NUMBER', 'TYPE', 'NODE', 'AT', 'ERROR', 'STATUS', 'COUNT', 'DETAIL'],
    ['0', 'transceiver', 'node-a', SINCE, 'bind_rejected', 'ESME_RALYBND', '3', '-'],
    [''],
  ])
})

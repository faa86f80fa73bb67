import { afterAll, beforeAll, expect, test } from 'vitest'
import { noCounts } from '../../../src/domain/carriers/quality.ts'
import { addQualityMinutes, pauseCarriers } from '../../../src/store/quality.ts'
import { type AdminServer, CARRIER, startAdminServer } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'

let server: AdminServer
let pair: { routeId: number; carrierId: number }

beforeAll(async () => {
  server = await startAdminServer()
  const { carrierId } = (await server.request('POST', '/carriers', CARRIER)).body
  const carriers = [{ carrier: 'acme' }]
  const qualityFloor = { minDelivered: 80, windowMinutes: 60, minMessages: 10, pauseMinutes: 15 }
  const { routeId } = (await server.request('POST', '/routes', { name: 'default', carriers, qualityFloor }))
    .body
  pair = { routeId, carrierId }
  const receiptLatency = noCounts().receiptLatency
  receiptLatency[3] = 4
  const counts = {
    ...noCounts(),
    accepted: 5,
    throttled: 1,
    sent: 5,
    delivered: 3,
    failed: 1,
    receiptLatency,
  }
  const minuteMs = Math.floor(Date.now() / 60_000 - 20) * 60_000
  await addQualityMinutes(server.database.db, [{ ...pair, minuteMs, counts }])
  const pause = { ...pair, minutes: 15, reason: 'delivered too few' }
  await pauseCarriers(server.database.db, [pause], new Date())
})
afterAll(() => server[Symbol.asyncDispose]())

async function aldis(...args: string[]): Promise<string> {
  const env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  const { code, stdout, stderr } = await runAldis(args, { env })
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return stdout
}

/** The cells of a table that are filled without spaces. */
function table(text: string): string[][] {
  const lines = text.trimEnd().split('\n')
  return lines.map((line) => line.split(/ {2,}/))
}

test('a table of carriers in routes', async () => {
  const [headings, cells, ...more] = table(await aldis('quality'))
  expect(more).toEqual([])
  const row = Object.fromEntries(headings!.map((heading, index) => [heading, cells![index]]))
  expect(row).toMatchObject({
    ROUTE: 'default',
    CARRIER: 'acme',
    SUBMITS: '6',
    THROTTLED: '1',
    'P50 MS': '-',
    SENT: '5',
    'DELIVERED %': '75',
    MISSING: '1',
    'RECEIPT P50 S': '1.5',
    'RECEIPT P95 S': '2',
  })
  expect(row['OUT OF USE UNTIL']).toMatch(/^20\d\d-/)
})

test('chosen by carrier, route and time; JSON for programs', async () => {
  const { items } = JSON.parse(await aldis('quality', '--carrier', 'acme', '--route', 'default', '--json'))
  expect(items).toHaveLength(1)
  expect(JSON.parse(await aldis('quality', '--minutes', '5', '--json')).items).toEqual([])
})

test('a series', async () => {
  const [headings, ...rows] = table(await aldis('quality', '--series'))
  expect(headings!.slice(0, 2)).toEqual(['AT', 'SUBMITS'])
  expect(rows.map((cells) => cells[1])).toEqual(['6'])
  expect(JSON.parse(await aldis('quality', '--series', '--json')).series).toHaveLength(1)
})

test('what is out of use, and back into use', async () => {
  const [headings, cells] = table(await aldis('quality-pause', 'list'))
  expect(headings).toEqual(['ROUTE', 'CARRIER', 'SINCE', 'UNTIL', 'REASON'])
  expect(cells).toMatchObject({ 0: 'default', 1: 'acme', 4: 'delivered too few' })
  expect(JSON.parse(await aldis('quality-pause', 'list', '--json')).items).toHaveLength(1)
  expect(await aldis('quality-pause', 'delete', 'default', 'acme')).toBe('')
  expect(JSON.parse(await aldis('quality-pause', 'list', '--json')).items).toEqual([])
  const env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  const again = await runAldis(['quality-pause', 'delete', 'default', 'acme'], { env })
  expect(again).toMatchObject({ code: 1, stderr: 'error: No such pause\n' })
})

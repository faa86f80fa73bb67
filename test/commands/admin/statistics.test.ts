import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeStatistics } from '../../../src/store/statistics.ts'
import { type AdminServer, CARRIER, startAdminServer } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'
import { statisticsRow } from '../../support/statistics-rows.ts'

let server: AdminServer

beforeAll(async () => {
  server = await startAdminServer()
  const { carrierId } = (await server.request('POST', '/carriers', CARRIER)).body
  const atMs = Math.floor(Date.now() / 60_000 - 1) * 60_000
  const prices = { currencies: ['USD'], prices: [15_000] }
  await writeStatistics(server.database.db, 1, [
    statisticsRow({ planId: 0, carrierId, country: '', atMs, sent: 7, ...prices }),
    statisticsRow({ planId: 0, carrierId: 0, country: '', atMs, accepted: 9 }),
  ])
})
afterAll(() => server[Symbol.asyncDispose]())

/** The last rows of the output, as cells. */
async function rows(...args: string[]): Promise<string[][]> {
  const env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  const { code, stdout, stderr } = await runAldis(args, { env })
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  const lines = stdout.trimEnd().split('\n')
  return lines.slice(lines.findIndex((line) => line.startsWith('WHAT'))).map((line) => line.split(/ {2,}/))
}

test('a row for each interval', async () => {
  const fromDate = new Date(Date.now() - 600_000).toISOString()
  const [headings, ...points] = await rows('statistics', 'show', '--from-date', fromDate)
  expect(headings!.slice(0, 4)).toEqual(['WHAT', 'ACCEPTED', 'SENT', 'DELIVERED'])
  expect(points.length).toBeGreaterThanOrEqual(11)
  expect(points.filter(([, accepted, sent]) => accepted === '9' && sent === '7').length).toBe(1)
})

test('the totals of each group', async () => {
  const [headings, ...groups] = await rows('statistics', '--group-by', 'carrier')
  const price = headings!.indexOf('PRICE')
  expect(groups.map((cells) => [cells[0], cells[1], cells[2], cells[price]])).toEqual([
    ['-', '9', '0', '-'],
    ['acme', '0', '7', '0.015 USD'],
  ])
})

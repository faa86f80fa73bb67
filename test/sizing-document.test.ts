import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** The tables of docs/sizing.md that follow from its measured figures. */

const DOCUMENT = readFileSync(join(import.meta.dirname, '../docs/sizing.md'), 'utf8')

/** The rows of the table whose head begins so, with the first cell of each as their name. */
function table(head: string): Map<string, number[]> {
  const [rows] = DOCUMENT.split(`\n| ${head}`)[1]!.split('\n\n')
  const cells = rows!
    .split('\n')
    .slice(2)
    .map((row) => row.slice(2, -2).split(' | '))
  return new Map(cells.map(([name, ...values]) => [name!.replaceAll('*', ''), values.map(numberIn)]))
}

function numberIn(cell: string): number {
  return Number.parseFloat(cell.replace(/[*,]/g, ''))
}

const columns = (rows: Map<string, number[]>, index: number) => [...rows.values()].map((row) => row[index]!)
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
const DAY_S = 86_400
/** Bytes of a message at rest. */
const BYTES = Number(/a message takes ([\d,]+) bytes/.exec(DOCUMENT)![1]!.replace(',', ''))

test('the bytes of a message are those of its tables', () => {
  const { together, ...rest } = Object.fromEntries(table('bytes a message [sizing] |'))
  for (const index of [0, 1])
    expect(together![index]).toBe(sum(Object.values(rest).map((row) => row[index]!)))
  expect(BYTES).toBe(sum(together!))
})

test('disk is messages times days times bytes', () => {
  const rows = table('messages a day | 7 days')
  for (const [messages, sizes] of rows)
    for (const [index, days] of [7, 30, 90].entries()) {
      const gigabytes = (numberIn(messages) * days * BYTES) / 1e9
      expect(sizes[index]).toBe(Number(gigabytes.toFixed(gigabytes < 10 ? 1 : 0)))
    }
})

test('cores are the rate times the CPU of a message, and the log of a day its bytes', () => {
  for (const [rate, [node, postgres, cores]] of table('messages a second | node'))
    expect(cores).toBeCloseTo((numberIn(rate) * (node! + postgres!)) / 1_000, 2)
  for (const [rate, [bytes, gigabytes]] of table('messages a second | bytes'))
    expect(gigabytes).toBe(Math.round((numberIn(rate) * DAY_S * bytes!) / 1e9))
})

test('the examples follow from the tables', () => {
  const rates = [50, 500, 5_000]
  const examples = table('| 50/s')
  const cpu = [...table('messages a second | node')].map(([, [node, postgres]]) => node! + postgres!)
  const log = columns(table('messages a second | bytes'), 0)
  const octets = sum([...table('| sent by the node').values()].flat())
  expect(examples.get('messages a day')).toEqual(rates.map((rate) => rate * DAY_S))
  for (const [index, rate] of rates.entries()) {
    const of = (name: string) => examples.get(name)![index]
    expect(of('cores, node and PostgreSQL')).toBeCloseTo((rate * cpu[index]!) / 1_000, 2)
    expect(of('disk for 30 days, GB')).toBe(Math.round((rate * DAY_S * 30 * BYTES) / 1e9))
    expect(of('WAL to a standby, MB/s')).toBeCloseTo((rate * log[index]!) / 1e6, 1)
    expect(of('network without the database, MB/s')).toBeCloseTo((rate * octets) / 1e6, 1)
  }
})

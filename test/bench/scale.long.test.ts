import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BENCH, type Layout } from '../../bench/scale-costs.ts'
import { grow } from '../../bench/scale-model.ts'
import { blocks, MEASURED } from '../../bench/scale-tables.ts'

/** docs/scale.md against the simulation, and the simulation against what was measured. There is no short form: users do not run it. */

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')
const SEED = 1
/** By how much the model may be off, which docs/scale.md says. */
const TOLERANCE = 0.2

test.each(Object.entries(blocks(read('docs/sizing.md'), SEED)))(
  'docs/scale.md has the table or chart %s as the simulation makes it',
  (name, text) => {
    const [, below] = read('docs/scale.md').split(`<!-- ${name} -->\n`)
    expect(below?.split('\n\n')[0]).toBe(text)
  },
)

const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length

test('the model has the measured rate of one node', () => {
  expect(Math.abs(grow(BENCH).perSecond / 9_056 - 1)).toBeLessThan(0.05)
})

test.each(MEASURED)('the model has the measured rate and CPU of $what', ({ layout, rates, cpu }) => {
  const [one, several] = [grow(BENCH), grow(layout)]
  const differences = [
    ...(rates.length > 0 ? [several.perSecond / one.perSecond / mean(rates)] : []),
    several.cpuMs / one.cpuMs / mean(cpu),
  ].map((ratio) => Math.abs(ratio - 1))
  expect(Math.max(...differences)).toBeLessThan(TOLERANCE)
})

test('the page says the tolerance', () => {
  expect(read('docs/scale.md')).toContain(`within ${TOLERANCE * 100} %`)
})

test('another seed changes rates by less than 3 %', () => {
  const layout: Layout = {
    ...BENCH,
    isShared: false,
    databaseCores: 16,
    nodes: 20,
    carriers: 1_000,
    bindsPerCarrier: 2,
  }
  const [one, other] = [grow(layout, 1), grow(layout, 2)]
  expect(other.perSecond).not.toBe(one.perSecond)
  expect(Math.abs(other.perSecond / one.perSecond - 1)).toBeLessThan(0.03)
})

test('messages cross nodes when few nodes have the bind, and receipts when a carrier has several', () => {
  const layout: Layout = { ...BENCH, nodes: 10, carriers: 100, bindsPerCarrier: 1 }
  const single = grow(layout)
  expect(single.handedShare).toBeCloseTo(0.9, 1)
  expect(single.foreignShare).toBe(0)
  const everywhere = grow({ ...layout, bindsPerCarrier: 10 })
  expect(everywhere.handedShare).toBe(0)
  expect(everywhere.foreignShare).toBeCloseTo(0.9, 1)
})

test('the figures in the text of docs/scale.md are those of the tables', () => {
  const page = read('docs/scale.md')
  const table = (name: string) =>
    page
      .split(`<!-- ${name} -->\n`)[1]!
      .split('\n\n')[0]!
      .split('\n')
      .slice(2)
      .map((row) => row.split(' | ').map((cell) => Number.parseFloat(cell.replace(/[^\d.]/g, ''))))
  /** With two readers more, by nodes. */
  const readers = new Map(table('nodes').map(([nodes, , , , rate]) => [nodes!, rate!]))
  const steps = [...page.matchAll(/^\| up to ([\d,]+) \| (one|\d+) node/gm)].map(([, rate, nodes]) => {
    return [Number(rate!.replace(',', '')), readers.get(nodes === 'one' ? 1 : Number(nodes))!] as const
  })
  expect(steps.length).toBe(3)
  for (const [said, model] of steps) expect(said).toBe(Math.floor(model / 1_000) * 1_000)
  const perNode = (from: number, to: number) => (readers.get(to)! - readers.get(from)!) / (to - from)
  const rounded = (value: number, to: number) => (Math.round(value / to) * to).toLocaleString('en-US')
  const [cell] = table('cells')
  expect(page).toContain(
    `a further node adds ${rounded(perNode(5, 10), 100)} here, and ${rounded(perNode(20, 50), 50)} behind 20 nodes; ` +
      `in a new cell it adds ${rounded(cell![2]! / cell![1]!, 100)}`,
  )
  const { handedShare } = grow({ ...BENCH, nodes: 100, carriers: 1_000, bindsPerCarrier: 2 })
  expect(page).toContain(`submits ${Math.round(100 * handedShare)} % of them`)
})

import { BENCH, type Layout } from './scale-costs.ts'
import { type Cause, type Growth, grow } from './scale-model.ts'

/** The tables and charts of docs/scale.md, as Markdown. */

/** Each node has two cores of its own and PostgreSQL has 16. Every node has a bind to the one carrier. */
const ONE_CARRIER: Layout = { ...BENCH, isShared: false, databaseCores: 16, bindPerSecond: 5_000 }
/** Two binds each: with windows of 100, answered after 20 ms. */
const MANY_CARRIERS: Layout = { ...ONE_CARRIER, carriers: 1_000, bindsPerCarrier: 2 }
/** 10 look-ups and lists a second on each node, and a change of the configuration every 10 s. */
const ASKED: Layout = { ...MANY_CARRIERS, readsPerSecond: 10, changesPerMinute: 6 }
const NO_BUSY_PLAN = { hasBusyPlan: false }

/** More nodes, which answer all look-ups and lists. */
const READERS = 2

const NODES = [1, 2, 3, 5, 10, 20, 50, 100]

/** Measured on one machine of two cores, as ratios to one node on the same machine and day, and the layout of the model. */
export const MEASURED: readonly {
  readonly what: string
  readonly layout: Layout
  readonly rates: readonly number[]
  readonly cpu: readonly number[]
}[] = [
  {
    what: 'two workers',
    layout: { ...BENCH, workers: 2, bindsPerCarrier: 2 },
    ...{ rates: [0.84, 0.9], cpu: [1.38, 1.31] },
  },
  {
    what: 'two nodes',
    layout: { ...BENCH, nodes: 2, bindsPerCarrier: 2 },
    ...{ rates: [0.55], cpu: [2.31] },
  },
  { what: 'two nodes, one bind', layout: { ...BENCH, nodes: 2 }, rates: [], cpu: [2.02] },
  {
    what: 'three nodes',
    layout: { ...BENCH, nodes: 3, bindsPerCarrier: 3 },
    ...{ rates: [0.435, 0.389, 0.373, 0.505, 0.351, 0.4], cpu: [3.05, 3.35, 3.5, 2.51, 3.67, 3.31] },
  },
]

/** By the name that docs/scale.md has in a comment above each. `sizing` is docs/sizing.md, which has the costs of one node. */
export function blocks(sizing: string, seed: number): Record<string, string> {
  const growths = (layoutOf: (nodes: number) => Layout) => NODES.map((nodes) => grow(layoutOf(nodes), seed))
  const onePlan = growths((nodes) => ({ ...ONE_CARRIER, nodes, bindsPerCarrier: nodes }))
  const oneCarrier = growths((nodes) => ({ ...ONE_CARRIER, ...NO_BUSY_PLAN, nodes, bindsPerCarrier: nodes }))
  const busyPlan = growths((nodes) => ({ ...ASKED, nodes, readers: READERS }))
  const readers = growths((nodes) => ({ ...ASKED, ...NO_BUSY_PLAN, nodes, readers: READERS }))
  const asked = growths((nodes) => ({ ...ASKED, ...NO_BUSY_PLAN, nodes }))
  return {
    roles: rolesTable(seed),
    million: millionTable(sizing),
    fit: fitTable(seed),
    nodes: nodesTable([onePlan, oneCarrier, busyPlan, readers, asked]),
    chart: chart([oneCarrier, readers, busyPlan]),
    hundred: hundredLines({
      'One carrier and one plan': onePlan.at(-1)!,
      '1,000 carriers, a busy plan, two readers': busyPlan.at(-1)!,
      '1,000 carriers, and every node reads': asked.at(-1)!,
    }),
    causes: causesTable(seed),
    cells: cellsTable(seed),
  }
}

/** CPU and bytes of a million messages at the rates of docs/sizing.md. */
function millionTable(sizing: string): string {
  const log = new Map(
    rowsOf(sizing, 'messages a second | bytes of WAL').map(([rate, bytes]) => [rate, bytes!]),
  )
  const octets = rowsOf(sizing, '| sent by the node').map(([, sent, received]) => sent! + received!)
  const [, tables, indexes] = rowsOf(sizing, 'bytes a message [sizing]').at(-1)!
  const gigabytes = [tables! + indexes!, octets.reduce((sum, one) => sum + one)].map((bytes) =>
    (bytes / 1_000).toFixed(1),
  )
  const rows = rowsOf(sizing, 'messages a second | node, ms').map(([rate, node, postgres]) => {
    const seconds = [node!, postgres!].map((ms) => whole(ms * 1_000))
    return [whole(rate!), ...seconds, (log.get(rate)! / 1_000).toFixed(1), ...gigabytes]
  })
  const head = ['messages/s of a node', 'CPU s: node', 'PostgreSQL', 'GB: WAL', 'at rest', 'network']
  return table(head, rows)
}

/** The numbers in the rows of the table whose head begins so. */
function rowsOf(document: string, head: string): (number | undefined)[][] {
  const [rows] = document.split(`\n| ${head}`)[1]!.split('\n\n')
  const numbers = (row: string) =>
    row.split(' | ').map((cell) => Number.parseFloat(cell.replace(/[*,|]/g, '')))
  return rows!.split('\n').slice(2).map(numbers)
}

function fitTable(seed: number): string {
  const one = grow(BENCH, seed)
  const rows = MEASURED.map(({ what, layout, rates, cpu }) => {
    const { perSecond, cpuMs } = grow(layout, seed)
    return [
      ...[what, rates.map(percent).join(', ') || '–', percent(perSecond / one.perSecond)],
      ...[cpu.map((ratio) => ratio.toFixed(1)).join(', '), (cpuMs / one.cpuMs).toFixed(1)],
    ]
  })
  const absolute = [
    'one node',
    '9,056/s',
    `${whole(one.perSecond)}/s`,
    '0.153 ms',
    `${one.cpuMs.toFixed(3)} ms`,
  ]
  return table(['all on two cores', 'rate', 'model', 'CPU of a message', 'model'], [absolute, ...rows])
}

/** What nodes and PostgreSQL can do. The busiest bind is left out, because a carrier can have more. */
function limit({ resources }: Growth): Growth['resources'][number] {
  return resources.find(({ name }) => name !== 'bind')!
}

function nodesTable(lines: readonly (readonly Growth[])[]): string {
  const head = [
    ...['nodes', 'one carrier, one plan', 'one carrier', 'busy plan', 'two readers', 'every node reads'],
    ...['COMMITs/s', 'connections'],
  ]
  const rows = NODES.map((nodes, index) => {
    const limits = lines.map((line) => {
      const { name, perSecond } = limit(line[index]!)
      return `${whole(perSecond)} ${MARKS[name]}`
    })
    const { commitsPerSecond, connections } = lines[0]![index]!
    return [
      String(nodes),
      ...limits,
      whole(commitsPerSecond),
      `${whole(connections.busy)} to ${whole(connections.most)}`,
    ]
  })
  return table(head, rows)
}

const MARKS: Readonly<Record<string, string>> = {
  'main thread': 'n',
  reader: 'r',
  feed: 'f',
  PostgreSQL: 'p',
}

function chart(lines: readonly (readonly Growth[])[]): string {
  const values = (line: readonly Growth[]) => line.map((growth) => Math.round(limit(growth).perSecond))
  return [
    '```mermaid',
    'xychart-beta',
    `  x-axis "nodes" [${NODES.join(', ')}]`,
    `  y-axis "messages a second" 0 --> ${Math.ceil(Math.max(...lines.flatMap(values)) / 10_000) * 10_000}`,
    ...lines.map((line) => `  line [${values(line).join(', ')}]`),
    '```',
  ].join('\n')
}

/** For 100 nodes, the rate at which each resource is used up. */
function hundredLines(growths: Readonly<Record<string, Growth>>): string {
  const rates = ({ resources }: Growth) =>
    resources
      .filter(({ perSecond }) => Number.isFinite(perSecond))
      .map(({ name, perSecond }) => `${name} ${whole(perSecond)}`)
      .join(', ')
  return Object.entries(growths)
    .map(([name, growth]) => `- ${name}: ${rates(growth)}`)
    .join('\n')
}

const CAUSES: Readonly<Record<Cause, string>> = {
  journal: 'entries of the journal',
  projection: 'projection (COPY)',
  handed: 'messages that another node submits',
  receipts: 'receipts that come to another node',
  parked: 'every node looks at all of these receipts',
  lanes: 'every node reads all lanes for its look-ups',
  asking: 'heartbeats, binds, configuration',
}
const COMPARED_NODES = [3, 10, 30, 100]
const COMPARED_RATE = 20_000

function causesTable(seed: number): string {
  const cores = COMPARED_NODES.map((nodes) => grow({ ...ASKED, nodes }, seed).postgresCores(COMPARED_RATE))
  const sums = cores.map((of) => Object.values(of).reduce((sum, each) => sum + each))
  const row = (name: string, values: readonly number[]) => [name, ...values.map((value) => value.toFixed(1))]
  const rows = (Object.keys(CAUSES) as Cause[]).map((cause) =>
    row(
      CAUSES[cause],
      cores.map((of) => of[cause]),
    ),
  )
  const head = [`cores at ${whole(COMPARED_RATE)}/s`, ...COMPARED_NODES.map((nodes) => `${nodes} nodes`)]
  return table(head, [...rows, row('**together**', sums)])
}

function rolesTable(seed: number): string {
  const rate = (layout: Layout) => whole(limit(grow(layout, seed)).perSecond)
  const rows = [3, 12].map((nodes) => {
    const layout = { ...MANY_CARRIERS, ...NO_BUSY_PLAN, nodes }
    return [String(nodes), rate(layout), rate({ ...layout, roles: true })]
  })
  return table(['nodes', '`all`', 'one role each'], rows)
}

const NODES_OF_CELL = 5

function cellsTable(seed: number): string {
  const rate = (cells: number) => {
    const layout = { ...ASKED, ...NO_BUSY_PLAN, nodes: cells * NODES_OF_CELL, readers: cells * READERS }
    return limit(grow(layout, seed)).perSecond
  }
  const rows = [1, 4, 20].map((cells) => {
    return [
      whole(cells),
      whole(cells * (NODES_OF_CELL + READERS)),
      whole(cells * rate(1)),
      whole(rate(cells)),
    ]
  })
  return table(['cells', 'nodes', 'messages/s', 'all on one database'], rows)
}

const percent = (share: number) => `${(100 * share).toFixed(0)} %`
const whole = (value: number) => (Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : '–')

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

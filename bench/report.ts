import type { Accepts } from './accepts.ts'
import type { AdditionCost } from './additions.ts'
import type { CaseFigures, CaseRun } from './cases.ts'
import type { Comparison, Run } from './comparison.ts'
import { type EndToEnd, type Latencies, type Paced, totalMs } from './end-to-end.ts'
import type { ListFigure } from './lists/lists.ts'
import type { BenchOptions } from './options.ts'
import type { Percentiles } from './percentiles.ts'
import type { Accepting, Queued } from './queued.ts'
import type { Figures } from './single.ts'
import type { Delays, Isolation } from './webhooks/isolation.ts'
import type { WebhookFigures } from './webhooks/webhooks.ts'

/** If the tools take more than this share of a run's CPU, they distort what they measure. */
const TOOLS_SHARE_LIMIT = 0.15

type Pair = Comparison['pairs'][number]
type Row = [name: string, value: string]

/** The figures as text for people. */
export function figuresText(figures: Figures): string {
  const { machine, endToEnd, paced, queued, accepts, checked, options, webhooks, lists, additions } = figures
  return aligned([
    ...Object.entries(machine),
    ['options', JSON.stringify(options)],
    ['', ''],
    ...(accepts === null ? [] : acceptRows(accepts)),
    ...(endToEnd === null ? [] : endToEndRows(endToEnd, options)),
    ...(paced === null ? [] : pacedRows(paced, options)),
    ...(queued === null ? [] : queuedRows(queued)),
    ...(checked === 0 ? [] : totalsRow(checked)),
    ...(webhooks === null ? [] : webhookRows(webhooks)),
    ...(lists === null ? [] : [['', ''] as Row, ...lists.map(listRow)]),
    ...(additions === null ? [] : [['', ''] as Row, ...additionRows(additions, endToEnd)]),
  ])
}

/** A table of the pairs, with the ratio of Aldis to Kannel in each. */
export function comparisonText({ machine, options, pairs }: Comparison): string {
  const runs = pairs.flatMap(({ aldis, kannel }) => [aldis, kannel])
  const total = runs.reduce((sum, { checked }) => sum + checked, 0)
  return [
    aligned([...Object.entries(machine), ['options', JSON.stringify(options)]]),
    '\n',
    table([HEADINGS, ...runs.map(runCells)]),
    '\n',
    aligned([
      ...pairs.map(ratioRow),
      ...(pairs.length > 1 ? [spreadRow(pairs)] : []),
      ...runs.flatMap(toolsWarning),
      ['totals', `${total} accepted, each submitted once, its receipt acknowledged, and called back twice`],
    ]),
  ].join('')
}

/** A table of the cases and of the full rate before each of them, and how they compare. */
export function casesText({ options, runs, failures }: CaseFigures): string {
  const machine = runs[0]?.figures.machine ?? {}
  const ofCases = runs.flatMap(({ name, full, figures }) => [
    ...(full?.endToEnd == null ? [] : [runCells({ name: 'full rate', endToEnd: full.endToEnd })]),
    ...(figures.endToEnd === null ? [] : [runCells({ name, endToEnd: figures.endToEnd })]),
  ])
  return [
    aligned([...Object.entries(machine), ['options', JSON.stringify(options)]]),
    '\n',
    table([HEADINGS, ...ofCases]),
    '\n',
    aligned([
      ...runs.flatMap(caseRows),
      ...failures.map(({ name, failure }): Row => [name, `no figures: ${failure}`]),
    ]),
  ].join('')
}

function caseRows({ name, what, leastShare, full, figures }: CaseRun): Row[] {
  const { endToEnd, queued, lists, checked } = figures
  return [
    [name, what],
    ...(full?.endToEnd == null || endToEnd === null ? [] : [shareRow(endToEnd, full.endToEnd, leastShare)]),
    ...(endToEnd === null ? [] : latencyRows(endToEnd)),
    ...(queued === null ? [] : queuedRows(queued)),
    ...(lists ?? []).map(listRow),
    ...totalsRow(checked),
  ]
}

function shareRow(endToEnd: EndToEnd, full: EndToEnd, leastShare: number | null): Row {
  const share = (100 * endToEnd.perSecond) / full.perSecond
  const cpu = totalMs(endToEnd.cpu.subject) / totalMs(full.cpu.subject)
  const wanted = leastShare === null ? '' : ` (wanted: ${100 * leastShare} % or more)`
  return ['  of the full rate', `${share.toFixed(1)} %${wanted}, at ${cpu.toFixed(2)} x its CPU a message`]
}

const HEADINGS = [
  '',
  'messages/s',
  'in one second',
  'CPU ms a message',
  'of its processes',
  'of the tools',
  'tools',
  'idle',
  'others',
  'load avg',
  'RSS MiB',
  'WAL B',
]

function runCells({ name, endToEnd }: { name: string; endToEnd: EndToEnd }): string[] {
  const { cpu, eachSecond, toolsShare, idle, others, loadAverage, peakMemoryMib, walBytes } = endToEnd
  return [
    name,
    whole(endToEnd.perSecond),
    `${Math.min(...eachSecond)}-${Math.max(...eachSecond)}`,
    totalMs(cpu.subject).toFixed(3),
    processTimes(cpu.subject),
    processTimes(cpu.tools),
    percent(toolsShare),
    percent(idle),
    percent(others),
    loadAverage.toFixed(2),
    whole(peakMemoryMib),
    walBytes === null ? '-' : whole(walBytes),
  ]
}

function ratiosOf({ aldis, kannel }: Pair): { rate: number; cpu: number } {
  const cost = ({ endToEnd: { cpu } }: Run) => totalMs(cpu.subject)
  return { rate: aldis.endToEnd.perSecond / kannel.endToEnd.perSecond, cpu: cost(aldis) / cost(kannel) }
}

function ratioRow(pair: Pair, index: number): Row {
  const { rate, cpu } = ratiosOf(pair)
  const lines = [pair.aldis, pair.kannel].map(({ name, endToEnd, paced }) => {
    const atShare = paced === null ? '' : `; at ${whole(paced.perSecond)}/s: ${latenciesText(paced)}`
    return `${name} full: ${latenciesText(endToEnd)}${atShare}`
  })
  const ratios = `${rate.toFixed(2)} x the rate of Kannel, ${cpu.toFixed(2)} x its CPU a message`
  return [`pair ${index + 1}`, [ratios, ...lines].join('\n')]
}

/** The median ratio of all pairs, and the lowest and highest. */
function spreadRow(pairs: readonly Pair[]): Row {
  const spread = (values: readonly number[]) => {
    const sorted = values.toSorted((a, b) => a - b)
    const middle = sorted[Math.floor(sorted.length / 2)]!
    return `${middle.toFixed(2)} (${sorted[0]!.toFixed(2)} to ${sorted.at(-1)!.toFixed(2)})`
  }
  const ratios = pairs.map(ratiosOf)
  const rate = spread(ratios.map((ratio) => ratio.rate))
  const cpu = spread(ratios.map((ratio) => ratio.cpu))
  return ['all pairs', `${rate} x the rate of Kannel, ${cpu} x its CPU a message`]
}

function latenciesText({ accept, receiptToDelivered }: Latencies): string {
  const receipt = receiptToDelivered === null ? 'not measured' : pair(receiptToDelivered)
  return `accept ${pair(accept)}, receipt to DELIVERED ${receipt}`
}

function pair({ p50, p99 }: Percentiles): string {
  return `p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} ms`
}

function toolsWarning({ name, endToEnd: { toolsShare } }: Run): Row[] {
  return toolsShare <= TOOLS_SHARE_LIMIT
    ? []
    : [['warning', `the tools of a run of ${name} took ${percent(toolsShare)}`]]
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  ')
  return rows.map((row) => `${line(row)}\n`).join('')
}

function processTimes(times: Readonly<Record<string, number>>): string {
  return Object.entries(times)
    .map(([name, value]) => `${name} ${value.toFixed(3)}`)
    .join(', ')
}

/** Names in a column of their own; a value may have several lines. */
function aligned(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2
  return rows
    .map(([name, value]) =>
      `${name.padEnd(width)}${value.replaceAll('\n', `\n${' '.repeat(width)}`)}`.trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('')
}

function endToEndRows(endToEnd: EndToEnd, { throughput }: BenchOptions): Row[] {
  const { cpu, eachSecond, toolsShare } = endToEnd
  return [
    ['end to end', `${whole(endToEnd.perSecond)} messages/s over ${endToEnd.seconds.toFixed(0)} s`],
    ['  in one second', `${whole(Math.min(...eachSecond))} to ${whole(Math.max(...eachSecond))}`],
    ...latencyRows(endToEnd),
    ...(throughput === null ? [] : throttledRows(endToEnd, throughput)),
    ['CPU for one message', `${ms(totalMs(cpu.subject))} Aldis and PostgreSQL`],
    ['  of them', processTimes(cpu.subject)],
    ['  the tools beside them', processTimes(cpu.tools)],
    [
      '  share of these tools',
      `${percent(toolsShare)}${toolsShare <= TOOLS_SHARE_LIMIT ? '' : ', so much that they shape the figures'}`,
    ],
    [
      'processors idle',
      `${percent(endToEnd.idle)}, others used ${percent(endToEnd.others)}, load average before ${endToEnd.loadAverage.toFixed(2)}`,
    ],
    ['memory of Aldis', `${whole(endToEnd.peakMemoryMib)} MiB at most`],
    ...(endToEnd.walBytes === null
      ? []
      : [['WAL for one message', `${whole(endToEnd.walBytes)} bytes`] as Row]),
  ]
}

/** What each addition costs once it is switched on, also as a share of the measured message. */
function additionRows(additions: readonly AdditionCost[], endToEnd: EndToEnd | null): Row[] {
  const share = (us: number) =>
    endToEnd === null ? '' : `, ${((100 * us) / (1_000 * totalMs(endToEnd.cpu.subject))).toFixed(2)} %`
  const cost = (us: number) => `${us.toFixed(2)} µs of CPU a message${share(us)}`
  const sum = additions.reduce((all, { nodeUs, databaseUs }) => all + nodeUs + databaseUs, 0)
  return [
    ...additions.map(({ name, nodeUs, databaseUs }): Row => [name, cost(nodeUs + databaseUs)]),
    ['all additions together', `${cost(sum)} (wanted: at most 2 %)`],
  ]
}

function pacedRows(paced: Paced, { latencyShare }: BenchOptions): Row[] {
  return [[`at ${latencyShare} % of that`, `${whole(paced.perSecond)} messages/s`], ...latencyRows(paced)]
}

function latencyRows({ accept, acceptToDelivered, receiptToDelivered }: Latencies): Row[] {
  return [
    ['  accept latency', latency(accept)],
    ['  request to DELIVERED', `${latency(acceptToDelivered)} (receipt delay included)`],
    ['  receipt to DELIVERED', receiptToDelivered === null ? 'not measured' : latency(receiptToDelivered)],
  ]
}

function totalsRow(checked: number): Row[] {
  return [['totals', `${checked} accepted, each DELIVERED with both webhooks, exactly once`]]
}

function acceptRows({ perSecond, latency: accept, backlog, drainPerSecond }: Accepts): Row[] {
  return [
    ['accepts', `${whole(perSecond)}/s, ${latency(accept)}`],
    ['  backlog after them', `${backlog} messages, drained at ${whole(drainPerSecond)}/s`],
  ]
}

function queuedRows(queued: Queued): Row[] {
  const { messages, first, last, eachSecond, acceptCpu, drainCpu, overtaken } = queued
  const accepting = ({ perSecond, latency: accept }: Accepting) => `${whole(perSecond)}/s, ${latency(accept)}`
  return [
    ['carrier down', `${messages} messages accepted`],
    ['  first tenth of the time', accepting(first)],
    ['  last tenth', accepting(last)],
    ['  in one second', `${whole(Math.min(...eachSecond))} to ${whole(Math.max(...eachSecond))}`],
    ['  CPU for one message', `${processTimes(acceptCpu.subject)} ms`],
    [
      '  memory of Aldis',
      `${whole(queued.memoryMib)} MiB at most; after the drain ${whole(queued.drainMemoryMib)}`,
    ],
    [
      'carrier back',
      `first submit after ${queued.returnSeconds.toFixed(1)} s, drained at ${whole(queued.drainPerSecond)}/s`,
    ],
    ['  CPU for one message', `${processTimes(drainCpu.subject)} ms`],
    ['  older ones overtaken by', latency(overtaken)],
  ]
}

function webhookRows({ drain, isolation }: WebhookFigures): Row[] {
  return [
    ['', ''],
    ['waiting webhooks', `${drain.events} events, ${whole(drain.perSecond)}/s to a fast receiver`],
    ['  CPU for one event', `${processTimes(drain.cpu)} ms`],
    ...isolation.flatMap(isolationRows),
    ['totals', 'each webhook exactly once, in the order of its message'],
  ]
}

function listRow({ what, count, cpuMs, worst, ...latencies }: ListFigure): Row {
  const worstText = worst === null ? '' : `; p99 at most: ${worst}`
  return [what, `${count} asked: ${latency({ count, ...latencies })}, CPU ${ms(cpuMs)}${worstText}`]
}

function isolationRows(isolation: Isolation): Row[] {
  const { hanging, waiting, ratio, worstRatio, recoverySeconds, recoveryPerSecond } = isolation
  return [
    [`a destination of ${hanging} hangs, ${waiting} events wait`, ''],
    ['  delay undisturbed', delays(isolation.undisturbed)],
    ['  until the breaker is open', delays(isolation.untilOpen)],
    ['  while it is open', delays(isolation.open)],
    ['  while it recovers', delays(isolation.recovery)],
    ['  p99 by the undisturbed', `${ratio.toFixed(2)}; of the worst windows ${worstRatio.toFixed(2)}`],
    [
      '  recovery',
      `${recoverySeconds.toFixed(1)} s from its first answer, ${whole(recoveryPerSecond)} events/s`,
    ],
  ]
}

function delays(all: Delays): string {
  return `${latency(all)}, worst window's p99 ${all.worst.toFixed(1)} ms`
}

function throttledRows({ carrier, seconds }: EndToEnd, throughput: number): Row[] {
  const { accepted, throttled } = carrier
  const used = (100 * accepted) / (seconds * throughput)
  const refused = (100 * throttled) / Math.max(1, accepted + throttled)
  return [
    ['carrier at its limit', `${used.toFixed(1)} % of ${throughput}/s used`],
    ['  throttled answers', `${throttled}, ${refused.toFixed(1)} % of all`],
  ]
}

function latency({ p50, p99, max }: Percentiles): string {
  return `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, most ${max.toFixed(0)} ms`
}

function ms(value: number): string {
  return `${value.toFixed(3)} ms`
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}

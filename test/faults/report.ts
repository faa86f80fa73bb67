/** Figures as Markdown tables. */
import type { KindFigures, Summary } from './summary.ts'

export function tables(summaries: readonly Summary[]): string {
  return `${runTable(summaries)}\n${kindTable(summaries)}\n${findingTable(summaries)}`
}

function runTable(summaries: readonly Summary[]): string {
  const rows = summaries.map(
    ({ nodes, seed, seconds, accepted, unanswered, submits, inbound, webhooks, lookUps, kinds, ...rest }) => [
      nodes,
      seed,
      seconds,
      Object.values(kinds).reduce((sum, { faults }) => sum + faults, 0),
      accepted,
      unanswered,
      submits,
      inbound,
      webhooks,
      lookUps,
      rest.isSettled ? 'yes' : 'no',
      rest.unexpected,
    ],
  )
  return table(
    'nodes | seed | s | faults | accepted | unanswered | submits | inbound | webhooks | look-ups | settled | unexpected',
    rows,
  )
}

function kindTable(summaries: readonly Summary[]): string {
  const all = new Map<string, KindFigures[]>()
  for (const { kinds } of summaries)
    for (const [name, figures] of Object.entries(kinds)) all.set(name, [...(all.get(name) ?? []), figures])
  const rows = [...all].toSorted().map(([name, list]) => {
    const sum = (pick: (figures: KindFigures) => number) => list.reduce((total, one) => total + pick(one), 0)
    const worst = (pick: (figures: KindFigures) => number[]) => seconds(Math.max(...list.flatMap(pick)))
    const found = list.map(({ findings }) =>
      Object.values(findings).reduce((total, count) => total + count, 0),
    )
    return [
      name,
      sum(({ faults }) => faults),
      sum(({ accepted }) => accepted),
      sum(({ lost }) => lost),
      sum(({ copies }) => copies),
      sum(({ answered5xx }) => answered5xx),
      worst(({ acceptMs }) => acceptMs),
      worst(({ takeoverMs }) => takeoverMs),
      found.reduce((total, count) => total + count, 0),
    ]
  })
  return table(
    'kind | faults | accepted | lost | copies | 5xx | accepts again, s | takeover, s | findings',
    rows,
  )
}

function findingTable(summaries: readonly Summary[]): string {
  const counts = new Map<string, number>()
  for (const { kinds } of summaries)
    for (const [kind, { findings }] of Object.entries(kinds))
      for (const [rule, count] of Object.entries(findings))
        counts.set(`${kind} | ${rule}`, (counts.get(`${kind} | ${rule}`) ?? 0) + count)
  if (counts.size === 0) return 'No findings.\n'
  return table(
    'kind | finding | count',
    [...counts].toSorted().map(([key, count]) => [key, count]),
  )
}

function table(head: string, rows: readonly (string | number)[][]): string {
  const lines = [head, head.replace(/[^|]+/g, ' --- '), ...rows.map((row) => row.join(' | '))]
  return lines.map((line) => `| ${line.trim()} |\n`).join('')
}

/** The longest of some times, in milliseconds; a dash if there are none. */
function seconds(ms: number): string {
  return Number.isFinite(ms) ? (ms / 1_000).toFixed(1) : '-'
}

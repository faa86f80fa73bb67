import { MESSAGE_STATUSES, type Status } from '../messages/messages.ts'
import {
  COUNTS,
  type Count,
  codeOf,
  formatSum,
  INTERVALS,
  LATENCIES,
  LATENCY_BUCKETS,
  type LatencyFigures,
  type LatencyKind,
  latencyFigures,
  mostGroups,
  type StatisticsQuery,
} from './query.ts'

/** What a group of rows has in common. Of dimensions that are not grouped by, 0 or an empty text. */
export interface RowGroup {
  readonly planId: number
  readonly routeId: number
  readonly carrierId: number
  readonly country: string
}

/** The sums of the rows of one group in one period. */
export interface Cell {
  /** Index of the group; null: none of those that are shown. */
  readonly group: number | null
  readonly atMs: number
  readonly counts: Readonly<Record<Count, number>>
  readonly latencies: Readonly<Record<LatencyKind, readonly number[] | null>>
}

export interface PriceCell extends Pick<Cell, 'group' | 'atMs'> {
  readonly currency: string
  readonly millionths: bigint
}

export interface CodeCell extends Pick<Cell, 'group' | 'atMs'> {
  readonly key: number
  readonly count: number
}

/** A group of the answer; status and error code only if it is grouped by them. */
export interface SeriesGroup extends RowGroup {
  readonly status: Status | null
  readonly errorCode: string | null
}

interface Figures extends Record<Exclude<Count, 'inbound' | 'segments'>, number> {
  /** Null, as what follows, where it is not told apart: by status and error code. */
  readonly inbound: number | null
  readonly segments: number | null
  readonly prices: readonly { readonly currency: string; readonly price: string }[] | null
  readonly latencyMs: Readonly<Record<LatencyKind, LatencyFigures | null>> | null
}

export interface Series {
  /** Null: everything that is in none of the other series. */
  readonly group: SeriesGroup | null
  readonly totals: Figures
  readonly points: readonly (Figures & { readonly atMs: number })[]
}

/** Sums that grow. */
class Sums {
  readonly counts = Object.fromEntries(COUNTS.map((name) => [name, 0])) as Record<Count, number>
  readonly #latencies = new Map<LatencyKind, number[]>()
  readonly #prices = new Map<string, bigint>()

  get weight(): number {
    return COUNTS.reduce((sum, name) => sum + (name === 'segments' ? 0 : this.counts[name]), 0)
  }

  addCell({ counts, latencies }: Cell): void {
    for (const name of COUNTS) this.counts[name] += counts[name]
    for (const kind of LATENCIES) this.#addLatencies(kind, latencies[kind])
  }

  addPrice(currency: string, millionths: bigint): void {
    this.#prices.set(currency, (this.#prices.get(currency) ?? 0n) + millionths)
  }

  add(other: Sums): void {
    for (const name of COUNTS) this.counts[name] += other.counts[name]
    for (const [kind, buckets] of other.#latencies) this.#addLatencies(kind, buckets)
    for (const [currency, millionths] of other.#prices) this.addPrice(currency, millionths)
  }

  #addLatencies(kind: LatencyKind, more: readonly number[] | null): void {
    if (more === null) return
    const buckets = this.#latencies.get(kind) ?? new Array<number>(LATENCY_BUCKETS).fill(0)
    this.#latencies.set(kind, buckets)
    for (const [place, count] of more.entries()) buckets[place]! += count
  }

  figures(isByStatus: boolean): Figures {
    const { inbound, segments, ...counts } = this.counts
    if (isByStatus) return { ...counts, inbound: null, segments: null, prices: null, latencyMs: null }
    const prices = [...this.#prices].map(([currency, sum]) => ({ currency, price: formatSum(sum) }))
    const latencyMs = Object.fromEntries(
      LATENCIES.map((kind) => {
        const buckets = this.#latencies.get(kind)
        return [kind, buckets === undefined ? null : latencyFigures(kind, buckets)]
      }),
    ) as Record<LatencyKind, LatencyFigures | null>
    return {
      ...counts,
      inbound,
      segments,
      prices: prices.toSorted((a, b) => (a.currency < b.currency ? -1 : 1)),
      latencyMs,
    }
  }
}

/** Whether only changes of status are counted: nothing else has a status or an error code. */
export function isByStatus({ groupBy, status, errorCode }: StatisticsQuery): boolean {
  return status !== null || isByCode({ groupBy, errorCode }) || groupBy.includes('status')
}

export function isByCode({ groupBy, errorCode }: Pick<StatisticsQuery, 'groupBy' | 'errorCode'>): boolean {
  return errorCode !== null || groupBy.includes('errorCode')
}

/** The series of a group while they are summed up. */
interface Growing {
  readonly group: SeriesGroup | null
  readonly totals: Sums
  readonly periods: Map<number, Sums>
}

/** The answer to a query: the largest groups first, then all others together, each with a point for every period. */
export function seriesOf(
  query: StatisticsQuery,
  groups: readonly RowGroup[],
  {
    cells,
    prices,
    codes,
  }: { cells: readonly Cell[]; prices: readonly PriceCell[]; codes: readonly CodeCell[] },
): Series[] {
  const all = new GrowingSeries(groups)
  if (isByStatus(query)) {
    for (const part of partsOf(query, cells, codes)) {
      const status = query.groupBy.includes('status') ? part.status : null
      const [sums, totals] = all.at(part, { status, errorCode: part.errorCode })
      sums.counts[COUNT_OF[part.status]] += part.count
      totals.counts[COUNT_OF[part.status]] += part.count
    }
  } else {
    for (const cell of cells) for (const sums of all.at(cell, NO_STATUS)) sums.addCell(cell)
    for (const cell of prices)
      for (const sums of all.at(cell, NO_STATUS)) sums.addPrice(cell.currency, cell.millionths)
  }
  return shown(query, all.largest(mostGroups(query)))
}

const NO_STATUS = { status: null, errorCode: null }
const COUNT_OF = {
  QUEUED: 'accepted',
  SENT: 'sent',
  DELIVERED: 'delivered',
  FAILED: 'failed',
  UNKNOWN: 'unknown',
} as const satisfies Record<Status, Count>

class GrowingSeries {
  readonly #groups: readonly RowGroup[]
  readonly #series = new Map<string, Growing>()

  constructor(groups: readonly RowGroup[]) {
    this.#groups = groups
  }

  /** The sums of a period, and those of all periods. */
  at(
    { group, atMs }: Pick<Cell, 'group' | 'atMs'>,
    { status, errorCode }: Pick<SeriesGroup, 'status' | 'errorCode'>,
  ): [Sums, Sums] {
    const key = group === null ? '' : `${group} ${status} ${errorCode}`
    let series = this.#series.get(key)
    if (series === undefined) {
      const named = group === null ? null : { ...this.#groups[group]!, status, errorCode }
      series = { group: named, totals: new Sums(), periods: new Map() }
      this.#series.set(key, series)
    }
    const sums = series.periods.get(atMs) ?? new Sums()
    series.periods.set(atMs, sums)
    return [sums, series.totals]
  }

  largest(most: number): Growing[] {
    const named = [...this.#series.values()].filter(({ group }) => group !== null)
    const sorted = named.toSorted((a, b) => b.totals.weight - a.totals.weight)
    const rest = [...sorted.slice(most), ...[this.#series.get('') ?? []].flat()]
    if (rest.length === 0) return sorted
    const other: Growing = { group: null, totals: new Sums(), periods: new Map() }
    for (const { totals, periods } of rest) {
      other.totals.add(totals)
      for (const [atMs, sums] of periods) {
        const sum = other.periods.get(atMs) ?? new Sums()
        other.periods.set(atMs, sum)
        sum.add(sums)
      }
    }
    return [...sorted.slice(0, most), other]
  }
}

interface Part extends Pick<Cell, 'group' | 'atMs'> {
  readonly status: Status
  readonly errorCode: string | null
  readonly count: number
}

/** How many messages got each status, as far as the query asks for it. */
function partsOf(query: StatisticsQuery, cells: readonly Cell[], codes: readonly CodeCell[]): Part[] {
  const { groupBy } = query
  const isOfCode = isByCode(query)
  const withoutCode = isOfCode ? MESSAGE_STATUSES.slice(0, 3) : MESSAGE_STATUSES
  const parts = cells.flatMap(({ group, atMs, counts }) =>
    withoutCode.map((status) => ({ group, atMs, status, errorCode: '000', count: counts[COUNT_OF[status]] })),
  )
  const failures = isOfCode
    ? codes.map(({ group, atMs, key, count }) => ({ group, atMs, ...codeOf(key), count }))
    : []
  return [...parts, ...failures]
    .filter(
      ({ status, errorCode, count }) =>
        count > 0 &&
        (query.status === null || status === query.status) &&
        (query.errorCode === null || errorCode === query.errorCode),
    )
    .map((part) => ({ ...part, errorCode: groupBy.includes('errorCode') ? part.errorCode : null }))
}

function shown(query: StatisticsQuery, series: readonly Growing[]): Series[] {
  const ofStatus = isByStatus(query)
  const none = new Sums()
  // Without a group there is one series, whether anything happened or not.
  const empty: Growing = { group: NOTHING, totals: none, periods: new Map() }
  const all = series.length === 0 && query.groupBy.length === 0 ? [empty] : series
  const zeros = none.figures(ofStatus)
  return all.map(({ group, totals, periods }) => {
    const points: (Figures & { atMs: number })[] = []
    for (let atMs = query.fromMs; atMs < query.toMs; atMs += INTERVALS[query.interval])
      points.push({ atMs, ...(periods.get(atMs)?.figures(ofStatus) ?? zeros) })
    return { group, totals: totals.figures(ofStatus), points }
  })
}

const NOTHING: SeriesGroup = { planId: 0, routeId: 0, carrierId: 0, country: '', ...NO_STATUS }

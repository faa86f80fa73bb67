import type { Directory } from '../domain/configuration/directory.ts'
import {
  COMPLETE_AFTER_MS,
  type Dimension,
  INTERVALS,
  mostGroups,
  needsPlanRows,
  rowRanges,
  type StatisticsQuery,
} from '../domain/statistics/query.ts'
import {
  isByCode,
  isByStatus,
  type RowGroup,
  type Series,
  type SeriesGroup,
  seriesOf,
} from '../domain/statistics/series.ts'
import type { Queryable } from '../store/database.ts'
import {
  largestGroups,
  rolledUpTo,
  type StatisticsSelection,
  sumCodes,
  sumPrices,
  sumStatistics,
} from '../store/statistics.ts'

/** The dimensions of a series that it is grouped by. Null: none, or not known. By plan, also the name of the plan. */
type NamedGroup = Partial<Record<Dimension | 'servicePlanName', string | null>>

export interface StatisticsAnswer extends Pick<StatisticsQuery, 'fromMs' | 'toMs' | 'interval' | 'groupBy'> {
  /** The counts before this time are complete, unless a process has crashed. */
  readonly completeUntilMs: number
  readonly series: readonly (Omit<Series, 'group'> & { readonly group: NamedGroup | null })[]
}

const ROW_KEYS: Readonly<Partial<Record<Dimension, keyof RowGroup>>> = {
  servicePlanId: 'planId',
  carrier: 'carrierId',
  route: 'routeId',
  country: 'country',
}
const UNGROUPED: readonly RowGroup[] = [{ planId: 0, routeId: 0, carrierId: 0, country: '' }]

/** Sums what is stored. Groups by status and error code are made of the sums. */
export async function readStatistics(
  db: Queryable,
  query: StatisticsQuery,
  { directory, nowMs }: { readonly directory: Directory; readonly nowMs: number },
): Promise<StatisticsAnswer> {
  const { fromMs, toMs, interval, groupBy, planIds, carrierId, routeId, country } = query
  const selection: StatisticsSelection = {
    ranges: rowRanges(query, await rolledUpTo(db)),
    stepMs: INTERVALS[interval],
    ofPlans: needsPlanRows(query),
    by: groupBy.flatMap((dimension) => ROW_KEYS[dimension] ?? []),
    planIds,
    carrierId,
    routeId,
    country,
  }
  const groups = selection.by.length === 0 ? UNGROUPED : await largestGroups(db, selection, mostGroups(query))
  const [cells, prices, codes] = await Promise.all([
    sumStatistics(db, selection, groups),
    isByStatus(query) ? [] : sumPrices(db, selection, groups),
    isByCode(query) ? sumCodes(db, selection, groups) : [],
  ])
  const series = seriesOf(query, groups, { cells, prices, codes })
  return {
    fromMs,
    toMs,
    interval,
    groupBy,
    completeUntilMs: Math.min(toMs, nowMs - COMPLETE_AFTER_MS),
    series: series.map(({ group, ...rest }) => ({
      group: group && named(group, groupBy, directory),
      ...rest,
    })),
  }
}

function named(of: SeriesGroup, groupBy: readonly Dimension[], directory: Directory): NamedGroup {
  const { planId, routeId, carrierId, country, status, errorCode } = of
  const { contents } = directory
  const names: Record<Dimension, () => string | null> = {
    servicePlanId: () => nameOf(planId, directory.planById(planId)?.servicePlanId),
    carrier: () => nameOf(carrierId, directory.carrierById(carrierId)?.name),
    route: () => nameOf(routeId, contents.routes.find(({ id }) => id === routeId)?.name),
    country: () => country || null,
    status: () => status,
    errorCode: () => errorCode,
  }
  const group: NamedGroup = Object.fromEntries(groupBy.map((dimension) => [dimension, names[dimension]()]))
  const servicePlanName = directory.planById(planId)?.name ?? null
  return groupBy.includes('servicePlanId') ? { ...group, servicePlanName } : group
}

/** A deleted object has no name any more, so it is shown as `#` and its id. No name contains a number sign. */
function nameOf(id: number, name: string | undefined): string | null {
  if (id === 0) return null
  return name ?? `#${id}`
}

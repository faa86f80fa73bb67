import { keepPreviousData, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import type { Statistics, StatisticsSeries } from '../../../../client/src/api.ts'
import { customerQuery, operatorQuery } from '../../api/queries.ts'
import { useNow } from '../../kit/time.tsx'
import { useTimeSpan } from '../../kit/time-span.tsx'
import { type TimeWindow, timeWindow } from './time-window.ts'

export const POLL_MS = 10_000

interface Question {
  readonly interval: string
  readonly fromDate: string
  readonly toDate: string
  readonly groupBy?: string
}

/** The statistics of one service plan, or with null those that operators see. */
function statisticsQuery(planId: string | null, question: Question): UseQueryOptions<Statistics> {
  const query =
    planId === null
      ? operatorQuery('getStatisticsOfPlans', question)
      : customerQuery('getStatistics', { servicePlanId: planId, ...question })
  return { ...(query as object as UseQueryOptions<Statistics>), placeholderData: keepPreviousData }
}

/** What an overview shows of its time. */
export interface Traffic {
  readonly planId: string | null
  readonly window: TimeWindow
  readonly nowMs: number
  /** Undefined until it is there. */
  readonly data: Statistics | undefined
  readonly series: StatisticsSeries | undefined
  /** The time before, of the same length. */
  readonly before: StatisticsSeries | undefined
  readonly error: Error | null
  readonly retry: () => void
}

/** One question for numbers and charts, and one for the time before, which does not change any more. */
export function useTraffic(planId: string | null): Traffic {
  const nowMs = useNow()
  const window = timeWindow(useTimeSpan().ms, nowMs)
  const { interval, fromMs, toMs, beforeMs } = window
  const fromDate = iso(fromMs)
  const { data, error, refetch } = useQuery({
    ...statisticsQuery(planId, { interval, fromDate, toDate: iso(toMs) }),
    refetchInterval: POLL_MS,
  })
  const before = useQuery({
    ...statisticsQuery(planId, { interval, fromDate: iso(beforeMs), toDate: fromDate }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const series = data?.series[0]
  const retry = () => void refetch()
  return { planId, window, nowMs, data, series, before: before.data?.series[0], error, retry }
}

const TABLE_POLL_MS = 30_000

/** The totals of each group in the same time. */
export function useGroups({ planId, window }: Traffic, groupBy: string) {
  const { tableInterval, fromMs, toMs } = window
  return useQuery({
    ...statisticsQuery(planId, {
      interval: tableInterval,
      fromDate: iso(fromMs),
      toDate: iso(toMs),
      groupBy,
    }),
    refetchInterval: TABLE_POLL_MS,
  })
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

/** Whether nothing happened in the time: perhaps there never was a message. */
export function isQuiet({ series }: Traffic): boolean {
  return series !== undefined && series.totals.accepted === 0 && series.totals.inbound === 0
}

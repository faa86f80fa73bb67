import { type TimeSpanName, timeSpanOf } from '../../kit/time-span.tsx'

/** What the table breaks the figures down by. */
export const DIMENSIONS = {
  country: 'Country',
  servicePlanId: 'Service plan',
  route: 'Route',
  carrier: 'Carrier',
} as const
export type Dimension = keyof typeof DIMENSIONS

export const PERCENTILES = ['p50', 'p99'] as const
export type Percentile = (typeof PERCENTILES)[number]

/** What the address of an overview holds. */
export interface OverviewSearch {
  readonly span?: TimeSpanName
  readonly by?: Dimension
  readonly percentile?: Percentile
}

/** For `validateSearch`. Unknown parameters are dropped. */
export function overviewSearchOf(search: Record<string, unknown>): OverviewSearch {
  const { by } = search
  const percentile = PERCENTILES.find((one) => one === search.percentile)
  return {
    ...timeSpanOf(search),
    ...(typeof by === 'string' && Object.hasOwn(DIMENSIONS, by) && { by: by as Dimension }),
    ...(percentile !== undefined && { percentile }),
  }
}

import { TIME_SPANS, type TimeSpanName, timeSpanOf } from '../../../kit/time-span.tsx'
import type { FilterName, Filters } from './filter-names.ts'

/** What the address of a log holds: filters, a span of time, and the message that is open beside the log. */
export interface LogSearch extends Filters {
  readonly span?: TimeSpanName
  readonly open?: string
}

/** For `validateSearch`. Unknown parameters are dropped. Dates win over a time span. */
export function logSearch(names: readonly FilterName[]) {
  return (search: Record<string, unknown>): LogSearch => {
    const given = [...names, 'open'].flatMap((name) => {
      const text = search[name]
      return typeof text === 'string' && text !== '' ? [[name, text]] : []
    })
    const found = Object.fromEntries(given) as LogSearch
    return found.fromDate === undefined && found.toDate === undefined
      ? { ...found, ...timeSpanOf(search) }
      : found
  }
}

/** The filters that are sent to the API. */
export function filtersOf({ open: _, span: __, ...filters }: LogSearch): Filters {
  return filters
}

export function hasFilters(search: LogSearch): boolean {
  return search.span !== undefined || Object.keys(filtersOf(search)).length > 0
}

const MINUTE_MS = 60_000
/** Before any message. The list of customers needs a filter. */
const THE_BEGINNING = '2000-01-01T00:00:00Z'

/** The query of the customers' API. The start of a span is a whole minute, so that a page which is opened again finds its answers. */
export function customerQueryOf(search: LogSearch, nowMs: number): Filters {
  const query = { ...sinceOf(search.span, nowMs), ...filtersOf(search) }
  return Object.keys(query).length === 0 ? { fromDate: THE_BEGINNING } : query
}

/** The query of the admin API, which without a service plan looks at 24 hours. */
export function operatorQueryOf(search: LogSearch, nowMs: number): Filters {
  const span = search.span !== undefined && isSpanAllowed(search, search.span) ? search.span : undefined
  return { ...sinceOf(span, nowMs), ...filtersOf(search) }
}

const DAY_MS = TIME_SPANS['24h'].ms

/** Whether the admin API looks that far back: with a service plan or a carrier's id it does. */
export function isSpanAllowed(search: LogSearch, span: TimeSpanName): boolean {
  return isOfOne(search) || TIME_SPANS[span].ms <= DAY_MS
}

export function isOfOne({ servicePlanId, carrierMessageId }: LogSearch): boolean {
  return servicePlanId !== undefined || carrierMessageId !== undefined
}

function sinceOf(span: TimeSpanName | undefined, nowMs: number): { fromDate?: string } {
  if (span === undefined) return {}
  const startMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS - TIME_SPANS[span].ms
  return { fromDate: new Date(startMs).toISOString() }
}

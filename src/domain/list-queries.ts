import { classifySender } from './addresses.ts'
import { parseTimestamp } from './dates.ts'
import { type Fault, fault, WHOLE_REQUEST } from './faults.ts'
import {
  bracketFaults,
  givenNames,
  planParameter,
  type Query,
  singleParameter,
  withPlus,
} from './query-parameters.ts'

/** Queries of the lists that a plan's token reads: one rule for all of them. */

/** A window of time, in Unix milliseconds, both ends inclusive; null is open. */
export interface DateWindow {
  readonly fromDate: number | null
  readonly toDate: number | null
}

/** A list request that is valid by itself. `limit` is null when not given. */
export interface ListQuery<Filters> {
  readonly servicePlanId: string
  /** Canonical: null is not filtered. */
  readonly filters: Filters
  readonly limit: number | null
  readonly cursor: string | null
}

export type ListQueryVerdict<Filters> =
  | { ok: true; query: ListQuery<Filters> }
  | { ok: false; faults: Fault[] }

/** How the text of a filter becomes its canonical value (null when it is not valid), and what the fault then says. */
export interface FilterRule<Value> {
  readonly parse: (text: string) => Value | null
  readonly rule: string
}

/** The filters of a list, in the order in which their faults are listed. */
export type FilterRules<Filters> = {
  readonly [Name in keyof Filters]-?: FilterRule<NonNullable<Filters[Name]>>
}

export const DEFAULT_PAGE = 20
export const MAX_PAGE = 100
/** Exactly 31 days are allowed. */
const MAX_WINDOW_MS = 31 * 24 * 3_600_000
const DIGITS = /^[0-9]+$/

export const DATE_RULE = 'must be an RFC 3339 date and time with offset'
export const WINDOW_RULES: FilterRules<DateWindow> = {
  fromDate: { parse: (text) => parseTimestamp(text, 'up'), rule: DATE_RULE },
  toDate: { parse: (text) => parseTimestamp(text, 'down'), rule: DATE_RULE },
}

export const SENDER_RULE: FilterRule<string> = {
  parse: (text) => addressOf(text, (address) => classifySender(address) !== null),
  rule: 'must be a short code, an E.164 number or an alphanumeric sender',
}

/** An address in a query, if `isWanted` accepts it: an unescaped plus has arrived as a space. */
export function addressOf(text: string, isWanted: (address: string) => boolean): string | null {
  const address = withPlus(text)
  return isWanted(address) ? address : null
}

/** How a list differs from the common rule. */
export interface ListBounds {
  /** It needs a filter or a cursor. */
  readonly filtered: boolean
  readonly maxPage: number
}

/** Reads the query of a list and lists every fault in it. */
export function parseListQuery<Filters extends object>(
  query: Query,
  rules: FilterRules<Filters>,
  { filtered, maxPage }: ListBounds = { filtered: true, maxPage: MAX_PAGE },
): ListQueryVerdict<Filters> {
  const names = [...Object.keys(rules), 'cursor']
  const faults: Fault[] = bracketFaults(query, new Set([...names, 'servicePlanId', 'limit']))
  const servicePlanId = planParameter(query, true, faults)
  const filters = readFilters(query, rules, faults)
  const limit = readLimit(query, maxPage, faults)
  const cursor = singleParameter(query, 'cursor', faults) ?? null
  if (filtered && !givenNames(query).some((name) => names.includes(name))) {
    faults.push(
      fault(WHOLE_REQUEST, 'FILTER_REQUIRED', `needs one of ${names.slice(0, -1).join(', ')} or cursor`),
    )
  }
  if (servicePlanId === undefined || faults.length > 0) return { ok: false, faults }
  return { ok: true, query: { servicePlanId, filters, limit, cursor } }
}

/** Filters from their texts (undefined when absent), each by its own rule. Faults are added to the list. */
export function parseFilters<Filters extends object>(
  rules: FilterRules<Filters>,
  textOf: (name: keyof Filters & string) => string | undefined,
  faults: Fault[],
): Filters {
  const filters = Object.entries<FilterRule<unknown>>(rules).map(([name, { parse, rule }]) => {
    const text = textOf(name as keyof Filters & string)
    const value = text === undefined ? null : parse(text)
    if (text !== undefined && value === null) faults.push(fault(name, 'INVALID_FORMAT', rule))
    return [name, value]
  })
  return Object.fromEntries(filters) as Filters
}

/** Faults of filters repeated beside a cursor: each must equal the cursor's. */
export function contradictions<Filters extends object>(carried: Filters, repeated: Filters): Fault[] {
  return (Object.keys(repeated) as (keyof Filters & string)[])
    .filter((name) => repeated[name] !== null && repeated[name] !== carried[name])
    .map((name) => fault(name, 'CURSOR_MISMATCH', 'must equal the filter the cursor was made with'))
}

function readFilters<Filters extends object>(
  query: Query,
  rules: FilterRules<Filters>,
  faults: Fault[],
): Filters {
  const filters = parseFilters(rules, (name) => singleParameter(query, name, faults), faults)
  faults.push(...windowFaults(filters, query.fromDate))
  return filters
}

function windowFaults({ fromDate, toDate }: Partial<DateWindow>, start: Query[string]): Fault[] {
  if (fromDate == null || toDate == null) return []
  // Both ends are rounded down: a start rounded up could lie beyond an end in the same millisecond, which is empty and not
  // wrong.
  const startMs = parseTimestamp(String(start), 'down') ?? fromDate
  if (startMs > toDate) return [fault('fromDate', 'INVALID_RANGE', 'must not be after toDate')]
  if (toDate - fromDate <= MAX_WINDOW_MS) return []
  return [fault('toDate', 'RANGE_TOO_LARGE', 'must be at most 31 days after fromDate')]
}

function readLimit(query: Query, maxPage: number, faults: Fault[]): number | null {
  const text = singleParameter(query, 'limit', faults)
  if (text === undefined) return null
  const limit = DIGITS.test(text) ? Number(text) : 0
  if (limit >= 1) return Math.min(limit, maxPage)
  faults.push(fault('limit', 'INVALID_FORMAT', 'must be a whole number of at least 1'))
  return null
}

import { classifySender } from './addresses.ts'
import { type Fault, fault } from './faults.ts'
import { parseTimestamp } from './instants.ts'

/** Filters of lists: one rule for all of them. */

/** A window of time, in Unix milliseconds, both ends inclusive; null is open. */
export interface DateWindow {
  readonly fromDate: number | null
  readonly toDate: number | null
}

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

export const DATE_RULE = 'must be an RFC 3339 date and time with offset'
export const WINDOW_RULES: FilterRules<DateWindow> = {
  fromDate: { parse: (text) => parseTimestamp(text, 'up'), rule: DATE_RULE },
  toDate: { parse: (text) => parseTimestamp(text, 'down'), rule: DATE_RULE },
}

export const SENDER_RULE: FilterRule<string> = {
  parse: (text) => (classifySender(text) === null ? null : text),
  rule: 'must be a short code, an E.164 number or an alphanumeric sender',
}

/** Filters from their texts, each by its own rule; absent ones are null. Faults are added to the list. */
export function parseFilters<Filters extends object>(
  rules: FilterRules<Filters>,
  texts: Readonly<Partial<Record<keyof Filters, string>>>,
  faults: Fault[] = [],
): Filters {
  const filters = Object.entries<FilterRule<unknown>>(rules).map(([name, { parse, rule }]) => {
    const text = texts[name as keyof Filters]
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

/** Faults of a window whose ends, if they are given and each is valid, do not belong together. */
export function windowFaults({ fromDate, toDate }: { fromDate?: unknown; toDate?: unknown }): Fault[] {
  if (typeof fromDate !== 'string' || typeof toDate !== 'string') return []
  const firstMs = parseTimestamp(fromDate, 'up')
  const lastMs = parseTimestamp(toDate, 'down')
  // Both ends are rounded down: a start rounded up could lie beyond an end in the same millisecond, which is empty and not
  // wrong.
  const startMs = parseTimestamp(fromDate, 'down')
  if (firstMs === null || lastMs === null || startMs === null) return []
  if (startMs > lastMs) return [fault('fromDate', 'INVALID_RANGE', 'must not be after toDate')]
  if (lastMs - firstMs <= MAX_WINDOW_MS) return []
  return [fault('toDate', 'RANGE_TOO_LARGE', 'must be at most 31 days after fromDate')]
}

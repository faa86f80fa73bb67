import { classifySender, isE164 } from './addresses.ts'
import { normalizeCountry } from './countries.ts'
import { parseTimestamp } from './dates.ts'
import { type Fault, fault, WHOLE_REQUEST } from './faults.ts'
import { STATUSES, type Status } from './message-states.ts'
import { bracketFaults, givenNames, planParameter, type Query, singleParameter } from './query-parameters.ts'

/** Filters of the message list, canonical: null is not filtered. Times are Unix milliseconds, both inclusive. */
export interface MessageFilters {
  readonly from: string | null
  readonly to: string | null
  readonly status: Status | null
  readonly country: string | null
  readonly mccmnc: string | null
  readonly fromDate: number | null
  readonly toDate: number | null
}

/** A list request that is valid by itself. `limit` is null when not given. */
export interface ListQuery {
  readonly servicePlanId: string
  readonly filters: MessageFilters
  readonly limit: number | null
  readonly cursor: string | null
}

export type ListQueryVerdict = { ok: true; query: ListQuery } | { ok: false; faults: Fault[] }

export const DEFAULT_PAGE = 20
export const MAX_PAGE = 100
/** Spec §4.3 rule 2; exactly 31 days are allowed. */
const MAX_WINDOW_MS = 31 * 24 * 3_600_000

const FILTERS = ['from', 'to', 'status', 'country', 'mccmnc', 'fromDate', 'toDate'] as const
type FilterName = (typeof FILTERS)[number]

const PARAMETERS: ReadonlySet<string> = new Set([...FILTERS, 'servicePlanId', 'limit', 'cursor'])
const MCCMNC = /^[0-9]{5,6}$/
const DIGITS = /^[0-9]+$/

/** Reads the query of `GET /v1/messages/sms` (spec §4.3) and lists every fault of it. */
export function parseListQuery(query: Query): ListQueryVerdict {
  const faults: Fault[] = bracketFaults(query, PARAMETERS)
  const servicePlanId = planParameter(query, true, faults)
  const filters = readFilters(query, faults)
  const limit = readLimit(query, faults)
  const cursor = singleParameter(query, 'cursor', faults) ?? null
  if (!givenNames(query).some((name) => name === 'cursor' || FILTERS.includes(name as FilterName))) {
    faults.push(fault(WHOLE_REQUEST, 'FILTER_REQUIRED', `needs one of ${FILTERS.join(', ')} or cursor`))
  }
  if (servicePlanId === undefined || faults.length > 0) return { ok: false, faults }
  return { ok: true, query: { servicePlanId, filters, limit, cursor } }
}

/** Faults of filters repeated beside a cursor: each must equal what the cursor carries (design: HTTP 6). */
export function contradictions(carried: MessageFilters, repeated: MessageFilters): Fault[] {
  return FILTERS.filter((name) => repeated[name] !== null && repeated[name] !== carried[name]).map((name) =>
    fault(name, 'CURSOR_MISMATCH', 'must equal the filter the cursor was made with'),
  )
}

function readFilters(query: Query, faults: Fault[]): MessageFilters {
  const read = <T>(name: FilterName, parse: (text: string) => T | null, rule: string): T | null => {
    const text = singleParameter(query, name, faults)
    if (text === undefined) return null
    const value = parse(text)
    if (value === null) faults.push(fault(name, 'INVALID_FORMAT', rule))
    return value
  }
  const filters: MessageFilters = {
    from: read('from', senderOf, 'must be a short code, an E.164 number or an alphanumeric sender'),
    to: read('to', recipientOf, 'must be an E.164 number'),
    status: read('status', statusOf, `must be one of ${STATUSES.join(', ')}`),
    country: read('country', normalizeCountry, 'must be an ISO 3166-1 alpha-2 code'),
    mccmnc: read('mccmnc', (text) => (MCCMNC.test(text) ? text : null), 'must be 5 or 6 digits'),
    fromDate: read('fromDate', (text) => parseTimestamp(text, 'up'), DATE_RULE),
    toDate: read('toDate', (text) => parseTimestamp(text, 'down'), DATE_RULE),
  }
  faults.push(...windowFaults(filters, query.fromDate))
  return filters
}

const DATE_RULE = 'must be an RFC 3339 date and time with offset'

function windowFaults({ fromDate, toDate }: MessageFilters, start: Query[string]): Fault[] {
  if (fromDate === null || toDate === null) return []
  // Both ends rounded down: within one millisecond, a start rounded up lies beyond the end, which is empty and not wrong.
  const startMs = parseTimestamp(String(start), 'down') ?? fromDate
  if (startMs > toDate) return [fault('fromDate', 'INVALID_RANGE', 'must not be after toDate')]
  if (toDate - fromDate <= MAX_WINDOW_MS) return []
  return [fault('toDate', 'RANGE_TOO_LARGE', 'must be at most 31 days after fromDate')]
}

function readLimit(query: Query, faults: Fault[]): number | null {
  const text = singleParameter(query, 'limit', faults)
  if (text === undefined) return null
  const limit = DIGITS.test(text) ? Number(text) : 0
  if (limit >= 1) return Math.min(limit, MAX_PAGE)
  faults.push(fault('limit', 'INVALID_FORMAT', 'must be a whole number of at least 1'))
  return null
}

function senderOf(text: string): string | null {
  const sender = withPlus(text)
  return classifySender(sender) === null ? null : sender
}

function recipientOf(text: string): string | null {
  const recipient = withPlus(text)
  return isE164(recipient) ? recipient : null
}

/** An unescaped plus of a query arrives as a space. */
export function withPlus(text: string): string {
  return /^ [0-9]/.test(text) ? `+${text.slice(1)}` : text
}

function statusOf(text: string): Status | null {
  return STATUSES.find((status) => status === text) ?? null
}

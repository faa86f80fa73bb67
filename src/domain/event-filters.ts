import { EVENT_STATES, type EventState } from './events.ts'
import { type Fault, fault } from './faults.ts'
import { isUuid } from './identifiers.ts'
import { type DateWindow, type FilterRules, parseFilters, WINDOW_RULES } from './list-queries.ts'
import { isDestination } from './webhook-targets.ts'

/** Filters of the list of events, canonical: null is not filtered. The window is of createdAt of the events' messages. */
export interface EventFilters extends DateWindow {
  readonly state: EventState | null
  readonly msgId: string | null
  /** An event that was not delivered yet has one once an attempt has failed or the event was parked for one. */
  readonly destination: string | null
}

export const DESTINATION_RULE = 'must be scheme, host and port, as in https://example.com:8443'

export const EVENT_FILTERS: FilterRules<EventFilters> = {
  state: {
    parse: (text) => EVENT_STATES.find((state) => state === text) ?? null,
    rule: `must be one of ${EVENT_STATES.join(', ')}`,
  },
  msgId: { parse: (text) => (isUuid(text) ? text.toLowerCase() : null), rule: 'must be a UUID' },
  destination: { parse: (text) => (isDestination(text) ? text : null), rule: DESTINATION_RULE },
  ...WINDOW_RULES,
}

/** The filters of a request whose fields are known to be texts, whatever window they name. Faults are added to the list. */
export function parseEventFilters(
  texts: Partial<Readonly<Record<keyof EventFilters, string>>>,
  faults: Fault[],
): EventFilters {
  const filters = parseFilters(EVENT_FILTERS, texts, faults)
  const { fromDate, toDate } = filters
  if (fromDate !== null && toDate !== null && fromDate > toDate) {
    faults.push(fault('fromDate', 'INVALID_RANGE', 'must not be after toDate'))
  }
  return filters
}

import { textsOf } from '../../kit/filters.ts'

/** What the addresses of webhooks hold: the filters of the events, by the names of the API. */
const EVENT_FILTERS = ['state', 'destination', 'msgId', 'fromDate', 'toDate'] as const

const EVENT_STATES = ['pending', 'delivered', 'failed', 'kept'] as const
type EventState = (typeof EVENT_STATES)[number]

export type EventFilters = Omit<ReturnType<typeof eventSearch>, 'state'> & { readonly state?: EventState }

const eventSearch = (search: Record<string, unknown>) => textsOf(EVENT_FILTERS, search)

/** For `validateSearch`: a state that is none is dropped. */
export function customerSearch(search: Record<string, unknown>): EventFilters {
  const { state, ...rest } = eventSearch(search)
  const known = EVENT_STATES.find((each) => each === state)
  return known === undefined ? rest : { ...rest, state: known }
}

export type OperatorSearch = EventFilters & { readonly servicePlanId?: string }

export function operatorSearch(search: Record<string, unknown>): OperatorSearch {
  return { ...customerSearch(search), ...textsOf(['servicePlanId'], search) }
}

export const FILTERS = [
  { name: 'state', label: 'State', choices: EVENT_STATES },
  { name: 'destination', label: 'Destination', placeholder: 'Scheme, host and port' },
  { name: 'msgId', label: 'Message id', placeholder: 'UUID' },
  { name: 'fromDate', label: 'Message since', isTime: true },
  { name: 'toDate', label: 'Message until', isTime: true },
] as const

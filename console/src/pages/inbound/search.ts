import { textsOf } from '../../kit/filters.ts'

/** What the addresses of inbound messages hold: filters, by the names of the API, and the message that is open. */

const NAMES = ['from', 'to', 'keyword', 'fromDate', 'toDate', 'open'] as const

export const customerSearch = (search: Record<string, unknown>) => textsOf(NAMES, search)
export const operatorSearch = (search: Record<string, unknown>) =>
  textsOf([...NAMES, 'servicePlanId'] as const, search)

/** The list of customers needs a filter, and everything is after this. */
export const THE_BEGINNING = '2000-01-01T00:00:00Z'

export const FILTERS = [
  { name: 'from', label: 'Sender', placeholder: '+15551230000' },
  { name: 'to', label: 'Number', placeholder: '+15550001000' },
  { name: 'keyword', label: 'Keyword', placeholder: 'JOIN' },
  { name: 'fromDate', label: 'Since', isTime: true },
  { name: 'toDate', label: 'Until', isTime: true },
] as const

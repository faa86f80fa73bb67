import { textsOf } from '../../kit/filters.ts'

/** What the address of the audit log holds: its filters, by the names of the API. */
export const AUDIT_FILTERS = [
  { name: 'objectType', label: 'Object', placeholder: 'carrier' },
  { name: 'objectId', label: 'Name or number' },
  { name: 'token', label: 'Operator token' },
  { name: 'operation', label: 'Operation', placeholder: 'updateCarrier' },
  { name: 'fromDate', label: 'Since', isTime: true },
  { name: 'toDate', label: 'Until', isTime: true },
] as const

const NAMES = AUDIT_FILTERS.map(({ name }) => name)

export const auditSearchOf = (search: Record<string, unknown>) => textsOf(NAMES, search)

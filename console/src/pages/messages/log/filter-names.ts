/** What the lists of messages filter by, under the names of the API. */
const SHARED = ['from', 'to', 'status', 'country', 'mccmnc', 'fromDate', 'toDate'] as const

export const CUSTOMER_FILTERS: readonly FilterName[] = SHARED
export const OPERATOR_FILTERS: readonly FilterName[] = [
  ...SHARED,
  'servicePlanId',
  'carrier',
  'errorCode',
  'carrierMessageId',
]

export const FILTER_LABELS = {
  from: 'Sender',
  to: 'Recipient',
  status: 'Status',
  country: 'Country',
  mccmnc: 'Network',
  fromDate: 'Since',
  toDate: 'Until',
  servicePlanId: 'Service plan',
  carrier: 'Carrier',
  errorCode: 'Error code',
  carrierMessageId: "Carrier's message id",
} as const

export type FilterName = keyof typeof FILTER_LABELS

export type Filters = { readonly [Name in FilterName]?: string }

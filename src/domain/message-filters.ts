import { isE164 } from './addresses.ts'
import { MCCMNC } from './configuration.ts'
import { normalizeCountry } from './countries.ts'
import { type DateWindow, type FilterRules, SENDER_RULE, WINDOW_RULES } from './list-queries.ts'
import { STATUSES, type Status } from './messages.ts'

/** Filters of the message list, canonical: null is not filtered. */
export interface MessageFilters extends DateWindow {
  readonly from: string | null
  readonly to: string | null
  readonly status: Status | null
  readonly country: string | null
  readonly mccmnc: string | null
}

export const MESSAGE_FILTERS: FilterRules<MessageFilters> = {
  from: SENDER_RULE,
  to: { parse: (text) => (isE164(text) ? text : null), rule: 'must be an E.164 number' },
  status: {
    parse: (text) => STATUSES.find((status) => status === text) ?? null,
    rule: `must be one of ${STATUSES.join(', ')}`,
  },
  country: { parse: normalizeCountry, rule: 'must be an ISO 3166-1 alpha-2 code' },
  mccmnc: { parse: (text) => (MCCMNC.test(text) ? text : null), rule: 'must be 5 or 6 digits' },
  ...WINDOW_RULES,
}

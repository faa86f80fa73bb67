import { INBOUND_NUMBER, INBOUND_SENDER, KEYWORD } from './configuration.ts'
import { type DateWindow, type FilterRules, WINDOW_RULES } from './list-queries.ts'

/** Filters of the list of inbound messages, canonical: null is not filtered. The window is of receivedAt. */
export interface InboundFilters extends DateWindow {
  readonly from: string | null
  readonly to: string | null
  /** Compared without regard to case. */
  readonly keyword: string | null
}

export const INBOUND_FILTERS: FilterRules<InboundFilters> = {
  from: {
    parse: (text) => (INBOUND_SENDER.test(text) ? text : null),
    rule: 'must have 1 to 64 printable characters and no space at the ends',
  },
  to: {
    parse: (text) => (INBOUND_NUMBER.test(text) ? text : null),
    rule: 'must be an E.164 number or 3 to 8 digits',
  },
  keyword: {
    parse: (text) => (KEYWORD.test(text) ? text : null),
    rule: 'must be one word of at most 32 characters',
  },
  ...WINDOW_RULES,
}

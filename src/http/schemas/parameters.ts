import type { TSchema } from 'typebox'
import { PUBLIC_ID, parseEventId } from '../../domain/identifiers.ts'
import { DEFAULT_PAGE, type FilterRules, MAX_PAGE, windowFaults } from '../../domain/lists.ts'
import { MAX_BODY_CHARACTERS } from '../../domain/messages/messages.ts'
import { fault, WHOLE_REQUEST } from '../../errors.ts'
import { givenNames, parsedBy, patterned, withCheck } from '../validate.ts'
import { Type } from './schema-builder.ts'
import { nullableString, titled } from './shapes.ts'

/** Paths, queries and common fields of the customers' API. */

export const PublicId = patterned(PUBLIC_ID, 'must be 24 hex digits', {
  examples: ['65f0c0ffee65f0c0ffee65f0'],
  description: '24 hex digits',
})
export const PlanParameter = { ...PublicId, description: 'Service plan: 24 hex digits' } as typeof PublicId

/** The text of a message. */
export const TextField = Type.String({
  minLength: 1,
  maxLength: MAX_BODY_CHARACTERS,
  description: 'Text, in code points; no U+0000',
})

export const MessagePathSchema = Type.Object({
  msgId: Type.String({
    format: 'uuid',
    examples: ['019dab2c-7000-7a3b-8c4d-5e6f70819203'],
    description: 'As it was answered when the message was sent',
  }),
})

export const LookupQuerySchema = Type.Object({ servicePlanId: PlanParameter })

export const EventPathSchema = Type.Object({
  eventId: parsedBy(
    Type.String({
      examples: ['019dab2c-7000-7a3b-8c4d-5e6f70819203-1'],
      description: '{msgId}-{sequence}, as in webhook-id',
    }),
    { parse: parseEventId, meaning: 'must be a message id, a dash and a number' },
  ),
})

/** `time`: the field that the window applies to. */
export function windowParameters(time: string) {
  return {
    fromDate: Type.String({ format: 'date-time', description: `Start of the ${time} window, inclusive` }),
    toDate: Type.String({
      format: 'date-time',
      description: 'End, inclusive; at most 31 days after fromDate',
    }),
  }
}

interface PageParameters {
  readonly defaultLimit: number
  readonly limit: string
  readonly cursor: string
}

const PAGE: PageParameters = {
  defaultLimit: DEFAULT_PAGE,
  limit: `Values above ${MAX_PAGE} are ${MAX_PAGE}`,
  cursor: 'nextCursor of the previous page, unchanged',
}

/** Filters of one plan, each a documented schema that is read by the rule of its name. */
type DocumentedFilters<Filters> = { readonly [Name in keyof Filters]: TSchema }

/** The query of a list of one plan: its filters and the page. `needsFilter`: the plan alone is not enough. */
export function listQuery<Filters extends object>(
  rules: FilterRules<Filters>,
  documented: DocumentedFilters<Filters>,
  { needsFilter = false, page = PAGE }: { needsFilter?: boolean; page?: PageParameters } = {},
) {
  const query = Type.Object({
    ...parsedFilters(rules, documented),
    limit: parsedBy(
      Type.Optional(Type.Integer({ minimum: 1, default: page.defaultLimit, description: page.limit })),
      LIMIT_RULE,
    ),
    cursor: parsedBy(Type.Optional(Type.String({ description: page.cursor })), CURSOR_RULE),
  })
  return narrowed(query, needsFilter ? [...Object.keys(documented), 'cursor'] : [])
}

/** The query of a count of all messages that match: filters, of which at least one is needed. */
export function countQuery<Filters extends object>(
  rules: FilterRules<Filters>,
  documented: DocumentedFilters<Filters>,
) {
  return narrowed(Type.Object(parsedFilters(rules, documented)), Object.keys(documented))
}

function parsedFilters<Filters extends object>(
  rules: FilterRules<Filters>,
  documented: DocumentedFilters<Filters>,
) {
  const filters = Object.entries<TSchema>(documented).map(([name, schema]) => [
    name,
    parsedBy(Type.Optional(schema), rules[name as keyof Filters]),
  ])
  return { servicePlanId: PlanParameter, ...(Object.fromEntries(filters) as Record<string, TSchema>) }
}

/** Requires one of these, if there are any. */
function narrowed<Query extends TSchema>(query: Query, narrowing: readonly string[]) {
  const message = `needs one of ${narrowing.slice(0, -1).join(', ')} or ${narrowing.at(-1)}`
  return withCheck(query, (given) => {
    const isNarrow = narrowing.length === 0 || givenNames(given).some((name) => narrowing.includes(name))
    return [...windowFaults(given), ...(isNarrow ? [] : [fault(WHOLE_REQUEST, 'FILTER_REQUIRED', message)])]
  })
}

const LIMIT_RULE = {
  parse: (text: string) => (/^0*[1-9][0-9]*$/.test(text) ? Number(text) : null),
  meaning: 'must be a whole number of at least 1',
}
const CURSOR_RULE = { parse: (text: string) => (text === '' ? null : text), meaning: 'must not be empty' }

/** A page of a list. */
export function pageSchema(item: TSchema, title: string) {
  const pagination = titled('Pagination', {
    limit: Type.Integer(),
    hasMore: Type.Boolean(),
    nextCursor: nullableString(),
  })
  return Type.Object({ items: Type.Array(item), pagination }, { title })
}

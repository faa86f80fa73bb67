import { type TSchema, Type } from 'typebox'
import { DEFAULT_PAGE, MAX_PAGE } from '../../domain/list-queries.ts'
import { nullableString } from './nullable.ts'
import { titled } from './titled.ts'

/** Parameters shared by the lists of the customers' API, for the OpenAPI document: the domain judges the texts. */

export const PlanParameter = Type.String({
  pattern: '^[a-fA-F0-9]{24}$',
  examples: ['65f0c0ffee65f0c0ffee65f0'],
  description: 'Service plan: 24 hex digits',
})

/** `time`: the field that the window applies to. */
export function windowParameters(time: string) {
  return {
    fromDate: Type.Optional(
      Type.String({ format: 'date-time', description: `Start of the ${time} window, inclusive` }),
    ),
    toDate: Type.Optional(
      Type.String({ format: 'date-time', description: 'End, inclusive; at most 31 days after fromDate' }),
    ),
  }
}

export const PAGE_PARAMETERS = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: DEFAULT_PAGE,
      description: `Values above ${MAX_PAGE} are ${MAX_PAGE}`,
    }),
  ),
  cursor: Type.Optional(Type.String({ description: 'nextCursor of the previous page, unchanged' })),
}

/** A page of a list. */
export function pageSchema(item: TSchema, title: string) {
  const pagination = titled('Pagination', {
    limit: Type.Integer(),
    hasMore: Type.Boolean(),
    nextCursor: nullableString(),
  })
  return Type.Object({ items: Type.Array(item), pagination }, { title })
}

import { type Fault, fault } from '../errors.ts'

/** The peculiarities of query strings. */

/** A parsed query string: a parameter given more than once is an array. */
export type Query = Readonly<Record<string, string | string[] | undefined>>

/** Parameters that are telephone numbers, and other addresses. */
const ADDRESSES: ReadonlySet<string> = new Set(['from', 'to'])

/** The query with the pluses of its addresses. */
export function withPluses(query: Query): Query {
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) =>
      ADDRESSES.has(name) && typeof text === 'string' ? [name, withPlus(text)] : [name, text],
    ),
  )
}

/** An unescaped plus of a query arrives as a space. */
export function withPlus(text: string): string {
  return /^ [0-9]/.test(text) ? `+${text.slice(1)}` : text
}

/**
 * The fault of a parameter that was given empty or more than once, which replaces the fault that its schema found; undefined
 * for any other.
 */
export function faultOfSyntax({ field, code }: Fault, query: Query): Fault | undefined {
  if (code === 'UNKNOWN_FIELD' || !Object.hasOwn(query, field)) return undefined
  if (query[field] === '') return fault(field, 'EMPTY', 'must not be empty')
  return Array.isArray(query[field]) ? fault(field, 'REPEATED', 'must be given once') : undefined
}

/** Names of the parameters given; `name[]` and the like count as `name`. */
export function givenNames(query: object): string[] {
  return Object.keys(query).map((key) => /^[^[]*/.exec(key)![0])
}

/**
 * Faults for `name[]`, `name[0]`, `name[$ne]` …: other servers read them as arrays or operators; here they would be
 * ignored.
 */
export function bracketFaults(query: Query, names: readonly string[]): Fault[] {
  return Object.keys(query)
    .map((key) => key.slice(0, Math.max(0, key.indexOf('['))))
    .filter((name) => names.includes(name))
    .map((name) => fault(name, 'REPEATED', 'must be given once, without brackets'))
}

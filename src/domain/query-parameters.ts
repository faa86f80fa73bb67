import { type Fault, fault } from './faults.ts'
import { isPublicId } from './identifiers.ts'

/** A parsed query string: a parameter given more than once is an array. */
export type Query = Readonly<Record<string, string | string[] | undefined>>

/**
 * The value of a parameter, or undefined when it is absent or at fault. Faults are added to the list. Giving a parameter
 * twice or empty is a fault.
 */
export function singleParameter(query: Query, name: string, faults: Fault[]): string | undefined {
  const value = query[name]
  if (value === undefined) return undefined
  if (typeof value !== 'string') {
    faults.push(fault(name, 'REPEATED', 'must be given once'))
    return undefined
  }
  if (value === '') {
    faults.push(fault(name, 'EMPTY', 'must not be empty'))
    return undefined
  }
  return value
}

/** The servicePlanId of a query, checked; undefined when absent or at fault. */
export function planParameter(query: Query, required: boolean, faults: Fault[]): string | undefined {
  const value = singleParameter(query, 'servicePlanId', faults)
  if (value === undefined) {
    if (required && query.servicePlanId === undefined) {
      faults.push(fault('servicePlanId', 'REQUIRED', 'is required'))
    }
    return undefined
  }
  if (isPublicId(value)) return value
  faults.push(fault('servicePlanId', 'INVALID_FORMAT', 'must be 24 hex digits'))
  return undefined
}

/** Names of the parameters given; `name[]` and the like count as `name`. */
export function givenNames(query: Query): string[] {
  return Object.keys(query).map((key) => /^[^[]*/.exec(key)![0])
}

/**
 * Faults for `name[]`, `name[0]`, `name[$ne]` …: other servers read them as arrays or operators; here they would be
 * ignored.
 */
export function bracketFaults(query: Query, names: ReadonlySet<string>): Fault[] {
  return Object.keys(query)
    .map((key) => key.slice(0, Math.max(0, key.indexOf('['))))
    .filter((name) => names.has(name))
    .map((name) => fault(name, 'REPEATED', 'must be given once, without brackets'))
}

/** An unescaped plus of a query arrives as a space. */
export function withPlus(text: string): string {
  return /^ [0-9]/.test(text) ? `+${text.slice(1)}` : text
}

import type { DateWindow } from './lists.ts'
import { HIDDEN } from './secrets.ts'

/** What an operation of the admin API did to one object. */
export interface ObjectChange {
  /** `service-plan`; of a test of a webhook or a redelivery, the plan whose events are sent. */
  readonly objectType: string
  /** The name or number by which the object was known before the change; empty for a change of many objects. */
  readonly objectId: string
  /** Without secrets. Null: there was none. */
  readonly before: object | null
  /** Without secrets. Null: there is none any more. */
  readonly after: object | null
}

/** Who made a change, from where, and by which operation. */
export interface Author {
  /** Name of the operator token. */
  readonly token: string
  /** Address that the request came from. */
  readonly address: string
  /** operationId in the OpenAPI document. */
  readonly operation: string
}

/** A row of the audit log. */
export interface AuditEntry extends Author, ObjectChange {}

/** Filters of the audit log; null is not filtered. */
export interface AuditFilters extends DateWindow {
  readonly objectType: string | null
  readonly objectId: string | null
  readonly token: string | null
  readonly operation: string | null
}

/**
 * The object after a request with these fields. A field that the object does not show, such as a password, is named without
 * its value.
 */
export function withHiddenFields(given: object, shown: object): object {
  const hidden = Object.keys(given).filter((field) => !(field in shown))
  return { ...shown, ...Object.fromEntries(hidden.map((field) => [field, HIDDEN])) }
}

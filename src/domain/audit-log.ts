import type { DateWindow } from './list-filters.ts'
import { SecretError } from './secrets.ts'
import { withoutCredentials } from './webhooks/callback-url.ts'

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

/** Replaces the value of what is kept secret. */
const HIDDEN = '***'
/** Replaces a value that no key opens. */
const UNREADABLE = 'unreadable'

/**
 * The object after a request with these fields. A field that the object does not show, such as a password, is named without
 * its value.
 */
export function withHiddenFields(given: object, shown: object): object {
  const hidden = Object.keys(given).filter((field) => !(field in shown))
  return { ...shown, ...Object.fromEntries(hidden.map((field) => [field, HIDDEN])) }
}

/** Parts of a path from this length on can be tokens: those of Slack have 24 characters, UUIDs 36. */
const TOKEN_CHARACTERS = 16

/** A URL without its credentials, and without what may be a token in its query or its path. */
export function maskedUrl(url: string): string {
  const [, origin = '', path = '', query] =
    /^([^/]*\/\/[^/?#]*)?([^?#]*)(.*)$/s.exec(withoutCredentials(url)) ?? []
  const masked = path.replace(/[^/]+/g, (part) => (part.length < TOKEN_CHARACTERS ? part : HIDDEN))
  return `${origin}${masked}${query === '' ? '' : `?${HIDDEN}`}`
}

/** What `open` returns. An object with a value that no key opens must remain possible to repair, stop and delete. */
export function orUnreadable<T>(open: () => T): T | typeof UNREADABLE {
  try {
    return open()
  } catch (error) {
    if (error instanceof SecretError) return UNREADABLE
    throw error
  }
}

/** A person's telephone number, with most of its digits hidden: `+155******01`. */
export function maskedNumber(number: string): string {
  const [shownFirst, shownLast] = [4, 2]
  if (number.length <= shownFirst + shownLast) return HIDDEN
  const hidden = number.length - shownFirst - shownLast
  return number.slice(0, shownFirst) + '*'.repeat(hidden) + number.slice(-shownLast)
}

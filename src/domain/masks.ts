import { SecretError } from './secrets.ts'
import { withoutCredentials } from './webhooks/callback-url.ts'

/** Replaces the value of what is kept secret. */
export const HIDDEN = '***'
/** Replaces a value that no key opens. */
const UNREADABLE = 'unreadable'

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

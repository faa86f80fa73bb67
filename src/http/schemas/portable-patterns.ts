/** `(?=.{1,64}$)` at the start of a pattern: the length of the whole text. */
const LENGTH = /^\^\(\?=\.\{(\d+),(\d+)\}\$\)/

interface Published {
  readonly pattern: string
  readonly minLength?: number
  readonly maxLength?: number
}

/**
 * A pattern for the OpenAPI document. Regular expressions of Go, Java and Python lack look-ahead or `\p{Cc}`, so clients
 * generated from them would not start. The published pattern may accept more than the validated one, for example lone
 * surrogates, but never less.
 */
export function portablePattern(pattern: string): Published {
  const length = LENGTH.exec(pattern)
  const published = pattern
    .replace(LENGTH, '^')
    .replaceAll('\\p{Cc}', '\\x00-\\x1f\\x7f-\\x9f')
    .replaceAll('\\p{Cs}', '')
  if (length === null) return { pattern: published }
  return { pattern: published, minLength: Number(length[1]), maxLength: Number(length[2]) }
}

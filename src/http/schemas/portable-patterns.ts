/** `(?=.{1,64}$)` at the start of a pattern: how long the whole text may be. */
const LENGTH = /^\^\(\?=\.\{(\d+),(\d+)\}\$\)/

interface Published {
  readonly pattern: string
  readonly minLength?: number
  readonly maxLength?: number
}

/**
 * A pattern for the OpenAPI document. Regular expressions of Go, Java and Python have no look-ahead or no `\p{Cc}`, so
 * that their generated clients would not start. The published pattern may accept more than the validated one, for example
 * lone surrogates, and never less.
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

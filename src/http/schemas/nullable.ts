import { Type } from 'typebox'

/** Schemas written as JSON Schema 2020-12 type lists: a union of schemas would be serialised by trial and error. */

export function nullableString(options: { format?: string; description?: string } = {}) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options })
}

export function nullableNumber(options: { description?: string } = {}) {
  return Type.Unsafe<number | null>({ type: ['number', 'null'], ...options })
}

export function nullableInteger(options: { description?: string } = {}) {
  return Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options })
}

/** One of a few strings; with a title, a schema of that name in the OpenAPI document. */
export function oneOf<const T extends string>(
  values: readonly T[],
  options: { title?: string; description?: string } = {},
) {
  return Type.Unsafe<T>({ type: 'string', enum: values, ...options })
}

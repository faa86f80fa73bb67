import type { Static, TProperties, TSchema, TUnsafe } from 'typebox'
import { Type } from './schema-builder.ts'

/** An object that is a schema with this name in the document. */
export function titled<Properties extends TProperties>(title: string, properties: Properties) {
  return Type.Object(properties, { title })
}

/** The body of a request, which allows no other fields than these. */
export function requestBody<Properties extends TProperties>(
  title: string,
  properties: Properties,
  example: object,
) {
  return Type.Object(properties, { title, examples: [example], additionalProperties: false })
}

/** The body of a change, which needs at least one of the fields of a creation but these, which identify the object. */
export function changeBody(
  title: string,
  { properties }: { readonly properties: TProperties },
  identifying: readonly string[],
  example: object,
) {
  const changeable = Object.entries(properties).filter(([name]) => !identifying.includes(name))
  return Type.Partial(Type.Object(Object.fromEntries(changeable)), {
    title,
    examples: [example],
    additionalProperties: false,
    minProperties: 1,
  })
}

// Schemas written as JSON Schema 2020-12 type lists, which give one fault for a bad value: a union of schemas would be
// serialised by trial and error.

export function Nullable<T extends TSchema & { type: string }>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] })
}

export function nullableString(options: { format?: string; description?: string } = {}) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options })
}

export function nullableNumber(options: { description?: string } = {}) {
  return Type.Unsafe<number | null>({ type: ['number', 'null'], ...options })
}

export function nullableInteger(options: { description?: string } = {}) {
  return Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options })
}

/** A time in an answer. The serializer writes a Date as toISOString does. */
export function instant(options: { description?: string } = {}) {
  type Instant = TUnsafe<Date | string> & { type: string }
  return Type.Unsafe<Date | string>({ type: 'string', format: 'date-time', ...options }) as Instant
}

/** One of a few strings; with a title, a schema of that name in the OpenAPI document. */
export function oneOf<const T extends string>(
  values: readonly T[],
  options: { title?: string; description?: string } = {},
) {
  return Type.Unsafe<T>({ type: 'string', enum: values, ...options })
}

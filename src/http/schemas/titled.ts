import { Type } from 'typebox'

/** An object that is a schema with this name in the document. */
export function titled<Properties extends Type.TProperties>(title: string, properties: Properties) {
  return Type.Object(properties, { title })
}

/** The body of a request, which allows no other fields than these. */
export function requestBody<Properties extends Type.TProperties>(
  title: string,
  properties: Properties,
  example: object,
) {
  return Type.Object(properties, { title, examples: [example], additionalProperties: false })
}

/** The body of a change, which needs at least one of these fields. */
export function changeBody<Properties extends Type.TProperties>(
  title: string,
  properties: Properties,
  example: object,
) {
  return Type.Object(properties, {
    title,
    examples: [example],
    additionalProperties: false,
    minProperties: 1,
  })
}

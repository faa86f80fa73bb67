/**
 * Makes schemas as TypeBox does, of which they have the types: JSON Schema, and what is optional is marked. TypeBox's own
 * functions bring 300 files, which take a tenth of the CPU time of a start.
 */
import type { Type as TypeBox } from 'typebox'

type Schema = Readonly<Record<string, unknown>>
type Schemas = Readonly<Record<string, Schema>>

/** Properties that an object need not have. */
const optional = new WeakSet<Schema>()

const ofType = (type: string) => (options?: Schema) => ({ type, ...options })

function objectOf(properties: Schemas, options?: Schema): Schema {
  const required = Object.keys(properties).filter((name) => !optional.has(properties[name]!))
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
}

function optionalOf(schema: Schema): Schema {
  const marked = { ...schema }
  optional.add(marked)
  return marked
}

function partialOf({ properties }: { readonly properties: Schemas }, options?: Schema): Schema {
  const fields = Object.entries(properties).map(([name, schema]) => [name, optionalOf(schema)])
  return objectOf(Object.fromEntries(fields), options)
}

const builder = {
  String: ofType('string'),
  Integer: ofType('integer'),
  Number: ofType('number'),
  Boolean: ofType('boolean'),
  Null: ofType('null'),
  Unknown: (options?: Schema) => ({ ...options }),
  Unsafe: (schema: Schema) => ({ ...schema }),
  Enum: (values: readonly string[], options?: Schema) => ({ enum: values, ...options }),
  Union: (anyOf: readonly Schema[], options?: Schema) => ({ anyOf, ...options }),
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  /** Its keys are any texts. */
  Record: (_key: Schema, value: Schema, options?: Schema) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  Object: objectOf,
  Optional: optionalOf,
  Partial: partialOf,
}

export const Type = builder as unknown as Pick<typeof TypeBox, keyof typeof builder>

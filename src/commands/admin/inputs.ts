import type { Field, Operation, Schema } from './document.ts'
import { optionName } from './names.ts'
import { NOUNS } from './nouns.ts'

/** What sets the fields of a request: the arguments and options of an operation. */

/** A field of the request and what sets it. */
export interface Input {
  readonly place: 'path' | 'query' | 'body'
  /** Where it is there: `['optOut', 'stopWords']`. */
  readonly path: readonly string[]
  readonly schema: Schema
  /** The name of the option, or of the argument. */
  readonly name: string
  readonly isArgument: boolean
  readonly required: boolean
  /** `--no-…` clears it. */
  readonly clears: boolean
  readonly variable?: string
  readonly example: unknown
}

type Kind = 'text' | 'flag' | 'list' | 'map' | 'object' | 'group'

/** A group is an object with lists inside: each of its fields has an option of its own. */
export function kindOf({ types, properties, enum: values }: Schema): Kind {
  if (types.includes('boolean') || values?.join() === 'true,false') return 'flag'
  if (types.includes('array')) return 'list'
  if (properties === undefined) return types.includes('object') ? 'map' : 'text'
  return Object.values(properties).some((property) => property.types.includes('array')) ? 'group' : 'object'
}

export function inputsOf(operation: Operation): Input[] {
  const { parameters, query, body } = operation
  return [
    ...parameters.map((field) => argument(field, 'path')),
    ...query.map((field) =>
      input(operation, 'query', [field.name], field.name === 'after' ? told(field, CONTINUED) : field),
    ),
    ...body.flatMap((field) => bodyInputs(operation, field)),
  ]
}

const CHOSEN_ID = 'Choose the id, 24 hex digits; default: a new one'
/** The document speaks of `nextAfter`, which people do not see. */
const CONTINUED = 'Continue a list: the value printed after the previous page'
const RESUMED = 'Continue an interrupted run: the value that it printed last'

function told(field: Field, description: string): Field {
  return { ...field, schema: { ...field.schema, description } }
}

function argument({ name, schema, example }: Field, place: Input['place']): Input {
  return { place, path: [name], schema, name, isArgument: true, required: true, clears: false, example }
}

function bodyInputs(operation: Operation, given: Field): Input[] {
  const field = given.name === 'after' ? told(given, RESUMED) : given
  const { noun, verb } = operation
  const isKey = verb === 'create' && NOUNS[noun]?.key === field.name
  if (isKey && field.required) return [argument(field, 'body')]
  const whole = input(operation, 'body', [field.name], field)
  if (isKey) return [{ ...whole, name: 'id', schema: told(field, CHOSEN_ID).schema }]
  if (kindOf(field.schema) !== 'group') return [whole]
  const { properties = {}, required = [] } = field.schema
  const parts = Object.entries(properties).map(([name, schema]) =>
    input(operation, 'body', [field.name, name], {
      name,
      schema,
      required: required.includes(name),
      example: (field.example as Record<string, unknown> | undefined)?.[name],
    }),
  )
  return [whole, ...parts]
}

function input(operation: Operation, place: Input['place'], path: string[], field: Field): Input {
  const { noun, verb, method } = operation
  const { name, schema, required, example } = field
  const kind = kindOf(schema)
  const variable = NOUNS[noun]?.environment?.[verb]?.[name]
  return {
    place,
    path,
    schema,
    name: optionName(name, kind === 'list' || kind === 'map'),
    isArgument: false,
    required,
    clears: place === 'body' && canClear(kind, schema, required || method === 'PATCH'),
    ...(variable !== undefined && { variable }),
    example,
  }
}

/** What is absent need not be cleared; a flag only if it would be set otherwise. */
function canClear(
  kind: Kind,
  { types, minItems = 0, description = '' }: Schema,
  isPresent: boolean,
): boolean {
  if (kind === 'flag') return isPresent || description.includes('; default: true')
  return isPresent && (types.includes('null') || kind === 'map' || (kind === 'list' && minItems === 0))
}

import { readFileSync } from 'node:fs'
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
      input(operation, 'query', [field.name], field.name === 'after' ? described(field, CONTINUED) : field),
    ),
    ...body.flatMap((field) => bodyInputs(operation, field)),
  ]
}

const CHOSEN_ID = 'Choose the id, 24 hex digits; default: a new one'
/** The document speaks of `nextAfter`, which people do not see. */
const CONTINUED = 'Continue a list: the value printed after the previous page'
const RESUMED = 'Continue an interrupted run: the value that it printed last'

function described(field: Field, description: string): Field {
  return { ...field, schema: { ...field.schema, description } }
}

function argument({ name, schema, example }: Field, place: Input['place']): Input {
  return { place, path: [name], schema, name, isArgument: true, required: true, clears: false, example }
}

function bodyInputs(operation: Operation, given: Field): Input[] {
  const field = given.name === 'after' ? described(given, RESUMED) : given
  const { noun, verb } = operation
  const isKey = verb === 'create' && NOUNS[noun]?.key === field.name
  if (isKey && field.required) return [argument(field, 'body')]
  const whole = input(operation, 'body', [field.name], field)
  if (isKey) return [{ ...whole, name: 'id', schema: described(field, CHOSEN_ID).schema }]
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

// The fields of a request from what was given on the command line. Text goes to the service as it is, which checks it and
// names the field at fault. A `-` as the value of an option is standard input.

type Given = string | readonly string[] | boolean | undefined

/** The fields of one place that were given. Absent fields of a change keep their values. */
export function valuesOf(
  inputs: readonly Input[],
  place: Input['place'],
  given: (input: Input) => Given,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const each of inputs.filter((input) => input.place === place)) {
    const text = given(each)
    if (text === undefined) continue
    const [field, part] = each.path
    const value = text === false ? cleared(each.schema) : parse(each, text)
    if (part === undefined) values[field!] = value
    // A group that is cleared has no parts.
    else if (values[field!] !== null) values[field!] = { ...(values[field!] as object), [part]: value }
  }
  return values
}

function cleared(schema: Schema): unknown {
  const kind = kindOf(schema)
  if (kind === 'flag') return false
  if (kind === 'list') return (schema.minItems ?? 0) === 0 ? [] : null
  return kind === 'map' ? {} : null
}

function parse(
  { schema, place, name, isArgument }: Input,
  given: string | readonly string[] | true,
): unknown {
  const kind = kindOf(schema)
  if (kind === 'group') return {}
  if (kind === 'flag') return place === 'query' ? 'true' : true
  const texts = [given].flat() as readonly string[]
  if (kind === 'list') return texts.flatMap((text) => listed(schema.items!, text))
  if (kind === 'map') return Object.fromEntries(texts.map((text) => pair(text, name)))
  const text = texts[0] === '-' && !isArgument ? readStandardInput() : texts[0]!
  return kind === 'object' ? pieces(schema, text) : scalar(schema, text, place)
}

/** Texts are separated by commas; of objects, whose texts may have commas, each is given by itself. */
function listed(schema: Schema, text: string): unknown[] {
  const isObject = schema.properties !== undefined
  const lines = text === '-' ? readStandardInput().split(/\r?\n/) : [text]
  const texts = isObject || text === '-' ? lines.filter((line) => line !== '') : text.split(',')
  return texts.map((each) => (isObject ? pieces(schema, each, (part) => part.trim()) : each.trim()))
}

/** Standard input to its end, without the line feed there. For secrets: nobody sees it in the list of processes. */
function readStandardInput(): string {
  return readFileSync(0, 'utf8').replace(/\r?\n$/, '')
}

/** `0x45=retry` */
function pair(text: string, name: string): [string, string] {
  const [, key, value] = /^([^=]+)=([^=]+)$/.exec(text) ?? []
  if (key === undefined || value === undefined)
    throw new Error(`--${name} needs a key and a value: key=value`)
  return [key, value]
}

/** `acme:0:3` as the fields of an object, in their order. The last one may have colons inside. */
function pieces(
  { properties = {} }: Schema,
  text: string,
  trim = (part: string) => part,
): Record<string, unknown> {
  const names = Object.keys(properties)
  const texts = text.split(':')
  const last = names.length - 1
  const parts = texts.length > last ? [...texts.slice(0, last), texts.slice(last).join(':')] : texts
  return Object.fromEntries(
    parts.map((part, index) => [names[index]!, scalar(properties[names[index]!]!, trim(part), 'body')]),
  )
}

/** Null where there is no text and the field may be null. A number where the field is one and the text looks like one; the service says what is wrong with other texts. */
function scalar({ types }: Schema, text: string, place: Input['place']): string | number | null {
  if (place === 'body' && text === '' && types.includes('null')) return null
  const isNumber = place === 'body' && types.includes('integer') && /^-?\d{1,15}$/.test(text)
  return isNumber ? Number(text) : text
}

import { type Command, Option } from 'commander'
import type { Operation, Schema } from './document.ts'
import { type Input, kindOf } from './inputs.ts'
import { optionName } from './names.ts'

/** The arguments and options of a command in its help. */

/** Adds the arguments and options of a command. `isChange`: fields that are not given keep their values. */
export function addInputs(command: Command, inputs: readonly Input[], isChange: boolean): void {
  for (const each of inputs.filter(({ isArgument }) => isArgument))
    command.argument(`<${each.name}>`, wordsOf(each, isChange).help)
  for (const each of inputs.filter(({ isArgument }) => !isArgument)) {
    const { name, required, clears, variable, schema } = each
    const { help, cleared } = wordsOf(each, isChange)
    const option = new Option(flagOf(each), help)
    const kind = kindOf(schema)
    if (kind === 'text' && schema.enum !== undefined) option.choices(schema.enum)
    if (kind === 'list' || kind === 'map') option.argParser(repeated)
    if (variable !== undefined) option.env(variable)
    else if (required) option.makeOptionMandatory()
    command.addOption(option)
    if (clears) command.addOption(new Option(`--no-${name}`, cleared))
  }
  command.usage(usageOf(inputs))
}

/** Arguments and required options, then the others. */
function usageOf(inputs: readonly Input[]): string {
  const words = inputs
    .filter(({ required }) => required)
    .map((each) => (each.isArgument ? `<${each.name}>` : flagOf(each)))
  return [...words, '[options]'].join(' ')
}

function flagOf({ name, schema, path }: Input): string {
  const kind = kindOf(schema)
  return kind === 'flag' || kind === 'group'
    ? `--${name}`
    : `--${name} <${placeholder(schema, path.at(-1)!)}>`
}

/** Values that are called by what they are, not by their field. */
const VALUES: readonly (readonly [field: RegExp, value: string])[] = [
  [/PerSecond$/, 'per-second'],
  [/Seconds$/, 'seconds'],
  [/^minutes$/, 'minutes'],
  [/^after$/, 'position'],
  [/^from$/, 'sender'],
  [/^to$/, 'number'],
  [/^tlsCa$/, 'pem'],
  [/url$/i, 'url'],
  [/(Date|At)$/, 'time'],
  [/(Reply|^body)$/, 'text'],
  [/^tlsServerName$/, 'name'],
  [/Id$/, 'id'],
]

/** What stands for the value in the help. */
function placeholder({ types, items, properties }: Schema, field: string): string {
  const value = VALUES.find(([pattern]) => pattern.test(field))?.[1]
  if (items !== undefined)
    return items.properties === undefined ? `${optionName(field, true)},…` : placeholder(items, field)
  if (properties !== undefined) return `${placeholder({ types: ['string'] }, Object.keys(properties)[0]!)}:…`
  if (types.includes('object')) return 'key=value'
  return value ?? (types.includes('integer') || field === 'limit' ? 'number' : optionName(field))
}

function repeated(text: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), text]
}

// The help of an option, made of its schema. A description may end in notes such as `; null: no limit`: they say what the
// field is without a value, so they are the help of `--no-…`, and the default of a command that creates.

const NOTE = /; (null or absent|null|empty|false|default): /

interface Description {
  readonly text: string
  /** What null, an empty list or false stands for. */
  readonly cleared?: string
  readonly fallback?: string
}

/** `Messages a second, at most; null: no limit` -> the text, and what the notes say. */
export function parseDescription(description: string): Description {
  const [text = '', ...notes] = description.split(NOTE)
  let parsed: Description = { text }
  for (let index = 0; index < notes.length; index += 2) {
    const [kind, meaning] = [notes[index], notes[index + 1]!]
    parsed = kind === 'default' ? { ...parsed, fallback: meaning } : { ...parsed, cleared: meaning }
  }
  return parsed
}

/** Fields that secrets or files are given for. */
const FROM_STANDARD_INPUT: Readonly<Record<string, string>> = {
  password: '- reads it from standard input',
  webhookCredentials: '- reads them from standard input',
  webhookHeaders: '- reads one a line from standard input',
  tlsCa: 'from a file: --tls-ca - < ca.pem',
}

function wordsOf(input: Input, isChange: boolean): { help: string; cleared: string } {
  const { schema, place, path, required, isArgument, name, clears } = input
  const { text, cleared, fallback } = parseDescription(schema.description ?? '')
  const kind = kindOf(schema)
  const isOmissible = !isChange && !required && place !== 'path'
  const absence = fallback ?? (schema.types.includes('null') && !clears ? cleared : undefined)
  const notes = [
    rangeOf(schema),
    schema.items?.enum !== undefined && `any of ${schema.items.enum.join(', ')}`,
    kind === 'object' && formOf(schema),
    schema.items?.properties !== undefined && `${formOf(schema.items)}; may be repeated`,
    kind === 'map' && 'may be repeated',
    isChange && clears && (kind === 'list' || kind === 'map') && 'replaces the present ones',
    place === 'body' && FROM_STANDARD_INPUT[path.at(-1)!],
    isOmissible && absence !== undefined && `default: ${absence}`,
    required && !isArgument && 'required',
  ].filter((note) => typeof note === 'string')
  return {
    help: [text, ...notes.map((note) => `(${note})`)].join(' ').trim(),
    cleared: capitalised(cleared ?? (kind === 'flag' ? `the opposite of --${name}` : 'none')),
  }
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function rangeOf({ types, minimum = 0, maximum }: Schema): string | undefined {
  return types.includes('integer') && maximum !== undefined ? `${minimum}-${maximum}` : undefined
}

/** How an object is written, and its parts: `carrier[:priority[:weight]]; priority: lowest first, 0-1000`. */
function formOf({ properties = {}, required = [] }: Schema): string {
  const form = Object.keys(properties).reduceRight((rest, name, index) => {
    const piece = index === 0 ? name : `:${name}`
    return required.includes(name) ? `${piece}${rest}` : `[${piece}${rest}]`
  }, '')
  const parts = Object.entries(properties).flatMap(([name, schema]) => {
    if (schema.maximum === undefined) return []
    const { text, fallback } = parseDescription(schema.description ?? '')
    const notes = [text, rangeOf(schema), fallback !== undefined && `default ${fallback}`]
    return [`${name}: ${notes.filter((note) => typeof note === 'string' && note !== '').join(', ')}`]
  })
  return [form, ...parts].join('; ')
}

/** The command that sends the example of the document. */
export function exampleOf({ noun, verb }: Operation, inputs: readonly Input[]): string {
  const shown = inputs.filter(
    ({ place, required, example }) => required || (place === 'body' && example !== undefined),
  )
  const variables = shown.flatMap(({ variable, example }) =>
    variable === undefined ? [] : [`${variable}=${quoted(textOf(example))}`],
  )
  const words = shown.filter(({ variable }) => variable === undefined).flatMap(givenWords)
  return [...variables, 'aldis', noun, verb, ...words.map(quoted)].join(' ')
}

function givenWords({ isArgument, name, schema, example }: Input): string[] {
  if (isArgument) return [textOf(example)]
  const kind = kindOf(schema)
  if (kind === 'flag') return [example === false ? `--no-${name}` : `--${name}`]
  if (kind === 'group') return []
  if (example === null || (Array.isArray(example) && example.length === 0)) return [`--no-${name}`]
  if (kind === 'map')
    return Object.entries(example as object).flatMap(([key, value]) => [`--${name}`, `${key}=${value}`])
  if (kind !== 'list') return [`--${name}`, textOf(example)]
  const items = example as readonly unknown[]
  const texts = schema.items?.properties === undefined ? [items.join(',')] : items.map(textOf)
  return texts.flatMap((text) => [`--${name}`, text])
}

/** An object as its values with colons between. */
function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? Object.values(value).join(':') : String(value)
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

import type { Operation } from './document.ts'
import { type Input, kindOf } from './inputs.ts'

/** The command that sends the example of the document. */
export function exampleOf({ noun, verb }: Operation, inputs: readonly Input[]): string {
  const shown = inputs.filter(
    ({ place, required, example }) => required || (place === 'body' && example !== undefined),
  )
  const variables = shown.flatMap(({ variable, example }) =>
    variable === undefined ? [] : [`${variable}=${quoted(textOf(example))}`],
  )
  const words = shown.filter(({ variable }) => variable === undefined).flatMap(wordsOf)
  return [...variables, 'aldis', noun, verb, ...words.map(quoted)].join(' ')
}

function wordsOf({ isArgument, name, schema, example }: Input): string[] {
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

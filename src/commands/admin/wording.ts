import type { Schema } from './document.ts'
import { type Input, kindOf } from './inputs.ts'

/**
 * The help of an option, made of its schema. A description may end in notes such as `; null: no limit`: they say what the
 * field is without a value, so they are the help of `--no-…`, and the default of a command that creates.
 */

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

export function wordsOf(input: Input, isChange: boolean): { help: string; cleared: string } {
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
    const told = [text, rangeOf(schema), fallback !== undefined && `default ${fallback}`]
    return [`${name}: ${told.filter((note) => typeof note === 'string' && note !== '').join(', ')}`]
  })
  return [form, ...parts].join('; ')
}

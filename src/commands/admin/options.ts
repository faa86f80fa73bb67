import { type Command, Option } from 'commander'
import type { Schema } from './document.ts'
import { type Input, kindOf } from './inputs.ts'
import { optionName } from './names.ts'

/** The arguments and options of a command in its help. */

/** Adds the arguments and options of a command. */
export function addInputs(command: Command, inputs: readonly Input[]): void {
  for (const each of inputs) {
    const { name, isArgument, required, clears, variable, schema } = each
    if (isArgument) {
      command.argument(`<${name}>`, describe(schema))
      continue
    }
    const option = new Option(flagOf(each), describe(schema))
    const kind = kindOf(schema)
    if (kind === 'text' && schema.enum !== undefined) option.choices(schema.enum)
    if (kind === 'list' || kind === 'map') option.argParser(repeated)
    if (variable !== undefined) option.env(variable)
    else if (required) option.makeOptionMandatory()
    command.addOption(option)
    if (clears)
      command.addOption(new Option(`--no-${name}`, kind === 'flag' ? `not --${name}` : `clear --${name}`))
  }
}

function flagOf({ name, schema, path }: Input): string {
  const kind = kindOf(schema)
  return kind === 'flag' || kind === 'group'
    ? `--${name}`
    : `--${name} <${placeholder(schema, path.at(-1)!)}>`
}

/** What stands for the value in the help. */
function placeholder({ types, items, properties, enum: values }: Schema, field: string): string {
  if (types.includes('integer')) return 'n'
  if (items !== undefined)
    return items.properties === undefined ? `${optionName(field, true)},…` : placeholder(items, field)
  if (properties !== undefined) return `${Object.keys(properties)[0]}:…`
  if (types.includes('object')) return 'key=value'
  return values === undefined ? field : optionName(field)
}

function describe(schema: Schema): string {
  const { description, types, minimum = 0, maximum, items } = schema
  const notes = [
    types.includes('integer') && maximum !== undefined && `${minimum}-${maximum}`,
    items?.enum !== undefined && `of ${items.enum.join(', ')}`,
    kindOf(schema) === 'object' && form(schema),
    items?.properties !== undefined && `${form(items)}, may be repeated`,
  ].filter((note) => note !== false)
  return [description ?? '', ...notes.map((note) => `(${note})`)].join(' ').trim()
}

/** How an object is written: `carrier[:priority[:weight]]`. */
function form({ properties = {}, required = [] }: Schema): string {
  return Object.keys(properties).reduceRight((rest, name, index) => {
    const piece = index === 0 ? name : `:${name}`
    return required.includes(name) ? `${piece}${rest}` : `[${piece}${rest}]`
  }, '')
}

function repeated(text: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), text]
}

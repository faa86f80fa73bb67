import { type Command, Option } from 'commander'
import type { Schema } from './document.ts'
import { type Input, kindOf } from './inputs.ts'
import { optionName } from './names.ts'
import { wordsOf } from './wording.ts'

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

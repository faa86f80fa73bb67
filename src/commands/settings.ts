import { type Command, Option } from 'commander'

type Parser = (text: string, previous: never) => unknown

/**
 * A field of the admin API and the option that sets it. `how`: `required`, the values to choose from, or the parser of its
 * text. Of an option `--no-…` it is a function that returns what the field is set to; by default that is null.
 */
export type Setting = readonly [
  field: string,
  flag: string,
  description: string,
  how?: 'required' | readonly string[] | Parser,
]

export function addSettings(command: Command, settings: readonly Setting[]): Command {
  for (const [, flag, description, how] of settings) {
    const option = new Option(flag, description)
    if (how === 'required') option.makeOptionMandatory()
    else if (typeof how === 'object') option.choices(how)
    else if (how !== undefined && !option.negate) option.argParser(how as Parameters<Option['argParser']>[0])
    command.addOption(option)
  }
  return command
}

/** The fields whose options were given. An absent field of a change keeps its value. */
export function fieldsOf(settings: readonly Setting[], options: object): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [field, flag, , how] of settings) {
    const option = new Option(flag)
    const value = (options as Record<string, unknown>)[option.attributeName()]
    if (option.negate && value === false)
      fields[field] = typeof how === 'function' ? (how as () => unknown)() : null
    else if (!option.negate && value !== undefined && value !== false) fields[field] = value
  }
  return fields
}

/** Option parser: values separated by commas. */
export function listed(text: string): string[] {
  return text.split(',').map((value) => value.trim())
}

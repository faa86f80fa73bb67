/**
 * What the console knows of the operations of its forms: the fields with their types and help, and the command that does
 * the same. It is made by the code that makes the command line, so both say the same.
 */
import { describeTag, type Operation, operations, type Schema } from '../src/commands/admin/document.ts'
import { type Input, inputsOf, kindOf } from '../src/commands/admin/inputs.ts'
import { parseDescription } from '../src/commands/admin/options.ts'

export const CONSOLE_OPERATIONS = new URL('../console/src/pages/resources/operations.json', import.meta.url)

/** The objects that the console has forms for. */
const NOUNS = new Set([
  'account',
  'plan',
  'token',
  'operator-token',
  'sender',
  'sender-rule',
  'number',
  'sendsms-user',
  'opt-out',
  'carrier',
  'route',
  'routing-rule',
  'number-range',
  'rate',
])

const VERBS = new Set([
  'list',
  'create',
  'update',
  'delete',
  'import',
  'rotate-webhook-secret',
  'delete-previous-webhook-secret',
])

/** Parameters that go through the pages of a list. */
const PAGING = new Set(['limit', 'after'])

/** A line for each operation, by its operationId. */
export function consoleOperations(): string {
  const lines = operations()
    .filter(({ noun, verb }) => NOUNS.has(noun) && VERBS.has(verb))
    .map((operation) => `${JSON.stringify(operation.id)}: ${JSON.stringify(described(operation))}`)
  return `{\n${lines.join(',\n')}\n}\n`
}

function described(operation: Operation): object {
  const { noun, verb, description, tag } = operation
  const inputs = inputsOf(operation).filter(({ path: [field] }) => !PAGING.has(field!))
  const about = verb === 'list' ? describeTag(tag) : description
  return { command: [noun, verb], about, inputs: inputs.map(inputOf) }
}

function inputOf({ place, path, name, isArgument, required, clears, schema }: Input): object {
  return {
    place,
    path,
    option: name,
    ...flags({ isArgument, required, clears }),
    // A part of a group is described with the group.
    ...(path.length === 1 && { control: controlOf(schema) }),
  }
}

function controlOf(schema: Schema): object {
  const { types, enum: values, items, properties, required = [], minimum, maximum, minItems } = schema
  const { text, cleared, fallback } = parseDescription(schema.description ?? '')
  const kind = kindOf(schema)
  return {
    kind: kind === 'text' && types.includes('integer') ? 'integer' : kind,
    ...flags({ nullable: types.includes('null') }),
    ...(kind === 'text' && { values }),
    help: text === '' ? undefined : text,
    none: cleared,
    fallback,
    ...(types.includes('integer') && { minimum, maximum }),
    minItems,
    ...(items !== undefined && { item: controlOf(items) }),
    ...(properties !== undefined && {
      fields: Object.entries(properties).map(([name, field]) => ({
        name,
        ...flags({ required: required.includes(name) }),
        control: controlOf(field),
      })),
    }),
  }
}

/** Those that are true. */
function flags(given: Readonly<Record<string, boolean>>): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value))
}

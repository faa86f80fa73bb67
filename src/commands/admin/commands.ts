import type { Command } from 'commander'
import { ACTS, FOLLOWED } from './acts.ts'
import { addCarrierStates } from './carrier-states.ts'
import { addConnectionOptions, type ConnectionOptions } from './client.ts'
import { describeFile, importFile } from './csv.ts'
import { describeTag, type Operation, operations } from './document.ts'
import { type Input, inputsOf } from './inputs.ts'
import { NOUNS, type Noun, tablesOf } from './nouns.ts'
import { addInputs, exampleOf } from './options.ts'
import { type Fields, printAnswer, printJson } from './printing.ts'
import { type Call, callOf, type Part, parts, request } from './requests.ts'

/** `aldis <noun> <verb>`, made of the operations of the admin API. */

/** Every noun, in the order of the help text. */
export function nouns(): string[] {
  return [...new Set([...Object.keys(NOUNS), ...operations().map(({ noun }) => noun)])]
}

/** Adds a noun with all its verbs. */
export function addNoun(program: Command, name: string): void {
  const row: Partial<Noun> = NOUNS[name] ?? {}
  const own = operations().filter(({ noun }) => noun === name)
  const noun = program.command(name).description(row.description ?? withoutPeriod(describeTag(own[0]!.tag)))
  noun.helpCommand('help [command]', 'Show the help of a command')
  if (row.notes !== undefined) noun.addHelpText('after', `\n${row.notes}`)
  for (const operation of own.toSorted((a, b) => placeOf(a) - placeOf(b))) addOperation(noun, operation, row)
  if (row.isShown === true) showDefault(noun)
  if (name === 'carrier')
    addCarrierStates(noun, (options, carrier) => print({ noun: name, verb: 'show' }, options, carrier))
}

const FIRST_VERBS = ['list', 'show', 'create', 'update', 'delete']

function placeOf({ verb }: Operation): number {
  const place = FIRST_VERBS.indexOf(verb)
  return place === -1 ? FIRST_VERBS.length : place
}

/** The noun alone is `show`, so its options belong to the help of the noun. */
function showDefault(noun: Command): void {
  const show = noun.commands.find((command) => command.name() === 'show')!
  noun.addHelpText(
    'after',
    () => `\naldis ${noun.name()} alone is aldis ${noun.name()} show:\n\n${show.helpInformation()}`,
  )
}

function addOperation(noun: Command, operation: Operation, row: Partial<Noun>): void {
  const { verb, summary, description, method } = operation
  const command = noun.command(verb, { isDefault: row.isShown === true && verb === 'show' })
  const text = row.descriptions?.[verb] ?? [`${summary}.`, description].join(' ').trim()
  command.summary(summary).description(text.replaceAll('\n', ' '))
  if (method === 'PUT') command.alias('update')
  if (verb === 'import') addImport(command, operation)
  else addRequest(command, operation)
  addConnectionOptions(command)
}

function addImport(command: Command, operation: Operation): void {
  command
    .argument('<file>', describeFile(operation))
    .usage('<file> [options]')
    .addHelpText('after', `\nExample:\n  aldis ${operation.noun} import ${operation.noun}s.csv`)
    .action((file: string, options: ConnectionOptions) => importFile(options, operation, file))
}

const FOLLOW_HELP =
  'Show the newest 10, or --limit, and then new messages and changes of status, until Ctrl-C'

function addRequest(command: Command, operation: Operation): void {
  const inputs = inputsOf(operation)
  addInputs(command, inputs, operation.method === 'PATCH')
  if (isList(operation)) command.option('--all', 'Show all pages')
  if (FOLLOWED[operation.id] !== undefined) command.option('--follow', FOLLOW_HELP)
  command.addHelpText('after', `\nExample:\n  ${exampleOf(operation, inputs)}`)
  const names = inputs.filter(({ isArgument }) => isArgument).map(({ name }) => name)
  command.action(async (...words: unknown[]) => {
    const options = words[names.length] as Call['options']
    const given = ({ name, isArgument }: Input) =>
      (isArgument ? words[names.indexOf(name)] : options[attributeOf(name)]) as string | undefined
    await act(callOf(operation, inputs, options, given))
  })
}

/** As commander calls the value of an option. */
function attributeOf(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function isList({ query }: Operation): boolean {
  return query.some(({ name }) => name === 'after')
}

async function act(call: Call): Promise<void> {
  const { operation, options } = call
  const warning = NOUNS[operation.noun]?.warning?.(call.body ?? {})
  if (warning !== undefined) process.stderr.write(`warning: ${warning}\n`)
  const special = options.follow === true ? FOLLOWED[operation.id] : ACTS[operation.id]
  if (special !== undefined) return special(call)
  const answer = options.all === true ? await allPages(call) : await request<Fields | undefined>(call)
  if (answer === undefined) return
  print(operation, options, answer)
  // A test event that nobody took.
  if (answer.delivered === false) process.exitCode = 1
}

interface Page extends Fields, Part {
  readonly items: readonly Fields[]
}

async function allPages(call: Call): Promise<Page> {
  const items: Fields[] = []
  for await (const page of parts<Page>(call)) items.push(...page.items)
  return { items, nextAfter: null }
}

/** Prints an answer: JSON, or fields and tables. */
function print(
  { noun, verb }: Pick<Operation, 'noun' | 'verb'>,
  options: ConnectionOptions,
  answer: Fields,
): void {
  if (options.json) {
    printJson(answer)
    return
  }
  const { nextAfter, ...shown } = answer
  const { items } = shown as Partial<Page>
  const tables = tablesOf(noun, verb)
  const columns = items && tables.items === undefined ? { items: Object.keys(items[0] ?? {}).join(' ') } : {}
  printAnswer(NOUNS[noun]?.present?.[verb]?.(shown) ?? shown, { ...tables, ...columns })
  if (typeof nextAfter === 'string') process.stderr.write(`more: --after '${nextAfter}', or --all\n`)
}

function withoutPeriod(text: string): string {
  return text.replace(/\.$/, '')
}

import type { Command } from 'commander'
import {
  addConnectionOptions,
  type ConnectionOptions,
  requestAdmin,
  segment,
  wholeNumber,
} from './admin-client.ts'
import { type Columns, type Fields, printFields, printJson, printTable } from './printing.ts'
import { addSettings, fieldsOf, type Setting } from './settings.ts'

/** The commands that every resource of the admin API has alike. */

/** Adds a subcommand with the connection options. `syntax` as commander takes it: `show <accountId>`. */
export function addAction(parent: Command, syntax: string, description: string): Command {
  return addConnectionOptions(parent.command(syntax).description(description))
}

/** Sends a request and prints the resource it answers with. */
export async function requestAndPrint(
  options: ConnectionOptions,
  method: string,
  path: string,
  body?: unknown,
): Promise<void> {
  const answer = await requestAdmin(options, method, path, body)
  if (answer === undefined) return
  if (options.json) printJson(answer)
  else printFields(answer as Fields)
}

/** What the command of one resource has: where it is, what its key is called, and what is said of the subcommand. */
interface Subcommand {
  readonly path: string
  readonly description: string
}

interface Writing extends Subcommand {
  readonly settings: readonly Setting[]
  /** Fields that are set in another way than by a Setting. */
  readonly others?: (options: never) => Record<string, unknown>
  readonly send?: typeof requestAndPrint
}

/** `create`, or `create <key>` when the caller names it. */
export function addCreate(parent: Command, what: Writing & { key?: string; word?: string }): Command {
  const { key, word = 'create', settings, others, send = requestAndPrint } = what
  const command = addAction(parent, key === undefined ? word : `${word} <${key}>`, what.description)
  return addSettings(command, settings).action((...given: unknown[]) => {
    const options = (key === undefined ? given[0] : given[1]) as ConnectionOptions
    const named = key === undefined ? {} : { [key]: given[0] }
    const body = { ...named, ...fieldsOf(settings, options), ...others?.(options as never) }
    return send(options, 'POST', what.path, body)
  })
}

/** `update <key>`. */
export function addUpdate(parent: Command, what: Writing & { key: string }): Command {
  const command = addAction(parent, `update <${what.key}>`, what.description)
  const { settings, others, send = requestAndPrint } = what
  return addSettings(command, settings).action((key: string, options: ConnectionOptions) => {
    const body = { ...fieldsOf(settings, options), ...others?.(options as never) }
    return send(options, 'PATCH', `${what.path}/${segment(key)}`, body)
  })
}

/** `list`, or another word for it, with `--limit` and `--after`. */
export function addList(
  parent: Command,
  what: Subcommand & { columns: Columns; filters?: readonly Setting[]; word?: string },
): void {
  const { filters = [] } = what
  const command = addSettings(addAction(parent, what.word ?? 'list', what.description), filters)
  addPageOptions(command).action((options: ConnectionOptions & PageOptions) =>
    printList(options, what.path, what.columns, fieldsOf(filters, options)),
  )
}

interface PageOptions {
  readonly limit?: number
  readonly after?: string
}

export function addPageOptions(command: Command): Command {
  return command
    .option('--limit <n>', 'maximum number of items to show (1-1000, default 100)', wholeNumber)
    .option('--after <key>', 'continue after this item')
}

export async function printList(
  options: ConnectionOptions & PageOptions,
  path: string,
  columns: Columns,
  filters: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ limit: options.limit, after: options.after, ...filters })) {
    if (value !== undefined) query.set(name, String(value))
  }
  const answer = (await requestAdmin(options, 'GET', `${path}?${query}`)) as {
    items: Fields[]
    nextAfter: string | null
  }
  if (options.json) return printJson(answer)
  printTable(answer.items, columns)
  if (answer.nextAfter !== null) process.stderr.write(`more: --after '${answer.nextAfter}'\n`)
}

/** `show <key>`. */
export function addShow(parent: Command, what: Subcommand & { key: string }): void {
  addAction(parent, `show <${what.key}>`, what.description).action(
    (key: string, options: ConnectionOptions) =>
      requestAndPrint(options, 'GET', `${what.path}/${segment(key)}`),
  )
}

/** `delete <key>`, or another word for it. */
export function addDelete(parent: Command, what: Subcommand & { key: string; word?: string }): void {
  addAction(parent, `${what.word ?? 'delete'} <${what.key}>`, what.description).action(
    (key: string, options: ConnectionOptions) =>
      requestAndPrint(options, 'DELETE', `${what.path}/${segment(key)}`),
  )
}

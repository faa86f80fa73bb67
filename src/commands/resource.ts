import type { Command } from 'commander'
import {
  addConnectionOptions,
  type ConnectionOptions,
  requestAdmin,
  segment,
  wholeNumber,
} from './admin-client.ts'
import { type Column, type Fields, printFields, printJson, printTable } from './printing.ts'

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

/** `list`, with `--limit` and `--after`; `filters` are options that go into the query under the same name. */
export function addList(
  parent: Command,
  what: { description: string; path: string; columns: readonly Column[] },
  filters: Readonly<Record<string, { flag: string; description: string }>> = {},
): void {
  const command = addAction(parent, 'list', what.description)
  addPageOptions(command)
  for (const { flag, description } of Object.values(filters)) command.option(flag, description)
  command.action(async (options: ConnectionOptions & PageOptions & Record<string, unknown>) => {
    const chosen: Record<string, unknown> = {}
    for (const [name, { flag }] of Object.entries(filters)) chosen[name] = options[optionName(flag)]
    await printList(options, what.path, what.columns, chosen)
  })
}

interface PageOptions {
  readonly limit?: number
  readonly after?: string
}

export function addPageOptions(command: Command): Command {
  return command
    .option('--limit <n>', 'most items to show (1-1000, default 100)', wholeNumber)
    .option('--after <key>', 'go on behind this item')
}

export async function printList(
  options: ConnectionOptions & PageOptions,
  path: string,
  columns: readonly Column[],
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
export function addShow(parent: Command, what: { key: string; path: string; description: string }): void {
  addAction(parent, `show <${what.key}>`, what.description).action(
    (key: string, options: ConnectionOptions) =>
      requestAndPrint(options, 'GET', `${what.path}/${segment(key)}`),
  )
}

/** `delete <key>`, or another word for it. */
export function addDelete(
  parent: Command,
  what: { key: string; path: string; description: string; word?: string },
): void {
  addAction(parent, `${what.word ?? 'delete'} <${what.key}>`, what.description).action(
    (key: string, options: ConnectionOptions) =>
      requestAndPrint(options, 'DELETE', `${what.path}/${segment(key)}`),
  )
}

/** `--some-flag <value>` -> someFlag. */
function optionName(flag: string): string {
  const name = /^--([a-z-]+)/.exec(flag)![1]!
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

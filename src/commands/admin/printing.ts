import { optionName } from './names.ts'

/** What the CLI prints: tables and fields for people, JSON for programs. */

export type Fields = Readonly<Record<string, unknown>>

/**
 * The columns of a table: fields of its rows, with a space between. `link.state` goes inside. A heading is made of the name
 * of the field, unless the column has one: `NO_ANSWER=submits.noAnswer`.
 */
export type Columns = string

/** The columns of the tables in an answer, by field. */
export type Tables = Readonly<Record<string, Columns>>

/** Characters that a terminal acts on: controls, and marks of the text direction. Customers and carriers may send them. */
const OBEYED = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** The text with these characters escaped as in JSON: `\u001b`. */
export function shownText(text: string): string {
  return text.replace(OBEYED, shownCharacter)
}

function shownCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export function printJson(value: unknown): void {
  const text = JSON.stringify(value, null, 2)
  // The line feeds are those of the layout.
  const shown = text.replace(OBEYED, (character) =>
    character === '\n' ? character : shownCharacter(character),
  )
  process.stdout.write(`${shown}\n`)
}

/** The fields, then the tables among them that have rows, with an empty line between. Nothing at all is an empty table. */
export function printAnswer(answer: Fields, tables: Tables): void {
  const fields = without(...Object.keys(tables))(answer)
  const named = Object.entries(tables)
  const rowsOf = (name: string) => (answer[name] ?? []) as readonly Fields[]
  const filled = named.filter(([name]) => rowsOf(name).length > 0)
  const hasFields = Object.keys(fields).length > 0
  if (hasFields) printFields(fields)
  const shown = hasFields || filled.length > 0 ? filled : named.slice(0, 1)
  for (const [index, [name, columns]] of shown.entries()) {
    if (hasFields || index > 0) process.stdout.write('\n')
    printTable(rowsOf(name), columns)
  }
}

function printTable(rows: readonly Fields[], columns: Columns): void {
  new Table(columns).print(rows)
}

/** Columns as wide as their widest cell so far, two spaces apart. The headings come before the first rows. */
export class Table {
  readonly #columns: readonly (readonly [heading: string, path: string])[]
  readonly #widths: number[]
  #hasHeadings = false

  constructor(columns: Columns) {
    this.#columns = columns.split(/\s+/).map(headed)
    this.#widths = this.#columns.map(([heading]) => heading.length)
  }

  print(rows: readonly Fields[]): void {
    const lines = rows.map((row) => this.#columns.map(([, path]) => cell(valueAt(row, path))))
    for (const [index, width] of this.#widths.entries())
      this.#widths[index] = Math.max(width, ...lines.map((line) => line[index]!.length))
    if (!this.#hasHeadings) lines.unshift(this.#columns.map(([heading]) => heading))
    this.#hasHeadings = true
    for (const line of lines) {
      const padded = line.map((text, index) => text.padEnd(this.#widths[index]!))
      process.stdout.write(`${padded.join('  ').trimEnd()}\n`)
    }
  }
}

/** `rateLimit.messagesPerSecond` -> `RATE` and that path. */
export function headed(column: string): readonly [heading: string, path: string] {
  const [heading, path] = column.split('=')
  if (path !== undefined) return [heading!.replaceAll('_', ' '), path]
  return [optionName(column.split('.').at(-1)!).replaceAll('-', ' ').toUpperCase(), column]
}

/** One field a line, names in a column. */
function printFields(fields: Fields): void {
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  for (const [name, value] of Object.entries(fields)) {
    process.stdout.write(`${name.padEnd(width)}  ${cell(value)}\n`)
  }
}

/** A function that leaves these fields out. */
export function without(...names: readonly string[]): (fields: Fields) => Fields {
  return (fields) => Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
}

function valueAt(fields: Fields, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Fields | null | undefined)?.[name], fields)
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(inner).join(', ')
  return inner(value)
}

/** An object inside a field: `messagesPerSecond 10 burst 20`. */
function inner(value: unknown): string {
  if (typeof value !== 'object' || value === null) return shownText(String(value))
  const filled = Object.entries(value).filter(([, field]) => field !== null)
  if (filled.length === 0) return '-'
  return filled.map(([name, field]) => `${name} ${shownText(String(field))}`).join(' ')
}

/** What the CLI prints: tables and fields for people, JSON for programs. */

export type Fields = Readonly<Record<string, unknown>>

/** The columns of a table: by heading the field that is shown (`rateLimit.burst` goes inside). */
export type Columns = Readonly<Record<string, string>>

/** What a terminal obeys: controls, and marks that turn the direction of text. Customers and carriers may write them. */
const OBEYED = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** The text with such characters as JSON writes them: `\u001b`. */
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

/** Columns as wide as their widest cell, two spaces apart. */
export function printTable(rows: readonly Fields[], columns: Columns): void {
  const headings = Object.keys(columns)
  const fields = Object.values(columns)
  const lines = [headings, ...rows.map((row) => fields.map((field) => cell(valueAt(row, field))))]
  const widths = headings.map((_, index) => Math.max(...lines.map((line) => line[index]!.length)))
  for (const line of lines) {
    const padded = line.map((text, index) => text.padEnd(widths[index]!))
    process.stdout.write(`${padded.join('  ').trimEnd()}\n`)
  }
}

/** One field a line, names in a column. */
export function printFields(fields: Fields): void {
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  for (const [name, value] of Object.entries(fields)) {
    process.stdout.write(`${name.padEnd(width)}  ${cell(value)}\n`)
  }
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

/** An object inside a field: `messagesPerSecond 10, burst 20`. */
function inner(value: unknown): string {
  if (typeof value !== 'object' || value === null) return shownText(String(value))
  return Object.entries(value)
    .filter(([, field]) => field !== null)
    .map(([name, field]) => `${name} ${shownText(String(field))}`)
    .join(' ')
}

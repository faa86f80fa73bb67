import { readFile, stat } from 'node:fs/promises'
import { text } from 'node:stream/consumers'

/** One line of a CSV file; `line` counts from 1, the heading. What is empty is absent. */
export interface CsvRow {
  readonly line: number
  readonly values: Readonly<Record<string, string>>
}

/** 200,000 lines of some 100 bytes, and room. */
const MAX_FILE_BYTES = 64 * 1024 * 1024

/**
 * Reads a CSV file (RFC 4180, no line breaks inside quotes; `-`: standard input) whose first line names its columns, in
 * any order. Throws Error for a column that is not one of `columns` or comes twice, a `required` one that lacks, and a
 * line with more or fewer fields.
 */
export async function readCsv(
  file: string,
  columns: readonly string[],
  required: readonly string[],
): Promise<CsvRow[]> {
  const lines = (await contents(file)).replace(/^\uFEFF/, '').split(/\r?\n/)
  const heading = splitLine(lines[0] ?? '', 1).map((name) => name.trim())
  checkHeading(heading, columns, required)
  const rows: CsvRow[] = []
  for (const [index, line] of lines.entries()) {
    if (index === 0 || line.trim() === '') continue
    const fields = splitLine(line, index + 1)
    if (fields.length !== heading.length)
      throw new Error(`line ${index + 1} has ${fields.length} fields, but the header has ${heading.length}`)
    const given = heading.map((name, at): [string, string] => [name, fields[at]!.trim()])
    rows.push({ line: index + 1, values: Object.fromEntries(given.filter(([, value]) => value !== '')) })
  }
  return rows
}

async function contents(file: string): Promise<string> {
  if (file === '-') return text(process.stdin)
  try {
    const { size } = await stat(file)
    if (size <= MAX_FILE_BYTES) return await readFile(file, 'utf8')
  } catch (error) {
    throw new Error(`cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`, { cause: error })
  }
  throw new Error(`${file} is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB: split it and import the parts`)
}

function checkHeading(heading: readonly string[], columns: readonly string[], required: readonly string[]) {
  const expected = `the first line names the columns: ${columns.join(', ')}`
  const unknown = heading.find((name) => !columns.includes(name))
  if (unknown !== undefined) throw new Error(`there is no column '${unknown}'; ${expected}`)
  const twice = heading.find((name, at) => heading.indexOf(name) !== at)
  if (twice !== undefined) throw new Error(`the column ${twice} is repeated`)
  const missing = required.find((name) => !heading.includes(name))
  if (missing !== undefined) throw new Error(`the column ${missing} is missing; ${expected}`)
}

const FIELD = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y

function splitLine(line: string, number: number): string[] {
  const fields: string[] = []
  FIELD.lastIndex = 0
  for (;;) {
    const found = FIELD.exec(line)
    if (found === null) throw new Error(`line ${number} is not valid CSV: misplaced quote`)
    fields.push(found[1]?.replaceAll('""', '"') ?? found[2]!)
    if (found[3] === '') return fields
  }
}

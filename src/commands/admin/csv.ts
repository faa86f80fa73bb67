import { readFile, stat } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { AdminRefusal, type ConnectionOptions, requestAdmin } from './client.ts'
import type { Operation } from './document.ts'
import { printJson } from './printing.ts'

/** One line of a CSV file; `line` counts from 1, the heading. Empty fields are absent. */
export interface CsvRow {
  readonly line: number
  readonly values: Readonly<Record<string, string>>
}

/** 200,000 lines of some 100 bytes, and room. */
const MAX_FILE_BYTES = 64 * 1024 * 1024

/**
 * Reads a CSV file (RFC 4180; `-`: standard input) whose first line names its columns, in any order. Throws Error for a
 * column that is not one of `columns` or is repeated, a `required` one that is missing, and a line with more or fewer
 * fields.
 */
export async function readCsv(
  file: string,
  columns: readonly string[],
  required: readonly string[],
): Promise<CsvRow[]> {
  const [first, ...records] = await parsed(await contents(file))
  const heading = first?.record ?? ['']
  checkHeading(heading, columns, required)
  return records.map(({ line, record }) => {
    if (record.length !== heading.length)
      throw new Error(`line ${line} has ${record.length} fields, but the header has ${heading.length}`)
    const given = heading.map((name, at): [string, string] => [name, record[at]!])
    return { line, values: Object.fromEntries(given.filter(([, value]) => value !== '')) }
  })
}

/** How every CSV file that a person wrote is read. */
export const CSV_FORM = {
  bom: true,
  cast: (value: string) => value.trim(),
  record_delimiter: ['\r\n', '\n'],
  relax_column_count: true,
  skip_empty_lines: true,
  trim: true,
}

interface CsvRecord {
  readonly line: number
  readonly record: readonly string[]
}

/** The parser is loaded here: every command loads this file, and few read one. */
async function parsed(text: string): Promise<CsvRecord[]> {
  const { parse } = await import('csv-parse/sync')
  const records: CsvRecord[] = []
  try {
    parse(text, {
      ...CSV_FORM,
      on_record: (record, { lines }) => {
        records.push({ line: lines, record })
        return null
      },
    })
  } catch (error) {
    // A quote that is never closed is noticed at the end of the file, far from the line to mend.
    throw new Error(`invalid CSV after line ${records.at(-1)?.line ?? 0}: ${(error as Error).message}`, {
      cause: error,
    })
  }
  return records
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

/** What one request of the admin API takes. */
const BATCH = 1_000

/** The columns of the file that an operation imports: the fields of the objects that its body has a list of. */
function columnsOf({ body }: Operation): { list: string; columns: string[]; required: readonly string[] } {
  const [{ name, schema }] = body as [Operation['body'][number]]
  const { properties = {}, required = [] } = schema.items!
  return { list: name, columns: Object.keys(properties), required }
}

export function describeFile(operation: Operation): string {
  const { columns, required } = columnsOf(operation)
  const optional = columns.filter((column) => !required.includes(column))
  const omitted = optional.length === 0 ? '' : `; ${optional.join(', ')} may be omitted`
  return `CSV file whose first line names its columns: ${columns.join(',')}, in any order${omitted}; - is standard input`
}

/**
 * Sends the rows of a file, 1,000 a request, each all or nothing; progress goes to standard error. A refusal names the
 * lines and what went in before them. Prints how many there were.
 */
export async function importFile(
  options: ConnectionOptions,
  operation: Operation,
  file: string,
): Promise<void> {
  const { list, columns, required } = columnsOf(operation)
  const rows = await readCsv(file, columns, required)
  for (let done = 0; done < rows.length; done += BATCH) {
    const batch = rows.slice(done, done + BATCH)
    try {
      await requestAdmin(options, 'POST', operation.path, { [list]: batch.map(({ values }) => values) })
    } catch (error) {
      throw new Error(`${explain(error, list, batch)} (${done} lines before were imported)`, {
        cause: error,
      })
    }
    if (rows.length > BATCH) process.stderr.write(`${done + batch.length} of ${rows.length}\n`)
  }
  if (options.json) printJson({ imported: rows.length })
  else process.stdout.write(`${rows.length} imported\n`)
}

/** `ranges.17.prefix must …` -> `line 19: prefix must …`. */
function explain(error: unknown, list: string, batch: readonly CsvRow[]): string {
  if (!(error instanceof AdminRefusal) || error.faults.length === 0) return (error as Error).message
  const faults = error.faults.map((fault) => {
    const [first, index, ...rest] = fault.field.split('.')
    const row = first === list ? batch[Number(index)] : undefined
    if (row === undefined) return `${fault.field} ${fault.message}`
    return [`line ${row.line}:`, rest.join('.'), fault.message].filter((part) => part !== '').join(' ')
  })
  return faults.join('; ')
}

/** One line of a CSV file; `line` counts from 1, the heading. What is empty is absent. */
export interface CsvRow {
  readonly line: number
  readonly values: Readonly<Record<string, string>>
}

interface CsvRecord {
  readonly line: number
  readonly fields: readonly string[]
}

/**
 * Reads CSV (RFC 4180) whose first line names its columns, in any order. Throws Error for a column that is not one of
 * `columns` or is repeated, a `required` one that is missing, and a line with more or fewer fields.
 */
export function readCsv(text: string, columns: readonly string[], required: readonly string[]): CsvRow[] {
  const [first, ...records] = recordsOf(text.replace(/^\uFEFF/, ''))
  const heading = first?.fields ?? []
  checkHeading(heading, columns, required)
  return records.map(({ line, fields }) => {
    if (fields.length !== heading.length)
      throw new Error(`Line ${line} has ${fields.length} fields, but the first line has ${heading.length}.`)
    const given = heading.map((name, at) => [name, fields[at]!] as const)
    return { line, values: Object.fromEntries(given.filter(([, value]) => value !== '')) }
  })
}

/** A field: quoted, or up to the next comma or the end of the line; then what ends it. */
const FIELD = /(?:[ \t]*"((?:[^"]|"")*)"[ \t]*|([^",\r\n]*))(,|\r?\n|$)/y

/** Without empty lines. `line` is where the record ends. */
function recordsOf(text: string): CsvRecord[] {
  const records: CsvRecord[] = []
  let fields: string[] = []
  let line = 1
  for (let at = 0; at < text.length; ) {
    FIELD.lastIndex = at
    const found = FIELD.exec(text)
    if (found === null)
      throw new Error(`Line ${line} has a quote that is not closed or not at the beginning of a field.`)
    const [whole, quoted, bare = '', end] = found
    at += whole.length
    fields.push(quoted === undefined ? bare.trim() : quoted.replaceAll('""', '"').trim())
    line += whole.split('\n').length - 1
    const isLast = at >= text.length
    if (end === ',' && !isLast) continue
    if (end === ',') fields.push('')
    if (fields.length > 1 || fields[0] !== '')
      records.push({ line: end?.endsWith('\n') ? line - 1 : line, fields })
    fields = []
  }
  return records
}

function checkHeading(
  heading: readonly string[],
  columns: readonly string[],
  required: readonly string[],
): void {
  const expected = `The first line names the columns: ${columns.join(', ')}.`
  const unknown = heading.find((name) => !columns.includes(name))
  if (unknown !== undefined) throw new Error(`There is no column “${unknown}”. ${expected}`)
  const repeated = heading.find((name, at) => heading.indexOf(name) !== at)
  if (repeated !== undefined) throw new Error(`The column ${repeated} is repeated. ${expected}`)
  const missing = required.find((name) => !heading.includes(name))
  if (missing !== undefined) throw new Error(`The column ${missing} is missing. ${expected}`)
}

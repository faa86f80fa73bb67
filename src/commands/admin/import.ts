import { AdminRefusal, type ConnectionOptions, requestAdmin } from './client.ts'
import { type CsvRow, readCsv } from './csv.ts'
import type { Operation } from './document.ts'
import { printJson } from './printing.ts'

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

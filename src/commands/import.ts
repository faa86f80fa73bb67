import { AdminRefusal, type ConnectionOptions, requestAdmin } from './admin-client.ts'
import type { CsvRow } from './csv.ts'
import { printJson } from './printing.ts'

/** What one request of the admin API takes. */
const BATCH = 1_000

/**
 * Sends rows of a file as `{ [field]: items }`, 1,000 a request, each all or nothing; progress goes to standard error.
 * A refusal names the lines and what went in before them. Prints how many there were.
 */
export async function importRows(
  options: ConnectionOptions,
  rows: readonly CsvRow[],
  target: { path: string; field: string; item: (row: CsvRow) => unknown },
): Promise<void> {
  for (let done = 0; done < rows.length; done += BATCH) {
    const batch = rows.slice(done, done + BATCH)
    try {
      await requestAdmin(options, 'POST', target.path, { [target.field]: batch.map(target.item) })
    } catch (error) {
      throw new Error(`${explain(error, target.field, batch)} (${done} lines before were imported)`, {
        cause: error,
      })
    }
    if (rows.length > BATCH) process.stderr.write(`${done + batch.length} of ${rows.length}\n`)
  }
  if (options.json) printJson({ imported: rows.length })
  else process.stdout.write(`${rows.length} imported\n`)
}

/** `ranges.17.prefix must …` -> `line 19: prefix must …`. */
function explain(error: unknown, field: string, batch: readonly CsvRow[]): string {
  if (!(error instanceof AdminRefusal) || error.faults.length === 0) return (error as Error).message
  const faults = error.faults.map((fault) => {
    const [first, index, ...rest] = fault.field.split('.')
    const row = first === field ? batch[Number(index)] : undefined
    if (row === undefined) return `${fault.field} ${fault.message}`
    return [`line ${row.line}:`, rest.join('.'), fault.message].filter((part) => part !== '').join(' ')
  })
  return faults.join('; ')
}

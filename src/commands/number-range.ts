import type { Command } from 'commander'
import { type ConnectionOptions, segment } from './admin-client.ts'
import { readCsv } from './csv.ts'
import { importRows } from './import.ts'
import { addAction, addDelete, addList, addShow, requestAndPrint } from './resource.ts'

const PATH = '/number-ranges'
const COLUMNS = ['prefix', 'mccmnc']
const EXAMPLES = `
Examples:
  aldis number-range set +447400 23415
  aldis number-range import ranges.csv
  aldis number-range list --mccmnc 23415

A file of ranges has the columns prefix and mccmnc, named in its first line:
  prefix,mccmnc
  +447400,23415`

export function register(program: Command): void {
  const range = program
    .command('number-range')
    .description('Number ranges: which network a number is in, by its longest prefix')
    .addHelpText('after', EXAMPLES)

  addAction(range, 'set <prefix> <mccmnc>', 'say which network numbers with this prefix are in').action(
    (prefix: string, mccmnc: string, options: ConnectionOptions) =>
      requestAndPrint(options, 'PUT', `${PATH}/${segment(prefix)}`, { mccmnc }),
  )

  addAction(range, 'import <file>', 'set ranges from a CSV file; - is standard input').action(
    async (file: string, options: ConnectionOptions) =>
      importRows(options, await readCsv(file, COLUMNS, COLUMNS), {
        path: `${PATH}/import`,
        field: 'ranges',
        item: ({ values }) => values,
      }),
  )

  addList(range, {
    path: PATH,
    description: 'list number ranges',
    columns: { PREFIX: 'prefix', MCCMNC: 'mccmnc' },
    filters: [['mccmnc', '--mccmnc <mccmnc>', 'of this network only']],
  })
  addShow(range, { key: 'prefix', path: PATH, description: 'show a number range' })
  addDelete(range, { key: 'prefix', path: PATH, description: 'delete a number range' })
}

import type { Command } from 'commander'
import type { ConnectionOptions } from './admin-client.ts'
import { readCsv } from './csv.ts'
import { importRows } from './import.ts'
import { addAction, addCreate, addList, requestAndPrint } from './resource.ts'
import { addSettings, fieldsOf, type Setting } from './settings.ts'

const PATH = '/opt-outs'
const COLUMNS = ['servicePlanId', 'from', 'to'] as const
const EXAMPLES = `
Examples:
  aldis opt-out list --plan 65a1c0ffee0123456789abcd --to +15551230000
  aldis opt-out add --plan 65a1c0ffee0123456789abcd --from +15550001000 --to +15551230000
  aldis opt-out remove --plan 65a1c0ffee0123456789abcd --from +15550001000 --to +15551230000
  aldis opt-out import people.csv

They apply to plans with opt-outs: aldis plan update <servicePlanId> --opt-out

The first line of a file to import names its columns: ${COLUMNS.join(',')}
in any order. Opt-outs that exist already stay.`

const KEY: readonly Setting[] = [
  ['servicePlanId', '--plan <servicePlanId>', 'plan that sends', 'required'],
  ['from', '--from <sender>', 'sender of its messages', 'required'],
  ['to', '--to <recipient>', 'the person, an E.164 number', 'required'],
]

export function register(program: Command): void {
  const optOut = program
    .command('opt-out')
    .description('Opt-outs: people who want nothing more from a sender')
    .addHelpText('after', EXAMPLES)

  addList(optOut, {
    path: PATH,
    description: 'list the opt-outs of a service plan',
    columns: { FROM: 'from', TO: 'to', SINCE: 'createdAt' },
    filters: [
      ['servicePlanId', '--plan <servicePlanId>', 'of this plan', 'required'],
      ['from', '--from <sender>', 'from this sender only'],
      ['to', '--to <recipient>', 'of this person only'],
    ],
  })
  addCreate(optOut, {
    word: 'add',
    path: PATH,
    description: 'stop messages from a sender to a person',
    settings: KEY,
  })
  addSettings(addAction(optOut, 'remove', 'allow messages from a sender to a person again'), KEY).action(
    (options: ConnectionOptions) => {
      const query = new URLSearchParams(fieldsOf(KEY, options) as Record<string, string>)
      return requestAndPrint(options, 'DELETE', `${PATH}?${query}`)
    },
  )
  addAction(optOut, 'import <file>', 'add the opt-outs of a CSV file (-: standard input)').action(
    async (file: string, options: ConnectionOptions) => {
      const rows = await readCsv(file, COLUMNS, COLUMNS)
      await importRows(options, rows, {
        path: `${PATH}/import`,
        field: 'optOuts',
        item: ({ values }) => values,
      })
    },
  )
}

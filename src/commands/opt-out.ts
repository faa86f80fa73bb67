import type { Command } from 'commander'
import type { ConnectionOptions } from './admin-client.ts'
import { readCsv } from './csv.ts'
import { importRows } from './import.ts'
import { addAction, addPageOptions, printList, requestAndPrint } from './resource.ts'

const PATH = '/opt-outs'
const COLUMNS = ['servicePlanId', 'from', 'to'] as const
const EXAMPLES = `
Examples:
  aldis opt-out list --plan 65a1c0ffee0123456789abcd --to +15551230000
  aldis opt-out add --plan 65a1c0ffee0123456789abcd --from +15550001000 --to +15551230000
  aldis opt-out remove --plan 65a1c0ffee0123456789abcd --from +15550001000 --to +15551230000
  aldis opt-out import people.csv

They count for plans that keep opt-outs: aldis plan update <servicePlanId> --opt-out

The first line of a file to import names its columns: ${COLUMNS.join(',')}
in any order. What is there already stays.`

interface OptOutOptions extends ConnectionOptions {
  readonly plan: string
  readonly from?: string
  readonly to?: string
}

export function register(program: Command): void {
  const optOut = program
    .command('opt-out')
    .description('Opt-outs: people who want nothing more from a sender')
    .addHelpText('after', EXAMPLES)

  const list = addAction(optOut, 'list', 'list the opt-outs of a service plan')
    .requiredOption('--plan <servicePlanId>', 'of this plan')
    .option('--from <sender>', 'from this sender only')
    .option('--to <recipient>', 'of this person only')
  addPageOptions(list).action((options: OptOutOptions) =>
    printList(
      options,
      PATH,
      [
        ['FROM', 'from'],
        ['TO', 'to'],
        ['SINCE', 'createdAt'],
      ],
      keyOf(options),
    ),
  )

  addKey(addAction(optOut, 'add', 'send nothing more from a sender to a person')).action(
    (options: OptOutOptions) => requestAndPrint(options, 'POST', PATH, keyOf(options)),
  )
  addKey(addAction(optOut, 'remove', 'allow messages from a sender to a person again')).action(
    (options: OptOutOptions) =>
      requestAndPrint(options, 'DELETE', `${PATH}?${new URLSearchParams(keyOf(options))}`),
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

function addKey(command: Command): Command {
  return command
    .requiredOption('--plan <servicePlanId>', 'plan that sends')
    .requiredOption('--from <sender>', 'sender of its messages')
    .requiredOption('--to <recipient>', 'the person, an E.164 number')
}

function keyOf({ plan, from, to }: OptOutOptions): Record<string, string> {
  return {
    servicePlanId: plan,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  }
}

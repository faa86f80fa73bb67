import type { Command } from 'commander'
import type { ConnectionOptions } from './admin-client.ts'
import { readCsv } from './csv.ts'
import { importRows } from './import.ts'
import { addAction, addCreate, addDelete, addList, addShow, addUpdate } from './resource.ts'

const PATH = '/rates'
const DESTINATION = ['prefix', 'country', 'mccmnc'] as const
const COLUMNS = ['servicePlanId', ...DESTINATION, 'price', 'ptf', 'currency'] as const
const REQUIRED = ['price', 'currency'] as const
const EXAMPLES = `
Examples:
  aldis rate add --country SE --price 0.045 --currency EUR
  aldis rate add --plan 65a1c0ffee0123456789abcd --mccmnc 310410 --price 0.0075 --ptf 0.003 --currency USD
  aldis rate list --country SE
  aldis rate import prices.csv

Prices are for one segment, exact to 6 decimal places. The most specific rate applies: one of the message's plan before
those for all plans; then by network, longest prefix, country, anywhere.

The first line of a file to import names its columns: ${COLUMNS.join(',')}
in any order; empty columns may be omitted. A rate that exists already gets the new amounts.`

export function register(program: Command): void {
  const rate = program
    .command('rate')
    .description('Rates: what a segment costs, by plan and destination')
    .addHelpText('after', EXAMPLES)

  addCreate(rate, {
    word: 'add',
    path: PATH,
    description: 'add a rate',
    settings: [
      ['servicePlanId', '--plan <servicePlanId>', 'of this plan only'],
      ['prefix', '--prefix <prefix>', 'for numbers that begin with this, such as +4670'],
      ['country', '--country <code>', 'for numbers of this country, such as SE'],
      ['mccmnc', '--mccmnc <digits>', 'for numbers in this network'],
      ['price', '--price <amount>', 'of one segment, such as 0.0075', 'required'],
      ['ptf', '--ptf <amount>', 'pass-through fee of one segment (default 0)'],
      ['currency', '--currency <code>', 'of both, such as EUR', 'required'],
    ],
  })

  addList(rate, {
    path: PATH,
    description: 'list rates',
    columns: {
      RATE: 'rateId',
      'SERVICE PLAN': 'servicePlanId',
      PREFIX: 'prefix',
      COUNTRY: 'country',
      MCCMNC: 'mccmnc',
      PRICE: 'price',
      PTF: 'ptf',
      CURRENCY: 'currency',
    },
    filters: [
      ['servicePlanId', '--plan <servicePlanId>', 'of this plan only'],
      ['prefix', '--prefix <prefix>', 'of this prefix only'],
      ['country', '--country <code>', 'of this country only'],
      ['mccmnc', '--mccmnc <digits>', 'of this network only'],
    ],
  })
  addShow(rate, { key: 'rateId', path: PATH, description: 'show a rate' })

  addUpdate(rate, {
    key: 'rateId',
    path: PATH,
    description: 'change the amounts of a rate; omitted options keep their values',
    settings: [
      ['price', '--price <amount>', 'of one segment'],
      ['ptf', '--ptf <amount>', 'pass-through fee of one segment'],
      ['currency', '--currency <code>', 'of both'],
    ],
  })

  addDelete(rate, { key: 'rateId', path: PATH, description: 'delete a rate; what was charged by it stays' })

  addAction(rate, 'import <file>', 'add or change the rates of a CSV file (-: standard input)').action(
    async (file: string, options: ConnectionOptions) => {
      const rows = await readCsv(file, COLUMNS, REQUIRED)
      await importRows(options, rows, {
        path: `${PATH}/import`,
        field: 'rates',
        item: ({ values }) => values,
      })
    },
  )
}

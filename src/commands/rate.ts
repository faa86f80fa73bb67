import type { Command } from 'commander'
import { type ConnectionOptions, given, segment } from './admin-client.ts'
import { readCsv } from './csv.ts'
import { importRows } from './import.ts'
import { addAction, addDelete, addList, addShow, requestAndPrint } from './resource.ts'

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

Prices are for one segment, exact to 6 decimal places. A message costs by the most specific rate: one of its plan
before those for all plans; then by network, longest prefix, country, anywhere.

The first line of a file to import names its columns: ${COLUMNS.join(',')}
in any order, those that are empty throughout left out. A rate that is there already gets the new amounts.`

interface RateOptions extends ConnectionOptions {
  readonly plan?: string
  readonly prefix?: string
  readonly country?: string
  readonly mccmnc?: string
  readonly price?: string
  readonly ptf?: string
  readonly currency?: string
}

export function register(program: Command): void {
  const rate = program
    .command('rate')
    .description('Rates: what a segment costs, by plan and destination')
    .addHelpText('after', EXAMPLES)

  addAction(rate, 'add', 'add a rate')
    .option('--plan <servicePlanId>', 'of this plan only')
    .option('--prefix <prefix>', 'for numbers that begin so, as +4670')
    .option('--country <code>', 'for numbers of this country, as SE')
    .option('--mccmnc <digits>', 'for numbers in this network')
    .requiredOption('--price <amount>', 'of one segment, as 0.0075')
    .option('--ptf <amount>', 'pass-through fee of one segment (default 0)')
    .requiredOption('--currency <code>', 'of both, as EUR')
    .action((options: RateOptions) => {
      const { plan, prefix, country, mccmnc, price, ptf, currency } = options
      const body = given({ servicePlanId: plan, prefix, country, mccmnc, price, ptf, currency })
      return requestAndPrint(options, 'POST', PATH, body)
    })

  addList(
    rate,
    {
      description: 'list rates',
      path: PATH,
      columns: [
        ['RATE', 'rateId'],
        ['SERVICE PLAN', 'servicePlanId'],
        ['PREFIX', 'prefix'],
        ['COUNTRY', 'country'],
        ['MCCMNC', 'mccmnc'],
        ['PRICE', 'price'],
        ['PTF', 'ptf'],
        ['CURRENCY', 'currency'],
      ],
    },
    {
      servicePlanId: { flag: '--plan <servicePlanId>', description: 'of this plan only' },
      prefix: { flag: '--prefix <prefix>', description: 'of this prefix only' },
      country: { flag: '--country <code>', description: 'of this country only' },
      mccmnc: { flag: '--mccmnc <digits>', description: 'of this network only' },
    },
  )
  addShow(rate, { key: 'rateId', path: PATH, description: 'show a rate' })

  addAction(rate, 'update <rateId>', 'change the amounts of a rate; what is not given stays')
    .option('--price <amount>', 'of one segment')
    .option('--ptf <amount>', 'pass-through fee of one segment')
    .option('--currency <code>', 'of both')
    .action((rateId: string, options: RateOptions) => {
      const { price, ptf, currency } = options
      return requestAndPrint(options, 'PATCH', `${PATH}/${segment(rateId)}`, given({ price, ptf, currency }))
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

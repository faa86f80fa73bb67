import type { Command } from 'commander'
import {
  addConnectionOptions,
  type ConnectionOptions,
  requestAdmin,
  segment,
  wholeNumber,
} from './admin-client.ts'
import { type Fields, printJson, printTable } from './printing.ts'
import { addAction, requestAndPrint } from './resource.ts'

const PATH = '/quality'
const EXAMPLES = `
Examples:
  aldis quality --minutes 15
  aldis quality --carrier acme --series --json
  aldis quality pauses
  aldis quality resume default acme`

const COLUMNS = {
  ROUTE: 'route',
  CARRIER: 'carrier',
  SUBMITS: 'submits.total',
  REFUSED: 'submits.refused',
  THROTTLED: 'submits.throttled',
  'NO ANSWER': 'submits.noAnswer',
  'P50 MS': 'submits.latencyMs.p50',
  'P95 MS': 'submits.latencyMs.p95',
  SENT: 'messages.sent',
  'DELIVERED %': 'messages.deliveryRate',
  MISSING: 'messages.missing',
  'RECEIPT P50 S': 'receiptSeconds.p50',
  'RECEIPT P95 S': 'receiptSeconds.p95',
  'OUT OF USE UNTIL': 'outOfUseUntil',
}
const { ROUTE: _, CARRIER: __, 'OUT OF USE UNTIL': ___, ...FIGURES } = COLUMNS
const SERIES_COLUMNS = { AT: 'at', ...FIGURES }
const PAUSE_COLUMNS = { ROUTE: 'route', CARRIER: 'carrier', SINCE: 'since', UNTIL: 'until', REASON: 'reason' }

interface QualityOptions extends ConnectionOptions {
  readonly carrier?: string
  readonly route?: string
  readonly minutes?: number
  readonly series?: boolean
}

interface Figures extends Fields {
  readonly messages: {
    readonly receiptLatencyMs: { readonly p50: number | null; readonly p95: number | null }
  }
}

interface QualityAnswer {
  readonly items: readonly Figures[]
  readonly series?: readonly Figures[]
  readonly truncated: boolean
}

export function register(program: Command): void {
  const quality = program
    .command('quality')
    .description('Quality watch: how carriers perform in each route, and which are out of use')
    .addHelpText('after', EXAMPLES)

  const figures = quality.command('show', { isDefault: true }).description('show the figures (the default)')
  addConnectionOptions(figures)
    .option('--carrier <carrier>', 'only this carrier')
    .option('--route <route>', 'only this route')
    .option('--minutes <n>', 'how far back (1-10000, default 60)', wholeNumber)
    .option('--series', 'show the sum over time')
    .action(printQuality)

  addAction(quality, 'pauses', 'list carriers that a quality floor has taken out of use').action(
    async (options: ConnectionOptions) => {
      const answer = (await requestAdmin(options, 'GET', `${PATH}/pauses`)) as { items: Fields[] }
      if (options.json) printJson(answer)
      else printTable(answer.items, PAUSE_COLUMNS)
    },
  )

  addAction(quality, 'resume <route> <carrier>', 'put a carrier back into use in a route').action(
    (route: string, carrier: string, options: ConnectionOptions) =>
      requestAndPrint(options, 'DELETE', `${PATH}/pauses/${segment(route)}/${segment(carrier)}`),
  )
}

async function printQuality(options: QualityOptions): Promise<void> {
  const query = new URLSearchParams()
  for (const name of ['carrier', 'route', 'minutes', 'series'] as const) {
    if (options[name] !== undefined) query.set(name, String(options[name]))
  }
  const answer = (await requestAdmin(options, 'GET', `${PATH}?${query}`)) as QualityAnswer
  if (options.json) return printJson(answer)
  if (answer.series === undefined) printTable(answer.items.map(withSeconds), COLUMNS)
  else printTable(answer.series.map(withSeconds), SERIES_COLUMNS)
  if (answer.truncated) process.stderr.write('more carriers and routes: choose with --carrier or --route\n')
}

/** Receipts take seconds to days: their milliseconds would say nothing more. */
function withSeconds(figures: Figures): Fields {
  const { p50, p95 } = figures.messages.receiptLatencyMs
  return { ...figures, receiptSeconds: { p50: seconds(p50), p95: seconds(p95) } }
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms / 100) / 10
}

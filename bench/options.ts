import { parseArgs } from 'node:util'

export interface BenchOptions {
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly acceptSeconds: number
  readonly webhookSeconds: number
  readonly connections: number
  readonly outstanding: number
  readonly window: number
  readonly deliverWindow: number
  /** Submits the carrier accepts in any second. */
  readonly throughput: number | null
  /** Least and most, in milliseconds. */
  readonly receiptDelayMs: readonly [number, number]
  readonly pastDays: number
  readonly tls: boolean
  readonly logLevel: string
  readonly json: boolean
  readonly profile: string | null
  readonly tempDir: string | null
}

const HELP = `Measures Aldis whole: load, service with its PostgreSQL, carrier and webhook receiver on this machine.

Usage: npm run bench -- [options]

  --seconds N           measured time of the end-to-end run, 0 for none (20)
  --warm-up N           seconds before it that do not count (5)
  --accept-seconds N    measured time of the accept run, 0 for none (10)
  --webhook-seconds N   seconds of each measurement of the webhook part (some five minutes in all), 0 for none (20)
  --connections N       keep-alive connections of the load generator (64)
  --outstanding N       messages between request and last webhook, at most, in the end-to-end run (2000)
  --window N            unanswered submit_sm on the carrier link (100)
  --deliver-window N    receipts the carrier leaves unanswered, at most (100)
  --throughput N        submits the carrier accepts in any second; it answers ESME_RTHROTTLED to more (no limit)
  --receipt-delay A-B   milliseconds from submit to receipt, drawn for each message (50-300)
  --past-days N         days the tables have partitions for before today, up to 89; they are empty (0)
  --tls                 receive webhooks over https
  --log-level LEVEL     of the service (info, as in production; its log goes to a file)
  --profile FOLDER      keep a CPU profile of the service and plans of its statements there, and print their sums
  --temp-dir FOLDER     where the database is made (the system's); must be a real disk, or commits cost nothing
  --json                print one JSON object instead of tables
  --help

The webhook part alone: npm run bench -- --seconds 0 --accept-seconds 0

Exit code 1 when anything accepted was not delivered with both webhooks, exactly once: such a run gives no figures.
`

/** The options of the command line. Prints and ends the process for --help; @throws Error in one line. */
export function readOptions(args: readonly string[]): BenchOptions | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '20' },
      'warm-up': { type: 'string', default: '5' },
      'accept-seconds': { type: 'string', default: '10' },
      'webhook-seconds': { type: 'string', default: '20' },
      connections: { type: 'string', default: '64' },
      outstanding: { type: 'string', default: '2000' },
      window: { type: 'string', default: '100' },
      'deliver-window': { type: 'string', default: '100' },
      throughput: { type: 'string' },
      'receipt-delay': { type: 'string', default: '50-300' },
      'past-days': { type: 'string', default: '0' },
      tls: { type: 'boolean', default: false },
      'log-level': { type: 'string', default: 'info' },
      profile: { type: 'string' },
      'temp-dir': { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return null
  }
  return {
    seconds: whole('seconds', values.seconds, 0, 3_600),
    warmUpSeconds: whole('warm-up', values['warm-up'], 0, 600),
    acceptSeconds: whole('accept-seconds', values['accept-seconds'], 0, 600),
    webhookSeconds: whole('webhook-seconds', values['webhook-seconds'], 0, 600),
    connections: whole('connections', values.connections, 1, 1_000),
    outstanding: whole('outstanding', values.outstanding, 1, 100_000),
    window: whole('window', values.window, 1, 1_000),
    deliverWindow: whole('deliver-window', values['deliver-window'], 1, 1_000),
    throughput: values.throughput === undefined ? null : whole('throughput', values.throughput, 1, 1_000_000),
    receiptDelayMs: range('receipt-delay', values['receipt-delay']),
    pastDays: whole('past-days', values['past-days'], 0, 89),
    tls: values.tls,
    logLevel: values['log-level'],
    json: values.json,
    profile: values.profile ?? null,
    tempDir: values['temp-dir'] ?? null,
  }
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw new Error(`--${name} must be a whole number from ${least} to ${most}`)
}

function range(name: string, text: string): readonly [number, number] {
  const [, least = '', most = least] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(text) ?? []
  if (least !== '' && Number(least) <= Number(most)) return [Number(least), Number(most)]
  throw new Error(`--${name} must be N or MIN-MAX, in milliseconds`)
}

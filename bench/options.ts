import { parseArgs } from 'node:util'

/** Speed goals that are measured beside the full rate; cases.ts has them. */
const CASE_NAMES = ['window', 'outstanding', 'late', 'quiet', 'nodes', 'queued', 'records'] as const

export type CaseName = (typeof CASE_NAMES)[number]

export interface BenchOptions {
  /** Measured one after the other, in place of everything else. */
  readonly cases: readonly CaseName[]
  /** The subject that Aldis is measured in turn with. */
  readonly against: 'kannel' | null
  readonly pairs: number
  /** Whose run is the first of the first pair; the order alternates from pair to pair. */
  readonly first: 'aldis' | 'kannel'
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly acceptSeconds: number
  readonly webhookSeconds: number
  /** Messages with which the cost of each addition is measured; 0: it is not. */
  readonly additionMessages: number
  /** Share of the full rate at which latencies are measured. */
  readonly latencyShare: number
  readonly latencySeconds: number
  readonly connections: number
  /** Worker processes of a node, each with a bind to the carrier. */
  readonly workers: number
  /** Services on one database, between which the load is spread. */
  readonly nodes: number
  /** Messages that wait while the carrier is down; 0: it is never down. */
  readonly queued: number
  readonly outstanding: number
  readonly window: number
  readonly deliverWindow: number
  /** Submits the carrier accepts in any second. */
  readonly throughput: number | null
  /** Least and most, in milliseconds. */
  readonly receiptDelayMs: readonly [number, number]
  /** Receipts that the carrier holds back, sending a random one for each message. */
  readonly receiptsOutstanding: number
  readonly pastDays: number
  /** Messages of earlier days that the tables hold, a third of them of the plan that is measured. */
  readonly records: number
  /** The days over which they are spread. */
  readonly recordDays: number
  readonly tls: boolean
  readonly logLevel: string
  readonly json: boolean
  readonly profile: string | null
  readonly tempDir: string | null
}

const HELP = `Measures Aldis whole: load, service with its PostgreSQL, carrier and webhook receiver on this machine.

Usage: npm run bench -- [options]

  --cases LIST             measure these cases, separated by commas, and nothing else; see below
  --against kannel         measure Kannel in turn with Aldis, with the same load, carrier and receiver; only the
                           messages, not the accepts and the webhook part
  --pairs N                runs of each (1)
  --first aldis|kannel     which of them begins the first pair (aldis); they take turns from pair to pair
  --seconds N              measured time of the messages at the full rate, 0 for none (20)
  --warm-up N              seconds before it that do not count (5)
  --latency-seconds N      measured time at a share of that rate, for the latencies, 0 for none (10)
  --latency-share N        that share, in percent (60)
  --accept-seconds N       measured time of the accept run, 0 for none (10)
  --webhook-seconds N      seconds of each measurement of the webhook part (some five minutes in all), 0 for none (20)
  --addition-messages N    messages with which the cost of each addition (limits, statistics, traces) is measured by itself,
                           which takes some 15 s, 0 for none (500000)
  --connections N          keep-alive connections of the load generator (64)
  --workers N              processes of the service, and binds of the carrier; not with --profile (1)
  --nodes N                services on one database, each with a bind; the load is spread over them (1)
  --queued N               messages accepted while the carrier is down, after the full rate; then it comes back: memory,
                           accepts at the beginning and the end, order and rate of the drain (0)
  --outstanding N          messages between request and last webhook, at most, at the full rate (2000)
  --window N               unanswered submit_sm on the carrier link (500)
  --deliver-window N       receipts the carrier leaves unanswered, at most (500)
  --receipt-delay A-B      milliseconds from submit to receipt, drawn for each message (0)
  --receipts-outstanding N receipts the carrier holds back: for each message it sends a random one of them (0); the
                           limit of --outstanding grows by as many; off at the share of the full rate
  --throughput N           submits the carrier accepts in any second; it answers ESME_RTHROTTLED to more (no limit)
  --past-days N            days the tables have partitions for before today, up to 89; they are empty (0)
  --records N              messages of earlier days in the tables, a third of them of the plan that sends (0); then its
                           lists and look-ups are measured too, which takes some five minutes; making them, 20 µs each
  --record-days N          days over which they are spread; 1: the last 24 hours (89)
  --tls                    receive webhooks over https
  --log-level LEVEL        of the service (info, as in production; its log goes to a file)
  --profile FOLDER         keep a CPU profile of the service and plans of its statements there, and print their sums
  --temp-dir FOLDER        where the database is made (the system's); must be a real disk, or commits cost nothing
  --json                   print one JSON object instead of tables
  --help

The webhook part alone: npm run bench -- --seconds 0 --accept-seconds 0
The lists alone: npm run bench -- --seconds 0 --accept-seconds 0 --webhook-seconds 0 --records 3000000

Cases (--cases window,outstanding,late,quiet,nodes takes some nine minutes). Each starts everything anew; where it has a
ratio, a run at the full rate goes right before it. --seconds, --warm-up and the other options hold for both.

  window                   windows of 10 both ways
  outstanding              10,000 receipts outstanding, which come in random order
  late                     every receipt comes 30 s after its submit, when its message has been projected
  quiet                    one message at a time on one connection, and no other load
  nodes                    three nodes on one database, or --nodes
  queued                   1,000,000 messages wait while the carrier is down, or --queued; some 15 minutes
  records                  30,000,000 messages of earlier days, or --records; some 25 minutes, and 25 GB of disk

With DATABASE_URL, a PostgreSQL server on this machine takes the place of the embedded one: a database is made there and
dropped in the end.

Load, carrier and receiver are built with the C compiler (cc), or run in Node where there is none.
Exit code 1 when anything accepted was not delivered with both webhooks, exactly once: such a run gives no figures.
A case that gives none does not stop the next.
`

/** Parses the command line. Prints the help and ends the process for --help. @throws Error in one line. */
export function readOptions(args: readonly string[]): BenchOptions | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      cases: { type: 'string' },
      against: { type: 'string' },
      pairs: { type: 'string', default: '1' },
      first: { type: 'string', default: 'aldis' },
      seconds: { type: 'string', default: '20' },
      'warm-up': { type: 'string', default: '5' },
      'accept-seconds': { type: 'string', default: '10' },
      'webhook-seconds': { type: 'string', default: '20' },
      'addition-messages': { type: 'string', default: '500000' },
      'latency-seconds': { type: 'string', default: '10' },
      'latency-share': { type: 'string', default: '60' },
      connections: { type: 'string', default: '64' },
      workers: { type: 'string', default: '1' },
      nodes: { type: 'string', default: '1' },
      queued: { type: 'string', default: '0' },
      outstanding: { type: 'string', default: '2000' },
      window: { type: 'string', default: '500' },
      'deliver-window': { type: 'string', default: '500' },
      'receipts-outstanding': { type: 'string', default: '0' },
      throughput: { type: 'string' },
      'receipt-delay': { type: 'string', default: '0' },
      'past-days': { type: 'string', default: '0' },
      records: { type: 'string', default: '0' },
      'record-days': { type: 'string', default: '89' },
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
  const options: BenchOptions = {
    cases: casesOf(values.cases),
    against: againstOf(values.against),
    pairs: whole('pairs', values.pairs, 1, 100),
    first: firstOf(values.first),
    seconds: whole('seconds', values.seconds, 0, 3_600),
    warmUpSeconds: whole('warm-up', values['warm-up'], 0, 600),
    acceptSeconds: whole('accept-seconds', values['accept-seconds'], 0, 600),
    webhookSeconds: whole('webhook-seconds', values['webhook-seconds'], 0, 600),
    additionMessages: whole('addition-messages', values['addition-messages'], 0, 100_000_000),
    latencyShare: whole('latency-share', values['latency-share'], 1, 100),
    latencySeconds: whole('latency-seconds', values['latency-seconds'], 0, 600),
    connections: whole('connections', values.connections, 1, 1_000),
    workers: whole('workers', values.workers, 1, 64),
    nodes: whole('nodes', values.nodes, 1, 16),
    queued: whole('queued', values.queued, 0, 5_000_000),
    outstanding: whole('outstanding', values.outstanding, 1, 1_000_000),
    window: whole('window', values.window, 1, 1_000),
    deliverWindow: whole('deliver-window', values['deliver-window'], 1, 1_000),
    throughput: values.throughput === undefined ? null : whole('throughput', values.throughput, 1, 1_000_000),
    receiptDelayMs: range('receipt-delay', values['receipt-delay']),
    receiptsOutstanding: whole('receipts-outstanding', values['receipts-outstanding'], 0, 100_000),
    pastDays: whole('past-days', values['past-days'], 0, 89),
    records: whole('records', values.records, 0, 100_000_000),
    recordDays: whole('record-days', values['record-days'], 1, 89),
    tls: values.tls,
    logLevel: values['log-level'],
    json: values.json,
    profile: values.profile ?? null,
    tempDir: values['temp-dir'] ?? null,
  }
  requireFit(options)
  return options
}

function casesOf(text: string | undefined): CaseName[] {
  const names = text === undefined ? [] : text.split(',')
  return names.map((name) => {
    const known = CASE_NAMES.find((one) => one === name)
    if (known === undefined) throw new Error(`--cases must be some of ${CASE_NAMES.join(',')}`)
    return known
  })
}

function againstOf(text: string | undefined): BenchOptions['against'] {
  if (text === undefined || text === 'kannel') return text ?? null
  throw new Error('--against must be kannel')
}

function firstOf(text: string): BenchOptions['first'] {
  if (text === 'aldis' || text === 'kannel') return text
  throw new Error('--first must be aldis or kannel')
}

/** @throws Error for options that exclude each other. */
function requireFit(options: BenchOptions): void {
  const { against, seconds, tls, profile, throughput, receiptsOutstanding, workers, records } = options
  const { cases, nodes, queued } = options
  if (cases.length > 0 && (against !== null || profile !== null || seconds === 0))
    throw new Error('--cases goes with neither --against nor --profile nor --seconds 0')
  if (nodes > 1 && (workers > 1 || profile !== null))
    throw new Error('--nodes goes with neither --workers nor --profile')
  if (queued > 0 && (against !== null || throughput !== null))
    throw new Error('--queued goes with neither --against nor --throughput')
  if (records > 0 && against !== null) throw new Error('--records does not go with --against')
  if (workers > 1 && profile !== null) throw new Error('--workers does not go with --profile')
  if (against !== null && (seconds === 0 || tls || profile !== null))
    throw new Error('--against goes with neither --seconds 0 nor --tls nor --profile')
  if (receiptsOutstanding > 0 && throughput !== null)
    throw new Error('--receipts-outstanding does not go with --throughput')
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

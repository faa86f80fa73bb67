import { parseArgs } from 'node:util'
import { startAldis } from './aldis/aldis.ts'
import { script } from './children.ts'
import { type Percentiles, percentiles } from './percentiles.ts'
import { Rig } from './rig.ts'
import { nowUs } from './tools/ledgers.ts'

/**
 * `npm run pipelining`: how long do sends of others take while one socket pipelines thousands of anonymous requests?
 * Undisturbed and disturbed windows alternate. Exit code 1 when the others' p99 beside the socket is more than twice
 * their p99 without it.
 */

const HELP = `Measures how long sends of others take beside a socket that pipelines anonymous requests.

Usage: npm run pipelining -- [options]

  --requests N     requests that the socket writes at once, again when all are answered (5000)
  --rate N         messages per second of the others (200)
  --seconds N      length of each window (5)
  --rounds N       undisturbed windows, and as many disturbed ones (4)
  --help
`
const CONNECTIONS = 64
const WARM_UP_MS = 3_000
const MOST_RATIO = 2

type Span = readonly [fromUs: number, toUs: number]

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '5000' },
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '4' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) process.stdout.write(HELP)
else process.exitCode = await measure()

async function measure(): Promise<number> {
  const rig = new Rig(null)
  try {
    return await measureWith(rig)
  } finally {
    await rig.close()
  }
}

async function measureWith(rig: Rig): Promise<number> {
  const { load, pipeliner } = await start(rig)
  await load.pace(Number(values.rate))
  await rig.pause(WARM_UP_MS)
  const alone: Span[] = []
  const beside: Span[] = []
  const bursts: number[] = []
  for (let round = 0; round < Number(values.rounds); round += 1) {
    alone.push(await window(rig))
    await pipeliner.request('start')
    beside.push(await window(rig))
    bursts.push(...(await pipeliner.request<number[]>('stop')))
  }
  await load.stopSending()
  const ledger = await load.ledger()
  const latencies = (spans: readonly Span[]) => {
    const within = ledger.filter(({ dueUs }) => spans.some(([from, to]) => dueUs >= from && dueUs < to))
    return percentiles(within.map(({ latencyUs }) => latencyUs / 1_000))
  }
  return report(latencies(alone), latencies(beside), percentiles(bursts))
}

/** The service with carrier and receiver, the others' load, and the socket that pipelines. */
async function start(rig: Rig) {
  const tools = await rig.tools()
  const receiver = await tools.receiver({ tls: null })
  const carrier = await tools.carrier({
    receiptDelayMs: [50, 300],
    deliverWindow: 100,
    receiptsOutstanding: 0,
    throughput: null,
  })
  const aldis = await startAldis(rig, {
    logLevel: 'info',
    caPem: null,
    explain: false,
    carrierPort: carrier.port,
    window: 100,
    callbackUrl: `${receiver.origin}/receipts`,
  })
  const { port, forms } = aldis
  const load = await tools.load({ ports: [port], connections: CONNECTIONS, forms })
  const pipeliner = rig.child<object>('pipeliner', script('pipeliner.ts', String(port), values.requests))
  await pipeliner.ready()
  return { load, pipeliner }
}

async function window(rig: Rig): Promise<Span> {
  const fromUs = nowUs()
  await rig.pause(Number(values.seconds) * 1_000)
  return [fromUs, nowUs()]
}

function report(alone: Percentiles, beside: Percentiles, bursts: Percentiles): number {
  const ratio = beside.p99 / alone.p99
  const line = ({ count, p50, p99, max }: Percentiles) =>
    `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, most ${max.toFixed(1)} ms (${count})\n`
  process.stdout.write(`${values.requests} anonymous requests pipelined by one socket: ${line(bursts)}`)
  process.stdout.write(`sends of others without it: ${line(alone)}`)
  process.stdout.write(`sends of others beside it:  ${line(beside)}`)
  process.stdout.write(`p99 beside it: ${ratio.toFixed(2)} times that without it\n`)
  return ratio <= MOST_RATIO ? 0 : 1
}

import { once } from 'node:events'
import { type Command, InvalidArgumentError } from 'commander'
import { counterLine } from '../simulator/counters.ts'
import type { SimulatorOptions } from '../simulator/options.ts'
import type { Simulator } from '../simulator/simulator.ts'
import { MAX_THROUGHPUT } from '../simulator/throughput.ts'
import { onStopSignal } from './running.ts'

interface Flags {
  readonly port: number
  readonly host: string
  readonly systemId?: string
  readonly password?: string
  readonly receiptDelayMs?: readonly [least: number, most: number]
  readonly throughput?: number
  readonly quiet?: true
}

const COUNTER_INTERVAL_MS = 10_000
/** A day: above 2^31 ms a timer would fire at once. */
const MAX_DELAY_MS = 86_400_000

const EXAMPLES = `
Examples:
  aldis simulate-carrier --port 2775
  aldis simulate-carrier --system-id aldis --password secret --receipt-delay-ms 1000-5000 --throughput 100`

/** Adds `aldis simulate-carrier`: an SMSC of its own, until SIGTERM or SIGINT. */
export function register(program: Command): void {
  program
    .command('simulate-carrier')
    .description('Run an SMSC (SMPP 3.4 server) that simulates a carrier; see docs/simulator.md')
    .option('--port <number>', 'Port to listen on, 0 for any free one', integer(0, 65_535), 2775)
    .option('--host <address>', 'Address to listen on', '127.0.0.1')
    .option('--system-id <id>', 'system_id that may bind (default: any)')
    .option('--password <password>', 'Password of that system_id, needs --system-id (default: any)')
    .option(
      '--receipt-delay-ms <delay>',
      'Delay of receipts in milliseconds, N or MIN-MAX (default: 50-300)',
      delayRange,
    )
    .option(
      '--throughput <number>',
      'Submits accepted per second (default: no limit)',
      integer(1, MAX_THROUGHPUT),
    )
    .option('--quiet', 'Print only errors')
    .addHelpText('after', EXAMPLES)
    .action(simulateCarrier)
}

async function simulateCarrier(flags: Flags): Promise<void> {
  if (flags.password !== undefined && flags.systemId === undefined) {
    throw new Error('--password needs --system-id')
  }
  const stopped = new AbortController()
  onStopSignal(() => stopped.abort())
  const say = flags.quiet === true ? () => undefined : print
  const simulator = await started(flags, say)
  say(`Simulated carrier listening on ${flags.host}:${simulator.port}`)
  const counters = flags.quiet === true ? null : printCounters(simulator)
  if (!stopped.signal.aborted) await once(stopped.signal, 'abort')
  clearInterval(counters ?? undefined)
  await simulator.stop()
}

async function started(flags: Flags, say: (line: string) => void): Promise<Simulator> {
  const { startSimulator } = await import('../simulator/simulator.ts')
  try {
    return await startSimulator(optionsOf(flags, say))
  } catch (error) {
    throw new Error(startFault(error, flags), { cause: error })
  }
}

function optionsOf(flags: Flags, say: (line: string) => void): SimulatorOptions {
  const { port, host, systemId, password, receiptDelayMs, throughput } = flags
  const credential = systemId !== undefined && {
    credentials: [password === undefined ? { systemId } : { systemId, password }],
  }
  return {
    port,
    host,
    ...credential,
    ...(receiptDelayMs !== undefined && { receiptDelayMs }),
    ...(throughput !== undefined && { throughput }),
    onBind: (bind) => say(`${bind.mode} ${shown(bind.systemId)} from ${bind.remoteAddress ?? 'unknown'}`),
    onUnbind: (bind, reason) => say(`unbound ${shown(bind.systemId)}: ${reason.code}`),
  }
}

/** One line whenever there was something to count. */
function printCounters(simulator: Simulator): NodeJS.Timeout {
  let earlier = simulator.stats
  return setInterval(() => {
    const now = simulator.stats
    if (JSON.stringify(now) !== JSON.stringify(earlier)) print(counterLine(now, earlier, COUNTER_INTERVAL_MS))
    earlier = now
  }, COUNTER_INTERVAL_MS).unref()
}

function startFault(error: unknown, { port, host }: Flags): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is already in use`
  if (code === 'EACCES') return `not allowed to listen on port ${port} of ${host}`
  return `cannot listen on ${host}:${port}: ${code ?? message}`
}

/** Text that a peer sent, escaped so that it stays on one line. */
function shown(systemId: string): string {
  return JSON.stringify(systemId)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function integer(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(`Not an integer from ${least} to ${most}.`)
  }
}

function delayRange(text: string): readonly [least: number, most: number] {
  const [, least, most = least] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(text) ?? []
  const range = [Number(least), Number(most)] as const
  if (range[0] <= range[1] && range[1] <= MAX_DELAY_MS) return range
  throw new InvalidArgumentError(`Not N or MIN-MAX, in milliseconds up to ${MAX_DELAY_MS}.`)
}

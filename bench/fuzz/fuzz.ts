import { fork } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { FuzzFailure, runFuzz } from './run.ts'

const HELP = `Sends mutated SMPP PDUs to our ESME and our SMSC over TCP, and to the parsers alone.

Usage: npm run fuzz -- [options]

  --count N   PDUs (1000000)
  --seed S    the run with this number again, 0 to 4294967295 (a new one each time; it is printed)
  --help

Exit code 1 when something crashed, hung, kept more than 50 MB or was not answered; the PDUs are printed in hexadecimal.
`

/** A child that reports nothing for this long is in a loop. */
const HANG_MS = 60_000
const MEBIBYTE = 1024 * 1024

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) process.stdout.write(HELP)
else if (globalThis.gc === undefined) supervise()
else await fuzz(globalThis.gc)

/** Runs this file again with --expose-gc, and ends it when it hangs: a loop cannot notice itself. */
function supervise(): void {
  const count = whole('count', values.count, 100_000_000)
  const seed = values.seed === undefined ? randomInt(2 ** 32) : whole('seed', values.seed, 2 ** 32 - 1)
  const args = ['--count', String(count), '--seed', String(seed)]
  const child = fork(fileURLToPath(import.meta.url), args, { execArgv: ['--expose-gc'] })
  const timer = setTimeout(() => {
    complain(`Hangs: nothing for ${HANG_MS / 1_000} s. Again with: npm run fuzz -- ${args.join(' ')}`)
    child.kill('SIGKILL')
  }, HANG_MS)
  child.on('message', () => timer.refresh())
  child.on('exit', (code) => {
    clearTimeout(timer)
    process.exitCode = code ?? 1
  })
}

async function fuzz(gc: NonNullable<typeof globalThis.gc>): Promise<void> {
  const [count, seed] = [Number(values.count), Number(values.seed)]
  const startedMs = performance.now()
  const seconds = () => ((performance.now() - startedMs) / 1_000).toFixed(1)
  const failed = (error: unknown): never => {
    complain(
      error instanceof FuzzFailure
        ? `${error.stack}\n${error.hex}`
        : String((error as Error)?.stack ?? error),
    )
    complain(`\nFailed. Again with: npm run fuzz -- --count ${count} --seed ${seed}`)
    process.exit(1)
  }
  process.on('uncaughtException', failed)
  process.on('unhandledRejection', failed)
  say(`${count} mutated PDUs, seed ${seed}`)
  let reportedMs = startedMs
  const { pdus, sessions, growth } = await runFuzz({
    count,
    seed,
    memory: () => {
      gc()
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    },
    onProgress: (figures) => {
      if (performance.now() - reportedMs < 2_000) return
      reportedMs = performance.now()
      process.send?.('alive')
      say(`${figures.pdus} PDUs, ${figures.sessions} sessions, ${seconds()} s`)
    },
  }).catch(failed)
  say(
    `Done: ${pdus} PDUs in ${seconds()} s, ${sessions} sessions, memory grew by ${(growth / MEBIBYTE).toFixed(1)} MiB`,
  )
  process.disconnect?.()
}

function whole(name: string, text: string, most: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (value <= most) return value
  complain(`--${name} must be a whole number from 0 to ${most}`)
  process.exit(1)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function complain(line: string): void {
  process.stderr.write(`${line}\n`)
}

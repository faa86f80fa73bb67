import { parseArgs } from 'node:util'
import type { Kind } from './kind.ts'
import { KINDS, kindsNamed } from './kinds.ts'

export interface FaultOptions {
  readonly form: 'long' | 'short' | 'list' | 'merge'
  readonly seed: number
  readonly minutes: number
  /** The number of nodes of each run; runs go one after the other. */
  readonly nodes: readonly number[]
  readonly kinds: readonly Kind[]
  readonly maxFaults: number
  readonly rate: number
  readonly json: string | null
  /** For `merge`: files that earlier runs wrote with --json. */
  readonly files: readonly string[]
}

const HELP = `Runs the service under load and faults, and compares what the client, the carriers, the receivers and the service
itself have of every message.

Usage: npm run faults -- [options]

  --short            the short form, five minutes at most: fixed seeds, and the negative controls
  --seed N           of the schedule of faults (drawn, and printed)
  --minutes N        of each run, beside what it takes to start and to settle (5)
  --nodes N[,N]      a run for each, with so many nodes (1,2,3)
  --kinds A[,B]      only these kinds of faults (all that this machine can make)
  --faults N         at most so many in each run (no limit)
  --rate N           requests a second (150)
  --json FILE        write the figures there
  --list             list the kinds of faults, with what is missing for them here
  --merge FILE ...   print the tables of RESULTS.md, of what earlier runs wrote with --json
  --help

Exit code 1 when anything was found that is not known: see test/faults/RESULTS.md.
`

/** Parses the command line. Prints the help and returns null for --help. @throws Error in one line */
export function readOptions(args: readonly string[]): FaultOptions | null {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      seed: { type: 'string' },
      minutes: { type: 'string', default: '5' },
      nodes: { type: 'string', default: '1,2,3' },
      kinds: { type: 'string' },
      faults: { type: 'string', default: '100000' },
      rate: { type: 'string', default: '150' },
      json: { type: 'string' },
      list: { type: 'boolean', default: false },
      merge: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return null
  }
  const form = values.short ? 'short' : values.list ? 'list' : values.merge ? 'merge' : 'long'
  return {
    form,
    seed:
      values.seed === undefined
        ? Math.floor(Math.random() * 2 ** 32)
        : whole('seed', values.seed, 0, 2 ** 32),
    minutes: whole('minutes', values.minutes, 1, 600),
    nodes: values.nodes.split(',').map((count) => whole('nodes', count, 1, 5)),
    kinds: values.kinds === undefined ? KINDS : kindsNamed(values.kinds.split(',')),
    maxFaults: whole('faults', values.faults, 0, 100_000),
    rate: whole('rate', values.rate, 1, 5_000),
    json: values.json ?? null,
    files: positionals,
  }
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw new Error(`--${name} must be a whole number from ${least} to ${most}`)
}

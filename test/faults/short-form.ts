import type { Kind } from './kind.ts'
import { kindsNamed } from './kinds.ts'

interface ShortRun {
  readonly nodes: number
  readonly seed: number
  readonly kinds: readonly Kind[]
  readonly seconds: number
  readonly maxFaults: number
  readonly rate: number
}

/** Each kind once. The bound on the time is that of a slow machine. */
function shortRun(nodes: number, names: readonly string[]): ShortRun {
  const kinds = kindsNamed(names)
  return { nodes, seed: nodes, kinds, seconds: 75, maxFaults: kinds.length, rate: 100 }
}

/** The runs of the short form. Only kinds that a machine with nothing but Node and npm can make, and that are soon over. */
export const SHORT_RUNS: readonly ShortRun[] = [
  shortRun(1, [
    'kill',
    'kill-at-submit',
    'postgres-kill',
    'backends-terminated',
    'carrier-reset',
    'receiver-cutting',
    'terminate',
  ]),
  shortRun(2, [
    'kill-taken-over',
    'kill-at-webhook',
    'postgres-and-node-kill',
    'carrier-dropping',
    'receiver-hanging',
    'receipts-early',
  ]),
  shortRun(3, [
    'kill-at-accepted',
    'database-reset',
    'carrier-unbinding',
    'receiver-down',
    'receipts-repeated',
  ]),
]

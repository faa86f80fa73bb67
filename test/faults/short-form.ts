import { kindsNamed } from './kinds.ts'
import type { Run } from './perform.ts'

/**
 * Each kind once, those of the database first: the doubts they leave are settled within a minute, while the others run. The
 * time limit allows for a slow machine.
 */
function shortRun(nodes: number, seed: number, names: readonly string[]): Run {
  const kinds = kindsNamed(names)
  return { nodes, seed, kinds, seconds: 75, maxFaults: kinds.length, rate: 100 }
}

/** The runs of the short form, with only the short kinds that need nothing but Node and npm. */
export const SHORT_RUNS: readonly Run[] = [
  shortRun(1, 144, [
    'kill',
    'kill-at-submit',
    'postgres-kill',
    'backends-terminated',
    'carrier-reset',
    'receiver-cutting',
    'terminate',
  ]),
  shortRun(2, 3, [
    'kill-taken-over',
    'kill-at-webhook',
    'postgres-and-node-kill',
    'carrier-dropping',
    'receipts-early',
  ]),
]
